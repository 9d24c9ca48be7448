// SPDX-License-Identifier: Apache-2.0
#include "evaluation/go.h"

#include <algorithm>

namespace hyoka::evaluation {
namespace {

enum GoTerm : std::size_t {
    tempo,
    komi,
    stones,
    area,
    territory,
    moyo,
    influence,
    liberties,
    chains,
    atari_to_move,
    atari_waiting,
    term_count,
};

/// Bouzy's map on a board with a border of zeros, so that each step is one pass over neighboring numbers.
template <int N>
class InfluenceMap {
public:
    explicit InfluenceMap(const Go<N>& game) {
        for (int point = 0; point < Go<N>::area; ++point) {
            const auto owner = game.owner({static_cast<std::uint16_t>(point)});
            cells_[place_of(point)] = start_values[owner ? static_cast<std::size_t>(*owner) : 2];
        }
    }

    // No branches and nothing wider than a cell: the compiler makes vectors of these loops.
    void dilate() {
        const Cells before = cells_;
        for (std::size_t p = first; p < last; ++p) {
            const Cell here = before[p];
            Cell above = 0;
            Cell below = 0;
            Cell lowest = here;
            Cell highest = here;
            for (const std::size_t neighbor : {p - stride, p - 1, p + 1, p + stride}) {
                const Cell there = before[neighbor];
                above = static_cast<Cell>(above + (there > 0));
                below = static_cast<Cell>(below + (there < 0));
                lowest = std::min(lowest, there);
                highest = std::max(highest, there);
            }
            const Cell gain = lowest >= 0 ? above : Cell{0};
            const Cell loss = highest <= 0 ? below : Cell{0};
            cells_[p] = static_cast<Cell>((here + gain - loss) & on_board[p]);
        }
    }

    void erode() {
        const Cells before = cells_;
        for (std::size_t p = first; p < last; ++p) {
            const Cell here = before[p];
            Cell not_above = static_cast<Cell>(-outside[p]);
            Cell not_below = not_above;
            for (const std::size_t neighbor : {p - stride, p - 1, p + 1, p + stride}) {
                const Cell there = before[neighbor];
                not_above = static_cast<Cell>(not_above + (there <= 0));
                not_below = static_cast<Cell>(not_below + (there >= 0));
            }
            const Cell fallen = std::max(static_cast<Cell>(here - not_above), Cell{0});
            const Cell risen = std::min(static_cast<Cell>(here + not_below), Cell{0});
            cells_[p] = here > 0 ? fallen : here < 0 ? risen : Cell{0};
        }
    }

    /// Points above zero less those below.
    int balance() const {
        Cell sum = 0;
        for (std::size_t p = first; p < last; ++p) sum = static_cast<Cell>(sum + (cells_[p] > 0) - (cells_[p] < 0));
        return sum;
    }
    /// Of a map with nothing but stones: empty points beside Black's less those beside White's.
    int liberty_balance() const {
        Cell sum = 0;
        for (std::size_t p = first; p < last; ++p) {
            Cell lowest = 0;
            Cell highest = 0;
            for (const std::size_t neighbor : {p - stride, p - 1, p + 1, p + stride}) {
                lowest = std::min(lowest, cells_[neighbor]);
                highest = std::max(highest, cells_[neighbor]);
            }
            const Cell open = cells_[p] == 0 ? on_board[p] : Cell{0};
            sum = static_cast<Cell>(sum + (((highest > 0) - (lowest < 0)) & open));
        }
        return sum;
    }
    std::int16_t operator[](int point) const { return cells_[place_of(point)]; }

private:
    using Cell = std::int16_t;
    static constexpr std::array<Cell, 3> start_values = {64, -64, 0};  // Black's, White's, empty
    static constexpr std::size_t stride = N + 1;
    static constexpr std::size_t first = stride;
    static constexpr std::size_t last = (N + 1) * stride;
    using Cells = std::array<Cell, last + stride + 1>;

    static constexpr std::size_t place_of(int point) {
        return static_cast<std::size_t>(point / N + 1) * stride + static_cast<std::size_t>(point % N);
    }
    static constexpr Cells on_board = [] {  // all bits set
        Cells cells{};
        for (int point = 0; point < N * N; ++point) cells[place_of(point)] = -1;
        return cells;
    }();
    /// How many of a place's neighbors are off the board.
    static constexpr Cells outside = [] {
        Cells cells{};
        for (std::size_t p = first; p < last; ++p)
            for (const std::size_t neighbor : {p - stride, p - 1, p + 1, p + stride})
                cells[p] = static_cast<Cell>(cells[p] + (on_board[neighbor] == 0));
        return cells;
    }();

    Cells cells_{};
};

}  // namespace

template <int N>
std::array<std::int16_t, Go<N>::area> bouzy(const Go<N>& game, int dilations, int erosions) {
    InfluenceMap<N> map(game);
    for (int i = 0; i < dilations; ++i) map.dilate();
    for (int i = 0; i < erosions; ++i) map.erode();
    std::array<std::int16_t, Go<N>::area> points;
    for (int point = 0; point < Go<N>::area; ++point) points[static_cast<std::size_t>(point)] = map[point];
    return points;
}

template <int N>
const std::vector<Term>& Terms<Go<N>>::all() {
    static const std::vector<Term> terms = {
        {"tempo", {2, 0.5}},          {"komi", {-1, -1}},          {"stones", {1, 0.5}},
        {"area", {0, 0.5}},           {"territory", {0.25, 0.25}}, {"moyo", {0, 0}},
        {"influence", {0.125, 0.25}}, {"liberties", {0, 0.25}},    {"chains", {0, -0.5}},
        {"atari_to_move", {-1, -1}},  {"atari_waiting", {-2, -2}},
    };
    assert(terms.size() == term_count);
    return terms;
}

template <int N>
template <class Sink>
void Terms<Go<N>>::count(const Go<N>& game, Sink& sink) {
    const auto add = [&](std::size_t term, int amount) { sink.add(term, static_cast<float>(amount)); };

    InfluenceMap<N> map(game);
    add(stones, map.balance());
    add(liberties, map.liberty_balance());
    for (int i = 0; i < 5; ++i) map.dilate();
    add(influence, map.balance());
    for (int i = 0; i < 10; ++i) map.erode();
    add(moyo, map.balance());
    for (int i = 10; i < 21; ++i) map.erode();
    add(territory, map.balance());

    int on_board = 0;
    int chain_balance = 0;
    int atari_of_mover = 0;
    int atari_of_other = 0;
    game.for_each_chain([&](typename Go<N>::Move head) {
        const Player owner = *game.owner(head);
        const int sign = owner == Player::first ? 1 : -1;
        const int size = game.chain_size(head);
        on_board += size;
        chain_balance += sign;
        if (game.in_atari(head)) (owner == game.to_play() ? atari_of_mover : atari_of_other) += sign * size;
    });
    add(chains, chain_balance);
    add(atari_to_move, atari_of_mover);
    add(atari_waiting, atari_of_other);
    add(tempo, game.to_play() == Player::first ? 1 : -1);
    sink.add(komi, static_cast<float>(game.komi()));
    if (sink.wants(area)) add(area, static_cast<int>(game.score() + game.komi()));
    sink.set_progress(std::min(1.0f, static_cast<float>(on_board) / (0.75f * Go<N>::area)));
}

template struct Terms<Go<3>>;
template void Terms<Go<3>>::count(const Go<3>&, ScoreSink&);
template void Terms<Go<3>>::count(const Go<3>&, VectorSink&);
template std::array<std::int16_t, Go<3>::area> bouzy(const Go<3>&, int, int);
template struct Terms<Go<4>>;
template void Terms<Go<4>>::count(const Go<4>&, ScoreSink&);
template void Terms<Go<4>>::count(const Go<4>&, VectorSink&);
template std::array<std::int16_t, Go<4>::area> bouzy(const Go<4>&, int, int);
template struct Terms<Go<5>>;
template void Terms<Go<5>>::count(const Go<5>&, ScoreSink&);
template void Terms<Go<5>>::count(const Go<5>&, VectorSink&);
template std::array<std::int16_t, Go<5>::area> bouzy(const Go<5>&, int, int);
template struct Terms<Go<6>>;
template void Terms<Go<6>>::count(const Go<6>&, ScoreSink&);
template void Terms<Go<6>>::count(const Go<6>&, VectorSink&);
template std::array<std::int16_t, Go<6>::area> bouzy(const Go<6>&, int, int);
template struct Terms<Go<7>>;
template void Terms<Go<7>>::count(const Go<7>&, ScoreSink&);
template void Terms<Go<7>>::count(const Go<7>&, VectorSink&);
template std::array<std::int16_t, Go<7>::area> bouzy(const Go<7>&, int, int);
template struct Terms<Go<9>>;
template void Terms<Go<9>>::count(const Go<9>&, ScoreSink&);
template void Terms<Go<9>>::count(const Go<9>&, VectorSink&);
template std::array<std::int16_t, Go<9>::area> bouzy(const Go<9>&, int, int);
template struct Terms<Go<13>>;
template void Terms<Go<13>>::count(const Go<13>&, ScoreSink&);
template void Terms<Go<13>>::count(const Go<13>&, VectorSink&);
template std::array<std::int16_t, Go<13>::area> bouzy(const Go<13>&, int, int);
template struct Terms<Go<19>>;
template void Terms<Go<19>>::count(const Go<19>&, ScoreSink&);
template void Terms<Go<19>>::count(const Go<19>&, VectorSink&);
template std::array<std::int16_t, Go<19>::area> bouzy(const Go<19>&, int, int);

}  // namespace hyoka::evaluation
