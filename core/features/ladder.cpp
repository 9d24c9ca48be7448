// SPDX-License-Identifier: Apache-2.0
#include "features/ladder.h"

#include <algorithm>

#include "features/ko.h"

namespace hyoka::features {
namespace {

/// More pairs of a stone and a liberty beside it than this need three liberties: a point has four sides.
constexpr int most_pairs_of_two_liberties = 8;

template <int N>
using Point = typename Go<N>::Move;

template <class Points, class P>
void add_once(Points& points, P point) {
    if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(point);
}

/// The liberties of a chain if it has one or two; if it has more, three to six of them.
template <int N>
InlineVector<Point<N>, 6> last_liberties(const Go<N>& board, Point<N> stone) {
    InlineVector<Point<N>, 6> liberties;
    board.for_each_stone_of(stone, [&](Point<N> own) {
        if (liberties.size() > 2 || board.open_sides(own) == 0) return;
        board.for_each_neighbor(own, [&](Point<N> beside) {
            if (!board.owner(beside)) add_once(liberties, beside);
        });
    });
    return liberties;
}

template <int N>
bool are_neighbors(Point<N> a, Point<N> b) {
    bool found = false;
    Go<N>::for_each_neighbor(a, [&](Point<N> beside) { found |= beside == b; });
    return found;
}

/// Whether a stone there would have no liberty and take none. Pre: the point is empty.
template <int N>
bool is_suicide(const Go<N>& board, Point<N> point, Player mover) {
    if (board.open_sides(point) > 0) return false;
    bool suicide = true;
    Go<N>::for_each_neighbor(
        point, [&](Point<N> beside) { suicide &= (board.owner(beside) == mover) == board.in_atari(beside); });
    return suicide;
}

/// Whether a stone there takes a ko. Pre: the point is empty.
template <int N>
bool takes_ko(const Go<N>& board, Point<N> point, Player mover) {
    if (board.open_sides(point) > 0) return false;
    bool found = false;
    Go<N>::for_each_neighbor(point, [&](Point<N> beside) {
        found = found || (board.owner(beside) != mover && board.in_atari(beside) && is_ko(board, beside));
    });
    return found;
}

/// What the attacker may play: an atari that does not hand the chain three liberties at once. A chain in atari is as
/// good as taken.
template <int N>
std::optional<bool> attack(const Go<N>& board, Point<N> prey, Player attacker, Moves<Go<N>>& choices) {
    const auto liberties = last_liberties(board, prey);
    if (liberties.size() > 2) return false;
    if (liberties.size() == 1) return true;
    for (std::size_t i = 0; i < 2; ++i) {
        const Point<N> atari = liberties[i];
        const Point<N> way_out = liberties[1 - i];
        const bool blocked = are_neighbors<N>(atari, way_out);
        if (board.open_sides(way_out) - blocked < 3 && !is_suicide(board, atari, attacker) &&
            !takes_ko(board, atari, attacker))
            choices.push_back(atari);
    }
    return choices.empty() ? std::optional(false) : std::nullopt;
}

/// What the owner may answer: capture around the chain, or extend. Not in atari it may play anywhere: no ladder.
template <int N>
std::optional<bool> defend(const Go<N>& board, Point<N> prey, Player owner, Moves<Go<N>>& choices) {
    if (!board.in_atari(prey)) return false;
    const Point<N> way_out = board.last_liberty(prey);
    if (board.open_sides(way_out) > 2) return false;
    // Captures come first: they mostly settle the matter at once, while an extension is a long way to read.
    board.for_each_stone_of(prey, [&](Point<N> own) {
        board.for_each_neighbor(own, [&](Point<N> beside) {
            if (board.owner(beside) == other(owner) && board.in_atari(beside))
                add_once(choices, board.last_liberty(beside));
        });
    });
    if (!is_suicide(board, way_out, owner)) add_once(choices, way_out);
    return choices.empty() ? std::optional(true) : std::nullopt;
}

/// Whether it is known at once if the prey is captured; if not, what there is to try.
template <int N>
std::optional<bool> look(const Go<N>& board, Point<N> prey, Player mover, Moves<Go<N>>& choices) {
    return board.owner(prey) == mover ? defend(board, prey, mover, choices) : attack(board, prey, mover, choices);
}

}  // namespace

template <int N>
bool LadderReader<N>::captures(const Go<N>& game, Move stone, Player first) {
    if (game.liberty_pairs(stone) > most_pairs_of_two_liberties) return false;
    if (game.in_atari(stone) && is_bait(game, stone)) return false;
    // Most chains are settled at a glance; only the others are worth a board to read on.
    Moves<Go<N>> choices;
    if (const auto known = look(game, stone, first, choices)) return *known;
    nodes_ = 0;
    if (first == game.to_play())
        put(0, game);
    else
        put(0, game.with_to_play(first));
    return read(0, stone);
}

template <int N>
bool LadderReader<N>::drives(const Go<N>& game, Move stone) {
    return !game.in_atari(stone) && captures(game, stone, game.to_play()) && !captures_at_once(game, stone);
}

/// Whether some atari leaves the chain in atari, whatever its owner answers. Pre: it has two liberties.
template <int N>
bool LadderReader<N>::captures_at_once(const Go<N>& game, Move prey) {
    Moves<Go<N>> attacks;
    attack(game, prey, game.to_play(), attacks);
    for (const Move atari : attacks) {
        const Go<N>& threatened = put(0, game);
        boards_[0].play(atari);
        Moves<Go<N>> answers;
        const auto known = defend(threatened, prey, threatened.to_play(), answers);
        bool caught = known.value_or(true);
        for (std::size_t i = 0; caught && i < answers.size(); ++i) {
            Go<N>& answered = put(1, threatened);
            answered.play(answers[i]);
            caught = answered.in_atari(prey);
        }
        if (caught) return true;
    }
    return false;
}

/// Reads on from the board of this branch, and changes it.
template <int N>
bool LadderReader<N>::read(std::size_t branch, Move prey) {
    Go<N>& board = boards_[branch];
    for (;;) {
        Moves<Go<N>> choices;
        if (const auto known = look(board, prey, board.to_play(), choices)) return *known;
        const bool defending = board.owner(prey) == board.to_play();
        // All choices but the last need a board of their own. In a ladder there is mostly one.
        const std::size_t last = choices.size() - 1;
        for (std::size_t i = 0; i < last; ++i) {
            if (++nodes_ > node_limit) return false;
            put(branch + 1, board).play(choices[i]);
            if (read(branch + 1, prey) != defending) return !defending;
        }
        if (++nodes_ > node_limit) return false;
        board.play(choices[last]);
    }
}

/// Copies a board to where the branch reads on.
template <int N>
Go<N>& LadderReader<N>::put(std::size_t branch, const Go<N>& board) {
    if (branch < boards_.size()) return boards_[branch] = board;
    return boards_.emplace_back(board);
}

template class LadderReader<3>;
template class LadderReader<4>;
template class LadderReader<5>;
template class LadderReader<6>;
template class LadderReader<7>;
template class LadderReader<9>;
template class LadderReader<13>;
template class LadderReader<19>;

}  // namespace hyoka::features
