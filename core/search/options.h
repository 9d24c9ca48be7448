// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "search/alphabeta_settings.h"

/// All settings of each kind of search, as plain values. An empty one is unset: without a limit, or it depends on the
/// game. Names, ranges, defaults and effects are in the tables of `options.cpp`.
namespace hyoka::search {

template <class Options>
class SettingTable;

struct PlayoutOptions {
    std::string policy = "uniform";
    double epsilon = 0;
    std::optional<int> cutoff;
    std::optional<double> scale;
    bool quiescence = false;
};

struct UctOptions : PlayoutOptions {
    std::string preset = "game";
    std::optional<std::uint64_t> playouts;
    std::optional<double> time;
    std::optional<std::uint64_t> nodes;
    std::string formula = "ucb1";
    std::optional<double> c;
    bool widening = false;
    double widening_d = 4;
    double widening_c = 0.5;
    double widening_e = 10;
    std::optional<bool> ordered;
    bool killer = false;
    double killer_c = 2;
    bool history = false;
    double history_threshold = 0.6;
    double rave = 0;
    double reduction = 0;
    std::uint32_t eval_visits = 0;
    std::string eval_when = "visit";
    std::uint64_t mate = 0;
    int ending = 0;
    double minimax = 0;
    double eval_weight = 0;
    bool root_quiescence = false;
    std::string root_penalty = "subtract";
    std::string root_loss = "change";
    bool proofs = true;
    int book_plies = 30;
    std::string book_pick = "search";
    int batch = 16;
    std::uint32_t expand = 1;
    unsigned threads = 1;
    std::uint64_t seed = 0;
    double memory = 256;
    bool reuse = true;
    bool early = false;
    std::string value = "best";
};

struct MonteCarloOptions : PlayoutOptions {
    std::optional<std::uint64_t> playouts;
    std::optional<std::uint64_t> a_move;
    bool divide = false;
    std::optional<double> time;
    unsigned threads = 1;
    std::uint64_t seed = 0;
    std::string value = "root";
};

struct AlphaBetaOptions {
    std::optional<int> depth;
    std::optional<std::uint64_t> nodes;
    std::optional<double> time;
    std::optional<double> scale;
    bool exact = false;
    bool plain = false;
    int book_plies = 30;
    std::string book_pick = "frequency";
    std::uint64_t seed = 0;
    AlphaBetaSettings search{};

    /// With a table that is exact where the search is.
    AlphaBetaSettings settings() const {
        AlphaBetaSettings settings = search;
        settings.table.exact = exact || plain;
        return settings;
    }
};

struct MateOptions {
    std::uint64_t nodes = 1'000'000;
    std::optional<double> time;
    int hash = 64;
};

struct ExactOptions {
    std::uint64_t nodes = 1'000'000'000;
    std::optional<double> time;
    int hash = 64;
};

struct RandomOptions {
    std::uint64_t seed = 0;
};

/// Moves as a move model ranks them, not searched.
struct RankingOptions {};

/// The table of a kind of options; see `settings.h`.
template <class Options>
const SettingTable<Options>& settings_of();

template <>
const SettingTable<UctOptions>& settings_of();
template <>
const SettingTable<MonteCarloOptions>& settings_of();
template <>
const SettingTable<AlphaBetaOptions>& settings_of();
template <>
const SettingTable<MateOptions>& settings_of();
template <>
const SettingTable<ExactOptions>& settings_of();
template <>
const SettingTable<RandomOptions>& settings_of();
template <>
const SettingTable<RankingOptions>& settings_of();

}  // namespace hyoka::search
