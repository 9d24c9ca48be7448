// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hyoka {

/// Something learned or given that a search works with: an evaluation, the strengths of moves, a network. Each is of
/// one game; here it is handed on by those who need not know which.
class Model {
public:
    virtual ~Model() = default;
};

}  // namespace hyoka
