// SPDX-License-Identifier: Apache-2.0
#include "mets/go_tactical.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace hyoka::mets {
namespace {

// The questions, in the order of their list.
enum Asked : std::size_t {
    last_near,
    last_middle,
    last_far,
    last_farthest,
    before_near,
    before_middle,
    before_far,
    before_farthest,
    line_low,
    line_high,
    captured,
    capture_of,
    own_liberties,
    others_liberties,
    others_more_liberties,
    liberties_then,
    more_liberties_then,
    atari,
    ladder,
    rescue,
    danger,
    last_chain,
    answer_to_atari,
    stones_on_board,
    ko,
    own_eye,
    own_chains,
    others_chains,
    question_number,
};
static_assert(question_number <= most_tactical_questions);

constexpr std::array<int, 3> near_bounds = {3, 4, 5};
constexpr std::array<int, 3> middle_bounds = {5, 6, 7};
constexpr std::array<int, 3> far_bounds = {7, 9, 11};
constexpr std::array<int, 3> farthest_bounds = {11, 14, 18};
constexpr int no_distance = 99;

constexpr std::array<int, 3> counted_bounds = {1, 2, 3};
constexpr std::array<int, 3> stone_bounds = {1, 2, 4};
constexpr std::array<int, 3> low_bounds = {2, 3, 4};
constexpr std::array<int, 3> high_bounds = {4, 5, 6};

std::vector<TacticalQuestion> make_questions() {
    std::vector<TacticalQuestion> all;
    for (const std::string move : {"the last move", "the move before"}) {
        all.push_back({"distance to " + move, {"2", "3", "4", "5 or more"}});
        all.push_back({"distance to " + move, {"4 or less", "5", "6", "7 or more"}});
        all.push_back({"distance to " + move, {"6 or less", "7 or 8", "9 or 10", "11 or more"}});
        all.push_back({"distance to " + move, {"10 or less", "11 to 13", "14 to 17", "18 or more, or none"}});
    }
    all.push_back({"line", {"1", "2", "3", "4 or more"}});
    all.push_back({"line", {"3 or less", "4", "5", "6 or more"}});
    all.push_back({"stones captured", {"none", "1", "2 or 3", "4 or more"}});
    all.push_back({"captures", {"nothing", "what has an own chain in atari", "the last move's chain", "others"}});
    all.push_back({"liberties of the weakest own chain it joins", {"no chain", "1", "2", "3 or more"}});
    all.push_back({"liberties of the weakest chain of the other's it touches", {"no chain", "1", "2", "3 or more"}});
    all.push_back({"liberties of the weakest chain of the other's it touches",
                   {"2 or less, or no chain", "3", "4", "5 or more"}});
    all.push_back({"liberties then", {"1 or none", "2", "3", "4 or more"}});
    all.push_back({"liberties then", {"3 or less", "4", "5", "6 or more"}});
    all.push_back({"stones put into atari", {"none", "1", "2 or 3", "4 or more"}});
    all.push_back({"touches a chain of two liberties", {"no", "that no ladder takes", "that a ladder takes", ""}});
    all.push_back({"joins a chain in atari", {"no", "that a ladder takes all the same", "that escapes", ""}});
    all.push_back({"joins a chain that a ladder would take", {"no", "yes", "", ""}});
    all.push_back({"touches the last move's chain", {"no", "of 2 liberties or less", "of 3", "of 4 or more"}});
    all.push_back({"the last move gave atari",
                   {"no", "and this joins the chain", "and this takes what gives it", "and this does neither"}});
    all.push_back({"share of the board that has stones",
                   {"less than a tenth", "less than a quarter", "less than a half", "a half or more"}});
    all.push_back({"a ko can't be taken back", {"no", "yes", "", ""}});
    all.push_back({"fills an own eye", {"no", "yes", "", ""}});
    all.push_back({"own chains it joins", {"none", "1", "2", "3 or more"}});
    all.push_back({"chains of the other's it touches", {"none", "1", "2", "3 or more"}});
    return all;
}

const std::vector<TacticalQuestion>& go_questions() {
    static const std::vector<TacticalQuestion> all = make_questions();
    return all;
}

/// Rows and columns apart, and the larger of them once more: 2 for neighbors, 3 for diagonal ones.
template <int N>
int distance(int a, int b) {
    const int down = std::abs(a / N - b / N);
    const int right = std::abs(a % N - b % N);
    return down + right + std::max(down, right);
}

}  // namespace

template <int N>
const std::vector<TacticalQuestion>& Tactical<Go<N>>::questions() {
    return go_questions();
}

template <int N>
void Tactical<Go<N>>::find_chains(const Go<N>& game) {
    chains_.clear();
    chain_of_.fill(no_chain);
    game.for_each_chain([&](Move head) {
        Chain chain{.stone = head,
                    .owner = *game.owner(head),
                    .stones = game.chain_size(head),
                    .liberties = 0,
                    .where = {},
                    .caught = false,
                    .in_danger = false};
        game.for_each_stone_of(head, [&](Move stone) {
            chain_of_[stone.point] = static_cast<std::uint16_t>(chains_.size());
            if (game.open_sides(stone) == 0) return;
            Go<N>::for_each_neighbor(stone, [&](Move beside) {
                if (!game.owner(beside)) chain.where.add(beside.point);
            });
        });
        chain.liberties = chain.where.size();
        if (chain.liberties <= 2) {
            const Player mover = game.to_play();
            const bool own = chain.owner == mover;
            if (!own || chain.liberties == 1) chain.caught = ladders_.captures(game, head, mover);
            if (own && chain.liberties == 2) chain.in_danger = ladders_.captures(game, head, other(mover));
        }
        chains_.push_back(chain);
    });
}

template <int N>
auto Tactical<Go<N>>::touched_by(const Go<N>& game, Move point) const -> Touched {
    Touched touched;
    Go<N>::for_each_neighbor(point, [&](Move beside) {
        const std::uint16_t chain = chain_of_[beside.point];
        if (chain == no_chain) {
            ++touched.open;
            return;
        }
        auto& list = chains_[chain].owner == game.to_play() ? touched.own : touched.others;
        if (std::find(list.begin(), list.end(), chain) == list.end()) list.push_back(chain);
    });
    return touched;
}

/// How many liberties the chain of a stone there would have, those that a capture gives included.
template <int N>
int Tactical<Go<N>>::liberties_after(const Go<N>& game, Move point, const Touched& touched) const {
    const auto is_taken = [&](std::uint16_t chain) { return chains_[chain].liberties == 1; };
    // Most stones stand alone at first.
    if (touched.own.empty() && std::none_of(touched.others.begin(), touched.others.end(), is_taken))
        return touched.open;
    Points liberties;
    Go<N>::for_each_neighbor(point, [&](Move beside) {
        if (chain_of_[beside.point] == no_chain) liberties.add(beside.point);
    });
    for (const std::uint16_t chain : touched.own) liberties.add(chains_[chain].where);
    liberties.remove(point.point);
    for (const std::uint16_t chain : touched.others) {
        if (!is_taken(chain)) continue;
        game.for_each_stone_of(chains_[chain].stone, [&](Move taken) {
            Go<N>::for_each_neighbor(taken, [&](Move beside) {
                const std::uint16_t next = chain_of_[beside.point];
                if (beside == point ||
                    (next != no_chain && std::find(touched.own.begin(), touched.own.end(), next) != touched.own.end()))
                    liberties.add(taken.point);
            });
        });
    }
    return liberties.size();
}

template <int N>
void Tactical<Go<N>>::answer(const Go<N>& game, const strengths::Context<Go<N>>& context,
                             std::span<Answers> of_points) {
    find_chains(game);
    const auto point_of = [](const std::optional<Move>& move) {
        return move && *move != Move::pass() ? static_cast<int>(move->point) : -1;
    };
    const int last = point_of(context.last);
    const int before = point_of(context.before_last);
    const std::uint16_t last_moved = last >= 0 ? chain_of_[static_cast<std::size_t>(last)] : no_chain;

    // What is the same for all points, and what the last move's atari calls for.
    int stones = 0;
    for (const Chain& chain : chains_) stones += chain.stones;
    AnswerSheet of_position;
    of_position.put(stones_on_board,
                    static_cast<unsigned>((10 * stones >= N * N) + (4 * stones >= N * N) + (2 * stones >= N * N)));
    of_position.put(ko, game.ko() != Move::pass());
    InlineVector<std::uint16_t, 4> threatened;
    if (last_moved != no_chain)
        Go<N>::for_each_neighbor(*context.last, [&](Move beside) {
            const std::uint16_t chain = chain_of_[beside.point];
            if (chain != no_chain && chains_[chain].owner == game.to_play() && chains_[chain].liberties == 1 &&
                std::find(threatened.begin(), threatened.end(), chain) == threatened.end())
                threatened.push_back(chain);
        });
    // By chain: whether it has one of the mover's chains in atari, one of those just threatened.
    std::array<std::uint8_t, N * N> pins{};
    for (const Chain& chain : chains_) {
        if (chain.owner != game.to_play() || chain.liberties > 1) continue;
        const bool fresh =
            std::find(threatened.begin(), threatened.end(), chain_of_[chain.stone.point]) != threatened.end();
        game.for_each_stone_of(chain.stone, [&](Move stone) {
            Go<N>::for_each_neighbor(stone, [&](Move beside) {
                const std::uint16_t next = chain_of_[beside.point];
                if (next != no_chain && chains_[next].owner != game.to_play())
                    pins[next] |= static_cast<std::uint8_t>(fresh ? 3 : 1);
            });
        });
    }

    for (int at = 0; at < N * N; ++at) {
        if (chain_of_[static_cast<std::size_t>(at)] != no_chain) continue;
        const Move point = Move::from_code(static_cast<std::uint32_t>(at));
        AnswerSheet sheet = of_position;
        const int to_last = last >= 0 ? distance<N>(at, last) : no_distance;
        sheet.put(last_near, band(to_last, near_bounds));
        sheet.put(last_middle, band(to_last, middle_bounds));
        sheet.put(last_far, band(to_last, far_bounds));
        sheet.put(last_farthest, band(to_last, farthest_bounds));
        const int to_before = before >= 0 ? distance<N>(at, before) : no_distance;
        sheet.put(before_near, band(to_before, near_bounds));
        sheet.put(before_middle, band(to_before, middle_bounds));
        sheet.put(before_far, band(to_before, far_bounds));
        sheet.put(before_farthest, band(to_before, farthest_bounds));
        const int line = 1 + std::min({at / N, at % N, N - 1 - at / N, N - 1 - at % N});
        sheet.put(line_low, band(line, low_bounds));
        sheet.put(line_high, band(line, high_bounds));

        const Touched touched = touched_by(game, point);
        int weakest_own = 0;
        int weakest_other = 0;
        int taken = 0;
        int in_atari = 0;
        unsigned takes = 0;
        unsigned chased = 0;
        unsigned saved = 0;
        unsigned endangered = 0;
        unsigned beside_last = 0;
        unsigned answers = threatened.empty() ? 0 : 3;
        for (const std::uint16_t number : touched.own) {
            const Chain& chain = chains_[number];
            weakest_own = weakest_own ? std::min(weakest_own, chain.liberties) : chain.liberties;
            if (chain.liberties == 1) saved = std::max(saved, chain.caught ? 1u : 2u);
            endangered |= static_cast<unsigned>(chain.in_danger);
            if (std::find(threatened.begin(), threatened.end(), number) != threatened.end()) answers = 1;
        }
        for (const std::uint16_t number : touched.others) {
            const Chain& chain = chains_[number];
            weakest_other = weakest_other ? std::min(weakest_other, chain.liberties) : chain.liberties;
            if (chain.liberties == 1) {
                taken += chain.stones;
                const unsigned kind = pins[number] & 1 ? 1 : number == last_moved ? 2 : 3;
                takes = takes ? std::min(takes, kind) : kind;
                if (pins[number] & 2) answers = 2;
            }
            if (chain.liberties == 2) {
                in_atari = std::max(in_atari, chain.stones);
                chased = std::max(chased, chain.caught ? 2u : 1u);
            }
            if (number == last_moved) beside_last = chain.liberties <= 2 ? 1 : chain.liberties == 3 ? 2 : 3;
        }
        sheet.put(captured, band(taken, stone_bounds));
        sheet.put(capture_of, takes);
        sheet.put(own_liberties, band(weakest_own, counted_bounds));
        sheet.put(others_liberties, band(weakest_other, counted_bounds));
        sheet.put(others_more_liberties, band(weakest_other, {3, 4, 5}));
        const int liberties = liberties_after(game, point, touched);
        sheet.put(liberties_then, band(liberties, low_bounds));
        sheet.put(more_liberties_then, band(liberties, high_bounds));
        sheet.put(atari, band(in_atari, stone_bounds));
        sheet.put(ladder, chased);
        sheet.put(rescue, saved);
        sheet.put(danger, endangered);
        sheet.put(last_chain, beside_last);
        sheet.put(answer_to_atari, answers);
        sheet.put(own_eye, touched.others.empty() && touched.open == 0 && game.fills_own_eye(point));
        sheet.put(own_chains, band(static_cast<int>(touched.own.size()), counted_bounds));
        sheet.put(others_chains, band(static_cast<int>(touched.others.size()), counted_bounds));
        of_points[static_cast<std::size_t>(at)] = sheet.all();
    }
}

template struct Tactical<Go<3>>;
template struct Tactical<Go<4>>;
template struct Tactical<Go<5>>;
template struct Tactical<Go<6>>;
template struct Tactical<Go<7>>;
template struct Tactical<Go<9>>;
template struct Tactical<Go<13>>;
template struct Tactical<Go<19>>;

}  // namespace hyoka::mets
