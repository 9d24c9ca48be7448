// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/alphabeta_settings.h"
#include "search/settings.h"

/// Everything that can be set about each kind of search, as plain values. What is empty is not set: without a limit, or
/// what the game or the other settings make usual.
namespace hyoka::search {

struct PlayoutOptions {
    std::string policy = "uniform";
    double epsilon = 0;
    std::optional<int> cut;
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
    std::uint32_t prior = 0;
    std::string prior_when = "visit";
    std::uint64_t mate = 0;
    int ending = 0;
    double minimax = 0;
    double mix = 0;
    bool root_quiescence = false;
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

    bool by_prior() const { return formula == "puct"; }
    double exploration() const { return c.value_or(by_prior() ? 1.5 : 1.0); }
    bool in_order() const { return ordered.value_or(by_prior() || widening); }
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

    /// Takes over what `exact` and `plain` stand for; whatever else is set comes after. Leaves quiescence unchanged.
    void apply_presets() {
        const bool quiescence = search.quiescence;
        if (exact) search = AlphaBetaSettings::exact();
        if (plain) search = AlphaBetaSettings::plain();
        search.quiescence = quiescence;
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

/// By kind of options.
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
