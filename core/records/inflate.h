// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hyoka::records {

/// The bytes of a text in base 64; nothing if it is none. Blanks are skipped.
std::optional<std::string> base64_bytes(std::string_view text);
/// The content of a gzip member without optional header fields; nothing if it is damaged or has more than `most` bytes.
std::optional<std::string> gunzip(std::string_view packed, std::size_t most);

}  // namespace hyoka::records
