// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hyoka::records {

/// What a program of Go has found out about a position. The view is the program's own.
struct SgfAnalysis {
    double value = 0;  // expected result, 0 to 1
    std::optional<double> score;
    std::int64_t visits = 0;  // 0: not given
    SgfAnalysis turned() const { return {1 - value, score ? std::optional(0 - *score) : std::nullopt, visits}; }
};

/// KaTrain's analysis, the third value of `KT`: JSON with `root`, in gzip, in base 64. Black's view.
std::optional<SgfAnalysis> katrain_analysis(std::string_view value);
/// The first line of Lizzie's `LZ` and `LZOP`: `ENGINE 53.1 1.2k`, and by LizzieYzy with KataGo score and deviation
/// too. Without playouts there is no analysis. The winrate is that of the player who is not to move, the score that of
/// the player to move; both are in the view of the former here.
std::optional<SgfAnalysis> lizzie_analysis(std::string_view value);
/// KataGo's self-play: `0.53 0.47 0.00 1.2 v=600`, chances of a win, a loss and no result, and points. White's view, of
/// the position before the move.
std::optional<SgfAnalysis> self_play_analysis(std::string_view comment);

}  // namespace hyoka::records
