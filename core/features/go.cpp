// SPDX-License-Identifier: Apache-2.0
#include "features/go.h"

#include "features/ko.h"

namespace hyoka::features {
namespace {

using enum Column::Kind;

enum GoColumn : std::size_t {
    ladder,
    black_ladder,
    white_ladder,
    running_ladder,
    black_running_ladder,
    white_running_ladder,
    ko,
    ko_forbidden,
    black_captured,
    white_captured,
    black_atari,
    white_atari,
    black_stones,
    white_stones,
    black_chains,
    white_chains,
    filled,
    area,
    column_count,
};

constexpr std::array<Column, column_count> go_columns = {{
    {"ladder",
     "White's stones that a ladder captures minus Black's: above 0 is good for Black. A chain counts if it is in atari "
     "and its owner, to move, can't escape, or if its opponent, to move, can take it or drive it by atari after atari.",
     number, true},
    {"black_ladder", "Black's stones that a ladder captures (see ladder).", number, true},
    {"white_ladder", "White's stones that a ladder captures (see ladder).", number, true},
    {"running_ladder",
     "White's stones minus Black's in chains with two liberties that the side to move captures by a ladder that runs: "
     "out of the first atari the chain gets back to two liberties, and is driven on to its end. Above 0 is good for "
     "Black. Takeuchi 2010's ladder, as we read it.",
     number, true},
    {"black_running_ladder", "Black's stones that a ladder that runs captures (see running_ladder).", number, true},
    {"white_running_ladder", "White's stones that a ladder that runs captures (see running_ladder).", number, true},
    {"ko",
     "Whether a ko is being fought: the side to move may not retake one, or can take one stone with a stone that could "
     "itself be retaken at once.",
     flag},
    {"ko_forbidden", "Whether the side to move may not retake a ko.", flag},
    {"black_captured", "Black's stones captured so far.", number},
    {"white_captured", "White's stones captured so far.", number},
    {"black_atari", "Black's stones in chains with one liberty.", number},
    {"white_atari", "White's stones in chains with one liberty.", number},
    {"black_stones", "Black's stones on the board.", number},
    {"white_stones", "White's stones on the board.", number},
    {"black_chains", "Black's chains: stones connected along lines.", number},
    {"white_chains", "White's chains: stones connected along lines.", number},
    {"filled", "Stones on the board in percent of its points, rounded down.", number},
    {"area",
     "Black's points minus White's if the game ended now, without komi: stones and the empty points that reach one "
     "color only.",
     number, true},
}};

}  // namespace

template <int N>
std::span<const Column> Describer<Go<N>>::columns() {
    return go_columns;
}

template <int N>
Describer<Go<N>>::Describer(const Go<N>& start) {
    start.for_each_chain([&](typename Go<N>::Move head) {
        placed_[static_cast<std::size_t>(*start.owner(head))] += start.chain_size(head);
    });
}

template <int N>
void Describer<Go<N>>::play(const Go<N>& before, typename Go<N>::Move move) {
    if (move != Go<N>::Move::pass()) ++placed_[static_cast<std::size_t>(before.to_play())];
}

template <int N>
void Describer<Go<N>>::describe(const Go<N>& game, std::uint64_t wanted, std::int16_t* cells) {
    Row row(wanted, cells);
    const bool read_ladders = row.wants(ladder) || row.wants(black_ladder) || row.wants(white_ladder);
    const bool read_running_ladders =
        row.wants(running_ladder) || row.wants(black_running_ladder) || row.wants(white_running_ladder);
    const bool forbidden = game.ko() != Go<N>::Move::pass();
    bool fought = forbidden;
    struct {
        int stones = 0;
        int chains = 0;
        int atari = 0;
        int ladder = 0;
        int running_ladder = 0;
    } sides[2];
    game.for_each_chain([&](typename Go<N>::Move head) {
        const Player owner = *game.owner(head);
        const int stones = game.chain_size(head);
        const bool atari = game.in_atari(head);
        auto& side = sides[index_of(owner)];
        side.stones += stones;
        side.chains += 1;
        side.atari += atari ? stones : 0;
        if (atari && owner != game.to_play()) fought = fought || is_ko(game, head);
        if (read_ladders && ladders_.captures(game, head, game.to_play())) side.ladder += stones;
        if (read_running_ladders && owner != game.to_play() && ladders_.drives(game, head))
            side.running_ladder += stones;
    });
    const auto& [black, white] = sides;

    row.set(ladder, white.ladder - black.ladder);
    row.set(black_ladder, black.ladder);
    row.set(white_ladder, white.ladder);
    row.set(running_ladder, white.running_ladder - black.running_ladder);
    row.set(black_running_ladder, black.running_ladder);
    row.set(white_running_ladder, white.running_ladder);
    row.set(ko, fought);
    row.set(ko_forbidden, forbidden);
    row.set(black_captured, placed_[0] - black.stones);
    row.set(white_captured, placed_[1] - white.stones);
    row.set(black_atari, black.atari);
    row.set(white_atari, white.atari);
    row.set(black_stones, black.stones);
    row.set(white_stones, white.stones);
    row.set(black_chains, black.chains);
    row.set(white_chains, white.chains);
    row.set(filled, 100 * (black.stones + white.stones) / Go<N>::area);
    if (row.wants(area)) row.set(area, static_cast<int>(game.score() + game.komi()));
}

template class Describer<Go<3>>;
template class Describer<Go<4>>;
template class Describer<Go<5>>;
template class Describer<Go<6>>;
template class Describer<Go<7>>;
template class Describer<Go<9>>;
template class Describer<Go<13>>;
template class Describer<Go<19>>;

}  // namespace hyoka::features
