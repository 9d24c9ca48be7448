// SPDX-License-Identifier: Apache-2.0
// Networks over random games of every game there is: sums kept up equal those from scratch, players changed over give
// the value changed over, and numbers that can't be are refused.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>

#include "base/rng.h"
#include "games/all.h"
#include "network/models.h"
#include "tests/colors.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using network::Inputs;
using network::InputSet;
using network::Layers;
using network::NetworkEvaluation;
using network::NetworkMoves;
using network::Numbers;
using network::RecentSums;
using strengths::Context;

template <class T>
std::vector<T> drawn(std::size_t count, int largest, Rng& rng, double steps = 1) {
    std::vector<T> found(count);
    for (T& number : found)
        number = static_cast<T>((static_cast<int>(rng.below(static_cast<std::uint32_t>(2 * largest + 1))) - largest) /
                                steps);
    return found;
}

/// First layers with large numbers run over: they have to do so alike by whichever way a position is reached.
Numbers random_numbers(std::size_t inputs, std::size_t codes, Rng& rng, int largest = 60) {
    constexpr std::size_t width = 64;
    constexpr std::size_t units = 8;
    return {.inputs = inputs,
            .width = width,
            .codes = codes,
            .first = drawn<std::int16_t>(inputs * width, largest, rng),
            .first_bias = drawn<std::int16_t>(width, largest, rng),
            .value = drawn<std::int16_t>(units * width, 100, rng),
            .value_bias = drawn<float>(units, 100, rng, 100.0),
            .value_out = drawn<float>(units, 300, rng, 100.0),
            .value_out_bias = 0.25f,
            .policy = drawn<std::int16_t>(units * width, 100, rng),
            .policy_bias = drawn<float>(units, 100, rng, 100.0),
            .moves = drawn<std::int8_t>(codes * units, 127, rng),
            .move_bias = drawn<float>(codes, 200, rng, 100.0),
            .move_scale = 1e-4f};
}

/// Data of one game.
template <class G>
struct Walker {
    std::string name{G::name};
    std::shared_ptr<const Layers> layers;
    RecentSums<G> recent;
    NetworkEvaluation<G> evaluation;
    NetworkMoves<G> moves;

    explicit Walker(std::shared_ptr<const Layers> made)
        : layers(std::move(made)), recent(layers), evaluation(layers), moves(layers) {}

    void holds(bool it, const char* what) const { expect(it, name + ": " + what); }

    std::vector<std::int16_t> sums_of(const G& game, const Context<G>& context) const {
        InputSet<Inputs<G>::count> inputs;
        Inputs<G>::find(game, context, inputs);
        for (std::size_t i = Inputs<G>::count; i < 64 * inputs.words.size(); ++i)
            holds(!(inputs.words[i / 64] >> (i % 64) & 1), "every input is one that there is");
        std::vector<std::int16_t> sums(layers->width());
        layers->start(inputs.words, sums.data());
        return sums;
    }

    void check_sums(const G& game, const Context<G>& context) {
        const auto from_scratch = sums_of(game, context);
        const std::int16_t* followed = recent.look(game, context);
        holds(std::equal(from_scratch.begin(), from_scratch.end(), followed), "sums kept up equal those from scratch");
    }

    void check_moves(const G& game, const Context<G>& context) {
        const auto legal = game.legal_moves();
        std::set<std::uint32_t> codes;
        for (const auto move : legal) {
            const std::uint32_t code = Inputs<G>::seen(game, move);
            holds(code < G::Move::code_count, "a move's code is one that there is");
            codes.insert(code);
            Inputs<G>::visit_parts(code, [&](std::size_t part) {
                holds(part < Inputs<G>::part_count, "a move's part is one that there is");
            });
        }
        holds(codes.size() == legal.size(), "moves have codes of their own");
        std::vector<float> strengths(legal.size());
        moves.weigh(game, context, {legal.begin(), legal.size()}, strengths);
        for (const float strength : strengths)
            holds(std::isfinite(strength) && strength > 0 && strength <= 1, "strengths are positive");
        std::vector<float> again(legal.size());
        const auto other = moves.clone();
        other->weigh(game, context, {legal.begin(), legal.size()}, again);
        holds(strengths == again, "strengths are the same from scratch");
    }

    void check_swapped(const G& game) const {
        if (game.outcome()) return;
        G turned = swapped(game);
        if constexpr (is_go<G>) turned = turned.with_komi(-game.komi());
        holds(evaluation.score(game) == -evaluation.score(turned), "players changed over change the value over");
    }

    /// Down, back up and aside, as searches go.
    void walk(Rng& rng, int plies, bool with_swaps) {
        const auto followed = evaluation.followed();
        G game;
        Context<G> context;
        for (int ply = 0; ply < plies && !game.outcome(); ++ply) {
            check_sums(game, context);
            if (rng.below(4)) holds(followed->score(game, ply) == evaluation.score(game), "followed, the same score");
            if (ply % 4 == 0) check_moves(game, context);
            // Texts leave out what led to a position: ko and passes are in some, last moves in none.
            if (with_swaps && ply % 4 == 1) check_swapped(game);
            const G before = game;
            for (int child = 0; child < 2; ++child) {
                const auto move = *game.random_move(rng);
                const auto token = game.play_undoable(move);
                if (!game.outcome()) {
                    check_sums(game, context.after(move));
                    holds(followed->score(game, ply + 1) == evaluation.score(game), "a move on, the same score");
                    const auto reply = *game.random_move(rng);
                    const auto second = game.play_undoable(reply);
                    check_sums(game, context.after(move).after(reply));
                    holds(followed->score(game, ply + 2) == evaluation.score(game), "two moves on, the same score");
                    game.undo(second);
                }
                game.undo(token);
                holds(game == before, "undone");
                check_sums(game, context);
            }
            const auto move = *game.random_move(rng);
            game.play(move);
            context = context.after(move);
        }
        holds(followed->score(G(), 3) == evaluation.score(G()), "another search may begin anywhere");
    }
};

template <class G>
void check_game(std::uint64_t seed) {
    Rng rng = Rng::for_task(seed, static_cast<std::uint64_t>(kind_of<G>));
    const auto numbers = [&](int largest) {
        return std::make_shared<const Layers>(random_numbers(Inputs<G>::count, G::Move::code_count, rng, largest));
    };
    Walker<G>(numbers(60)).walk(rng, 80, true);
    Walker<G>(numbers(32767)).walk(rng, 16, false);
}

template <class Change>
bool is_refused(const Numbers& good, Change&& change) {
    Numbers numbers = good;
    change(numbers);
    try {
        numbers.check();
    } catch (const NotationError&) {
        return true;
    }
    return false;
}

void check_refusals() {
    Rng rng = Rng::for_task(7, 0);
    const Numbers good = random_numbers(10, 5, rng);
    expect(!is_refused(good, [](Numbers&) {}), "a network is taken");
    expect(!is_refused(good,
                       [](Numbers& n) {
                           n.policy.clear();
                           n.policy_bias.clear();
                           n.moves.clear();
                           n.move_bias.clear();
                       }),
           "one that judges no moves is taken");
    const float infinity = std::numeric_limits<float>::infinity();
    const float none = std::numeric_limits<float>::quiet_NaN();
    const auto refused = [&](const char* what, auto&& change) { expect(is_refused(good, change), what); };
    refused("no inputs", [](Numbers& n) {
        n.inputs = 0;
        n.first.clear();
    });
    refused("another number of inputs", [](Numbers& n) { ++n.inputs; });
    refused("an overflowing number of inputs", [](Numbers& n) { n.inputs += std::size_t{1} << 58; });
    refused("no width", [](Numbers& n) { n.width = 0; });
    refused("a width between two", [](Numbers& n) { n.width = 65; });
    refused("a width too large", [](Numbers& n) {
        n.width = 2048;
        n.first.resize(n.inputs * n.width);
        n.first_bias.resize(n.width);
        n.value.resize(n.value_units() * n.width);
        n.policy.resize(n.policy_units() * n.width);
    });
    refused("a short first layer", [](Numbers& n) { n.first.pop_back(); });
    refused("a short bias", [](Numbers& n) { n.first_bias.pop_back(); });
    refused("no value", [](Numbers& n) {
        n.value.clear();
        n.value_bias.clear();
        n.value_out.clear();
    });
    refused("a long row of values", [](Numbers& n) { n.value.push_back(0); });
    refused("few outputs", [](Numbers& n) { n.value_out.pop_back(); });
    refused("units of no layer", [](Numbers& n) { n.policy_bias.push_back(0); });
    refused("too many units", [](Numbers& n) {
        n.value.assign(257 * n.width, 0);
        n.value_bias.assign(257, 0);
        n.value_out.assign(257, 0);
    });
    refused("another number of codes", [](Numbers& n) { ++n.codes; });
    refused("a short move", [](Numbers& n) { n.moves.pop_back(); });
    refused("a bias of no move", [](Numbers& n) { n.move_bias.push_back(0); });
    refused("moves that nothing judges", [](Numbers& n) {
        n.policy.clear();
        n.policy_bias.clear();
    });
    refused("values that run over", [](Numbers& n) { n.value.assign(n.value.size(), 32767); });
    refused("moves that run over", [](Numbers& n) { n.policy.assign(n.policy.size(), -32768); });
    for (const float number : {infinity, -infinity, none, 3e38f, -3e38f}) {
        refused("a value's bias", [&](Numbers& n) { n.value_bias[1] = number; });
        refused("a value's output", [&](Numbers& n) { n.value_out[1] = number; });
        refused("the output's bias", [&](Numbers& n) { n.value_out_bias = number; });
        refused("a bias of sight", [&](Numbers& n) { n.policy_bias[1] = number; });
        refused("a move's bias", [&](Numbers& n) { n.move_bias[1] = number; });
        refused("the moves' scale", [&](Numbers& n) { n.move_scale = number; });
    }
}

/// The largest numbers that are taken still say something.
void check_extremes() {
    Rng rng = Rng::for_task(8, 0);
    Numbers numbers = random_numbers(Inputs<Othello>::count, Othello::Move::code_count, rng);
    // A row may sum to 2^31 - 1 in products of 2^14.
    numbers.value.assign(numbers.value.size(), 2047);
    numbers.policy.assign(numbers.policy.size(), -2047);
    numbers.first_bias.assign(numbers.width, 32767);
    numbers.value_out.assign(numbers.value_units(), Numbers::largest_number);
    numbers.policy_bias.assign(numbers.policy_units(), Numbers::largest_number);
    numbers.move_scale = Numbers::largest_number;
    numbers.move_bias[0] = -Numbers::largest_number;
    const auto layers = std::make_shared<const Layers>(numbers);
    const Othello game;
    const double value = NetworkEvaluation<Othello>(layers).value(game, 1000);
    expect(value >= 0 && value <= 1, "a value, however large the numbers");
    const auto moves = game.legal_moves();
    std::vector<float> strengths(moves.size());
    NetworkMoves<Othello>(layers).weigh(game, {}, {moves.begin(), moves.size()}, strengths);
    for (const float strength : strengths)
        expect(strength > 0 && strength <= 1, "strengths, however large the numbers");
}

/// The answers to the last bit, as machines with and without wide registers have to give them. The number is golden:
/// it is what the code gave, the same on builds with and without vectors; whether it is right, other checks say.
void check_every_machine() {
    Rng rng = Rng::for_task(9, 0);
    constexpr std::size_t inputs = 640;
    const Layers layers(random_numbers(inputs, 40, rng));
    std::vector<std::int16_t> sums(layers.width());
    std::vector<std::int16_t> sight(layers.policy_units());
    std::uint64_t hash = 0;
    const auto mix = [&](auto number) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &number, sizeof number);
        hash = (hash ^ bits) * 0x100000001b3;
    };
    for (int i = 0; i < 50; ++i) {
        std::array<std::uint64_t, inputs / 64> words;
        for (std::uint64_t& word : words) word = rng.bits() & rng.bits() & rng.bits();
        layers.start(words, sums.data());
        for (const std::int16_t sum : sums) mix(sum);
        mix(layers.logit(sums.data()));
        layers.see(sums.data(), sight.data());
        for (std::uint32_t code = 0; code < 40; ++code) mix(layers.move_logit(sight.data(), code));
    }
    expect(hash == 4575076854228660423u, "every machine gives the same answers, not " + std::to_string(hash));
}

/// Sets that lie across words.
void check_sets() {
    InputSet<200> one;
    InputSet<200> other;
    const std::uint64_t bits = 0x8000000000000005;
    one.add_bits(70, bits);
    for (const std::size_t i : {0, 2, 63}) other.add(70 + i);
    expect(one == other, "bits from the middle of a word on");
    one.add_bits(64, 1);
    other.add_first(64, 1);
    expect(one == other, "bits from a word's begin on");
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    tests::check_sets();
    tests::check_refusals();
    tests::check_extremes();
    tests::check_every_machine();
    for_each_game([]<class G>(std::type_identity<G>) { tests::check_game<G>(1); });
    return tests::report();
}
