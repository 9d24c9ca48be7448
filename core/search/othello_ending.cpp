// SPDX-License-Identifier: Apache-2.0
#include "search/othello_ending.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/bits.h"
#include "games/othello_moves.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace hyoka::search {
namespace {

using othello::Bits;
using othello::inner_columns;
using othello::run_masks;
using othello::shifts;

constexpr int worst = -64;
constexpr Bits corners = 0x8100000000000081ULL;

constexpr Bits bit(int square) { return Bits{1} << square; }

/// The squares from each square to the edge: four lines to higher squares, four to lower ones, in the order of shifts.
struct alignas(64) Rays {
    std::array<Bits, 4> up;
    std::array<Bits, 4> down;
};
constexpr std::array<Rays, 64> rays = [] {
    std::array<Rays, 64> all{};
    constexpr int columns[4] = {1, -1, 0, 1};
    constexpr int rows[4] = {0, 1, 1, 1};
    for (int square = 0; square < 64; ++square) {
        for (int d = 0; d < 4; ++d) {
            for (const int sign : {1, -1}) {
                Bits ray = 0;
                int column = square % 8 + sign * columns[d];
                int row = square / 8 + sign * rows[d];
                for (; column >= 0 && column < 8 && row >= 0 && row < 8;
                     column += sign * columns[d], row += sign * rows[d])
                    ray |= bit(8 * row + column);
                Rays& here = all[static_cast<std::size_t>(square)];
                (sign > 0 ? here.up : here.down)[static_cast<std::size_t>(d)] = ray;
            }
        }
    }
    return all;
}();

constexpr std::array<Bits, 64> neighbors = [] {
    std::array<Bits, 64> all{};
    for (int square = 0; square < 64; ++square)
        for (int other = 0; other < 64; ++other) {
            const int columns = square % 8 - other % 8;
            const int rows = square / 8 - other / 8;
            if (other != square && columns * columns <= 1 && rows * rows <= 1)
                all[static_cast<std::size_t>(square)] |= bit(other);
        }
    return all;
}();

/// The board's quarters stand for its regions; a set of them is four bits.
constexpr Bits quarter = 0x000000000f0f0f0fULL;
constexpr unsigned region_of(int square) { return 1u << ((square >> 4 & 2) | (square >> 2 & 1)); }
constexpr std::array<Bits, 16> region_squares = [] {
    std::array<Bits, 16> sets{};
    for (unsigned set = 0; set < 16; ++set)
        sets[set] = (set & 1 ? quarter : 0) | (set & 2 ? quarter << 4 : 0) | (set & 4 ? quarter << 32 : 0) |
                    (set & 8 ? quarter << 36 : 0);
    return sets;
}();
unsigned odd_regions_of(Bits empty) {
    unsigned odd = 0;
    for (unsigned i = 0; i < 4; ++i)
        odd |= (static_cast<unsigned>(count_bits(empty & region_squares[1u << i])) & 1) << i;
    return odd;
}

#if defined(__AVX2__)

Bits any_lane(__m256i lanes) {
    const __m128i half = _mm_or_si128(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    return static_cast<Bits>(_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half))));
}
__m256i load_lanes(const std::array<Bits, 4>& lanes) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes.data()));
}
__m256i all_lanes(Bits bits) { return _mm256_set1_epi64x(static_cast<long long>(bits)); }

/// Empty squares where `own` would flip something: discs spread along the opponent's runs, a direction a lane.
Bits places(Bits own, Bits opponent) {
    const __m256i shift = _mm256_set_epi64x(9, 8, 7, 1);
    const __m256i twice = _mm256_add_epi64(shift, shift);
    const __m256i discs = all_lanes(own);
    const __m256i run = _mm256_and_si256(all_lanes(opponent), load_lanes(run_masks));
    __m256i up = _mm256_and_si256(run, _mm256_sllv_epi64(discs, shift));
    __m256i down = _mm256_and_si256(run, _mm256_srlv_epi64(discs, shift));
    up = _mm256_or_si256(up, _mm256_and_si256(run, _mm256_sllv_epi64(up, shift)));
    down = _mm256_or_si256(down, _mm256_and_si256(run, _mm256_srlv_epi64(down, shift)));
    const __m256i run_up = _mm256_and_si256(run, _mm256_sllv_epi64(run, shift));
    const __m256i run_down = _mm256_srlv_epi64(run_up, shift);
    up = _mm256_or_si256(up, _mm256_and_si256(run_up, _mm256_sllv_epi64(up, twice)));
    down = _mm256_or_si256(down, _mm256_and_si256(run_down, _mm256_srlv_epi64(down, twice)));
    up = _mm256_or_si256(up, _mm256_and_si256(run_up, _mm256_sllv_epi64(up, twice)));
    down = _mm256_or_si256(down, _mm256_and_si256(run_down, _mm256_srlv_epi64(down, twice)));
    return any_lane(_mm256_or_si256(_mm256_sllv_epi64(up, shift), _mm256_srlv_epi64(down, shift))) & ~(own | opponent);
}

/// The opponent's discs that an own disc on `square` turns. On each ray the first square that is not the opponent's
/// decides: if it is own, all before it turn.
Bits flips(int square, Bits own, Bits opponent) {
    const Rays& from = rays[static_cast<std::size_t>(square)];
    const __m256i discs = all_lanes(own);
    const __m256i others = all_lanes(opponent);
    const __m256i up = load_lanes(from.up);
    const __m256i down = load_lanes(from.down);
    const __m256i zero = _mm256_setzero_si256();
    const __m256i ends_up = _mm256_andnot_si256(others, up);
    const __m256i end_up =
        _mm256_and_si256(_mm256_and_si256(ends_up, _mm256_sub_epi64(zero, ends_up)), discs);  // the lowest
    const __m256i below =
        _mm256_sub_epi64(_mm256_add_epi64(end_up, all_lanes(~Bits{0})), _mm256_cmpeq_epi64(end_up, zero));
    const __m256i turned_up = _mm256_and_si256(below, up);
#if defined(__AVX512CD__) && defined(__AVX512VL__)
    const __m256i ends_down = _mm256_andnot_si256(others, down);
    const __m256i end_down =
        _mm256_and_si256(_mm256_srlv_epi64(all_lanes(bit(63)), _mm256_lzcnt_epi64(ends_down)), discs);  // the highest
    const __m256i turned_down = _mm256_and_si256(_mm256_sub_epi64(zero, _mm256_add_epi64(end_down, end_down)), down);
#else
    const __m256i shift = _mm256_set_epi64x(9, 8, 7, 1);
    const __m256i twice = _mm256_add_epi64(shift, shift);
    const __m256i run = _mm256_and_si256(others, down);
    __m256i reach = _mm256_and_si256(run, _mm256_srlv_epi64(all_lanes(bit(square)), shift));
    reach = _mm256_or_si256(reach, _mm256_and_si256(run, _mm256_srlv_epi64(reach, shift)));
    const __m256i pairs = _mm256_and_si256(run, _mm256_srlv_epi64(run, shift));
    reach = _mm256_or_si256(reach, _mm256_and_si256(pairs, _mm256_srlv_epi64(reach, twice)));
    reach = _mm256_or_si256(reach, _mm256_and_si256(pairs, _mm256_srlv_epi64(reach, twice)));
    const __m256i end_down = _mm256_and_si256(_mm256_and_si256(_mm256_srlv_epi64(reach, shift), down), discs);
    const __m256i turned_down = _mm256_andnot_si256(_mm256_cmpeq_epi64(end_down, zero), reach);
#endif
    return any_lane(_mm256_or_si256(turned_up, turned_down));
}

#else

using othello::places;

/// The opponent's discs that an own disc on `square` turns. On each ray the first square that is not the opponent's
/// decides: if it is own, all before it turn.
Bits flips(int square, Bits own, Bits opponent) {
    const Rays& from = rays[static_cast<std::size_t>(square)];
    Bits turned = 0;
    for (const Bits ray : from.up) {
        const Bits ends = ray & ~opponent;
        const Bits end = ends & (~ends + 1) & own;
        turned |= (end - (end != 0)) & ray;
    }
    for (const Bits ray : from.down) {
        const Bits end = std::bit_floor(ray & ~opponent) & own;
        turned |= (~(2 * end) + 1) & ray;
    }
    return turned;
}

#endif

/// How many discs the very last disc on `square` turns; all other squares are full.
#if defined(__BMI2__)
struct LastFlips {
    struct Lines {
        std::array<Bits, 4> masks;          // row, column, both diagonals: the whole lines through the square
        std::array<std::uint8_t, 4> where;  // the square's place on each
    };
    std::array<Lines, 64> lines{};
    std::array<std::array<std::uint8_t, 256>, 8> turned{};  // by place and own discs of a line
};
constexpr LastFlips last_flips = [] {
    LastFlips tables{};
    for (int square = 0; square < 64; ++square) {
        const auto at = static_cast<std::size_t>(square);
        for (std::size_t d = 0; d < 4; ++d) {
            const Bits mask = rays[at].up[d] | rays[at].down[d] | bit(square);
            tables.lines[at].masks[d] = mask;
            tables.lines[at].where[d] = static_cast<std::uint8_t>(std::popcount(mask & (bit(square) - 1)));
        }
    }
    for (unsigned place = 0; place < 8; ++place) {
        for (unsigned own = 0; own < 256; ++own) {
            unsigned turned = 0;
            for (unsigned i = place + 1; i < 8; ++i)
                if (own >> i & 1) {
                    turned += i - place - 1;
                    break;
                }
            for (unsigned i = place; i-- > 0;)
                if (own >> i & 1) {
                    turned += place - i - 1;
                    break;
                }
            tables.turned[place][own] = static_cast<std::uint8_t>(turned);
        }
    }
    return tables;
}();
int count_last_flips(int square, Bits own) {
    const auto& lines = last_flips.lines[static_cast<std::size_t>(square)];
    int turned = 0;
#pragma GCC unroll 4
    for (std::size_t d = 0; d < 4; ++d) turned += last_flips.turned[lines.where[d]][_pext_u64(own, lines.masks[d])];
    return turned;
}
#else
int count_last_flips(int square, Bits own) { return count_bits(flips(square, own, ~own ^ bit(square))); }
#endif

/// Own discs less the opponent's once neither side can move; empty squares go to the winner.
int final_score(Bits own, Bits opponent) {
    const int mine = count_bits(own);
    const int theirs = count_bits(opponent);
    const int empty = 64 - mine - theirs;
    return mine - theirs + (mine > theirs ? empty : mine < theirs ? -empty : 0);
}

/// The score when `square` alone is empty.
int last_one(Bits own, int square) {
    const int lead = 2 * count_bits(own) - 63;  // with the last square still empty
    if (const int turned = count_last_flips(square, own)) return lead + 1 + 2 * turned;
    if (const int turned = count_last_flips(square, ~own ^ bit(square))) return lead - 1 - 2 * turned;
    return lead > 0 ? lead + 1 : lead - 1;
}

/// Which discs of an edge nothing can turn any more, whatever both sides put on its empty squares.
struct EdgeStability {
    std::array<std::array<std::uint8_t, 256>, 256> stable{};  // [own][opponent]: of own's

    EdgeStability() {
        // Fewer empty squares first: an edge's stability follows from that of its successors.
        for (int empties = 0; empties <= 8; ++empties)
            for (unsigned own = 0; own < 256; ++own)
                for (unsigned opponent = 0; opponent < 256; ++opponent)
                    if (!(own & opponent) && 8 - std::popcount(own | opponent) == empties)
                        stable[own][opponent] = static_cast<std::uint8_t>(kept(own, opponent));
    }
    unsigned kept(unsigned own, unsigned opponent) const {
        unsigned lasting = own;
        for (unsigned square = 0; square < 8; ++square) {
            const unsigned place = 1u << square;
            if ((own | opponent) & place) continue;
            const unsigned mine = turned(square, own, opponent);
            lasting &= stable[own | place | mine][opponent & ~mine];
            const unsigned theirs = turned(square, opponent, own);
            lasting &= stable[own & ~theirs][opponent | place | theirs];
        }
        return lasting;
    }
    static unsigned turned(unsigned square, unsigned own, unsigned opponent) {
        unsigned found = 0;
        for (const int step : {1, -1}) {
            unsigned run = 0;
            int at = static_cast<int>(square) + step;
            for (; at >= 0 && at < 8 && (opponent >> at & 1); at += step) run |= 1u << at;
            if (at >= 0 && at < 8 && (own >> at & 1)) found |= run;
        }
        return found;
    }
};
const EdgeStability& edge_stability() {
    static const EdgeStability table;
    return table;
}

constexpr Bits column_a = 0x0101010101010101ULL;
constexpr unsigned column_of(Bits bits, int column) {
    return static_cast<unsigned>(((bits >> column & column_a) * 0x0102040810204080ULL) >> 56);
}
/// A row's bits set up as column a.
constexpr std::array<Bits, 256> as_column = [] {
    std::array<Bits, 256> columns{};
    for (unsigned row = 0; row < 256; ++row)
        for (unsigned i = 0; i < 8; ++i) columns[row] |= static_cast<Bits>(row >> i & 1) << (8 * i);
    return columns;
}();

/// Squares on lines without an empty square, for each direction of shifts.
std::array<Bits, 4> full_lines(Bits empty) {
    constexpr Bits column_h = column_a << 7;
    // Spreading towards higher squares must not enter column a, or column h where the shift goes left.
    constexpr std::array<Bits, 4> up_masks = {~column_a, ~column_h, ~Bits{0}, ~column_a};
    constexpr std::array<Bits, 4> down_masks = {~column_h, ~column_a, ~Bits{0}, ~column_h};
    std::array<Bits, 4> full;
    for (std::size_t d = 0; d < 4; ++d) {
        const int shift = shifts[d];
        Bits up = empty;
        Bits down = empty;
        Bits open_up = up_masks[d];
        Bits open_down = down_masks[d];
        for (int step = shift; step <= 4 * shift; step *= 2) {
            up |= open_up & (up << step);
            down |= open_down & (down >> step);
            open_up &= open_up << step;
            open_down &= open_down >> step;
        }
        full[d] = ~(up | down);
    }
    return full;
}

/// A lower bound on how many of own's discs can never turn.
int count_stable(Bits own, Bits opponent) {
    const auto& edges = edge_stability().stable;
    Bits stable = edges[own & 0xff][opponent & 0xff] | static_cast<Bits>(edges[own >> 56][opponent >> 56]) << 56 |
                  as_column[edges[column_of(own, 0)][column_of(opponent, 0)]] |
                  as_column[edges[column_of(own, 7)][column_of(opponent, 7)]] << 7;
    constexpr Bits inner = inner_columns & 0x00ffffffffffff00ULL;
    const auto full = full_lines(~(own | opponent));
    stable |= full[0] & full[1] & full[2] & full[3] & own;
    if (!stable) return 0;
    // A disc is safe along a line that is full or on which a neighbor is safe.
    for (Bits found = stable; found;) {
        found = own & inner & ~stable;
        for (std::size_t d = 0; d < 4; ++d) found &= full[d] | stable << shifts[d] | stable >> shifts[d];
        stable |= found;
    }
    return count_bits(stable);
}

/// How many moves a side has to choose from; corners count twice.
int mobility(Bits own, Bits opponent) {
    const Bits moves = places(own, opponent);
    return count_bits(moves) + count_bits(moves & corners);
}

/// The empty squares beside the opponent's discs, where own moves may arise.
int count_frontier(Bits own, Bits opponent) {
    const Bits rows = opponent | opponent << 8 | opponent >> 8;
    const Bits around = rows | (rows << 1 & ~column_a) | (rows >> 1 & ~(column_a << 7));
    return count_bits(around & ~(own | opponent));
}

/// The opponent's mobility less own's once own has replied as best it can.
int mobility_after_reply(Bits own, Bits opponent, Bits replies) {
    int least = 64;
    for_each_bit(replies, [&](int square) {
        const Bits turned = flips(square, own, opponent);
        const Bits mine = own | turned | bit(square);
        const Bits theirs = opponent ^ turned;
        least = std::min(least, mobility(theirs, mine) - mobility(mine, theirs));
    });
    return least;
}

constexpr int hash_depth = 8;        // fewest empty squares of positions in the table
constexpr int successor_depth = 12;  // fewest at which the successors' entries are looked at first
constexpr int frontier_depth = 13;   // fewest at which moves are also ordered by the frontier they leave,
constexpr int reply_depth = 15;      // and by what the best reply to them leaves

}  // namespace

OthelloEnding::OthelloEnding(const EndingSettings& settings)
    : settings_(settings),
      table_(std::bit_floor((static_cast<std::size_t>(std::max(settings.hash_mib, 1)) << 20) / sizeof(Entry))) {}

void OthelloEnding::clear() {
    if (epoch_.advance()) table_.zero();
    generation_ = 0;
}

OthelloEnding::Entry* OthelloEnding::bucket_of(Bits own, Bits opponent) {
    const Bits mixed = (own * 0x9e3779b97f4a7c15ULL) ^ std::rotl(opponent * 0xd1342543de82ef95ULL, 32);
    return &table_[(mixed ^ mixed >> 29) & (table_.size() - 2)];
}

const OthelloEnding::Entry* OthelloEnding::look_up(Bits own, Bits opponent) {
    const Entry* const bucket = bucket_of(own, opponent);
    for (const Entry* entry = bucket; entry != bucket + 2; ++entry)
        if (entry->own == own && entry->opponent == opponent && epoch_.holds(entry->epoch)) return entry;
    return nullptr;
}

void OthelloEnding::store(Bits own, Bits opponent, int alpha, int score, int square, std::uint64_t nodes) {
    Entry* const bucket = bucket_of(own, opponent);
    Entry* entry = bucket;
    while (entry != bucket + 2 && !(entry->own == own && entry->opponent == opponent && epoch_.holds(entry->epoch)))
        ++entry;
    if (entry == bucket + 2) {
        const auto worth = [&](const Entry& held) {
            return epoch_.holds(held.epoch) ? held.effort + (held.generation == generation_ ? 64 : 0) : 0;
        };
        entry = worth(bucket[1]) < worth(bucket[0]) ? bucket + 1 : bucket;
        *entry = {.own = own,
                  .opponent = opponent,
                  .lower = worst,
                  .upper = -worst,
                  .move = 64,
                  .effort = 0,
                  .generation = 0,
                  .epoch = epoch_.tag()};
    }
    if (score > alpha) {
        entry->lower = static_cast<std::int8_t>(std::max<int>(entry->lower, score));
        entry->move = static_cast<std::uint8_t>(square);
    } else {
        entry->upper = static_cast<std::int8_t>(std::min<int>(entry->upper, score));
        if (entry->move == 64) entry->move = static_cast<std::uint8_t>(square);
    }
    entry->effort = static_cast<std::uint8_t>(std::bit_width(nodes));
    entry->generation = generation_;
}

// The searches below ask whether the side to move can get more than `alpha`. What they return is a lower bound on the
// score if it is more than `alpha`, else an upper one.

int OthelloEnding::last_two(Bits own, Bits opponent, int alpha, int first, int second) {
    ++nodes_;
    int best = worst - 1;
    if (neighbors[static_cast<std::size_t>(first)] & opponent)
        if (const Bits turned = flips(first, own, opponent)) {
            ++nodes_;
            best = -last_one(opponent ^ turned, second);
            if (best > alpha) return best;
        }
    if (neighbors[static_cast<std::size_t>(second)] & opponent)
        if (const Bits turned = flips(second, own, opponent)) {
            ++nodes_;
            return std::max(best, -last_one(opponent ^ turned, first));
        }
    if (best >= worst) return best;
    // A pass: the opponent wants the least.
    best = -worst + 1;
    if (neighbors[static_cast<std::size_t>(first)] & own)
        if (const Bits turned = flips(first, opponent, own)) {
            ++nodes_;
            best = last_one(own ^ turned, second);
            if (best <= alpha) return best;
        }
    if (neighbors[static_cast<std::size_t>(second)] & own)
        if (const Bits turned = flips(second, opponent, own)) {
            ++nodes_;
            return std::min(best, last_one(own ^ turned, first));
        }
    return best <= -worst ? best : final_score(own, opponent);
}

int OthelloEnding::last_three(Bits own, Bits opponent, int alpha, Bits empty, unsigned odd_regions) {
    ++nodes_;
    // A square alone in its quarter comes first.
    const Bits odd = empty & region_squares[odd_regions];
    const Bits even = empty ^ odd;
    const int first = lowest_bit(odd);
    const Bits rest = empty & ~bit(first);
    const int second = lowest_bit(even ? even : rest);
    const int third = lowest_bit(rest & ~bit(second));
    const std::array<std::array<int, 3>, 3> orders = {
        {{first, second, third}, {second, first, third}, {third, first, second}}};
    int best = worst - 1;
    for (const auto& [square, one, other] : orders) {
        if (!(neighbors[static_cast<std::size_t>(square)] & opponent)) continue;
        const Bits turned = flips(square, own, opponent);
        if (!turned) continue;
        best = std::max(best, -last_two(opponent ^ turned, own | turned | bit(square), -alpha - 1, one, other));
        if (best > alpha) return best;
    }
    if (best >= worst) return best;
    best = -worst + 1;
    for (const auto& [square, one, other] : orders) {
        if (!(neighbors[static_cast<std::size_t>(square)] & own)) continue;
        const Bits turned = flips(square, opponent, own);
        if (!turned) continue;
        best = std::min(best, last_two(own ^ turned, opponent | turned | bit(square), alpha, one, other));
        if (best <= alpha) return best;
    }
    return best <= -worst ? best : final_score(own, opponent);
}

int OthelloEnding::last_four(Bits own, Bits opponent, int alpha, unsigned odd_regions) {
    ++nodes_;
    const Bits empty = ~(own | opponent);
    const Bits odd = empty & region_squares[odd_regions];
    int best = worst - 1;
    for (const Bits squares : {odd, empty ^ odd}) {
        for (Bits left = squares; left;) {
            const int square = pop_lowest_bit(left);
            if (!(neighbors[static_cast<std::size_t>(square)] & opponent)) continue;
            const Bits turned = flips(square, own, opponent);
            if (!turned) continue;
            best = std::max(best, -last_three(opponent ^ turned, own | turned | bit(square), -alpha - 1,
                                              empty ^ bit(square), odd_regions ^ region_of(square)));
            if (best > alpha) return best;
        }
    }
    if (best >= worst) return best;
    if (!places(opponent, own)) return final_score(own, opponent);
    return -last_four(opponent, own, -alpha - 1, odd_regions);
}

/// Five empty squares or more, too few for the table to pay.
int OthelloEnding::search_shallow(Bits own, Bits opponent, int alpha, unsigned odd_regions) {
    ++nodes_;
    const Bits moves = places(own, opponent);
    if (!moves) {
        if (!places(opponent, own)) return final_score(own, opponent);
        return -search_shallow(opponent, own, -alpha - 1, odd_regions);
    }
    const int empties = 64 - count_bits(own | opponent);
    if (alpha >= 20) {
        const int bound = 64 - 2 * count_stable(opponent, own);
        if (bound <= alpha) return bound;
    }
    const Bits odd = moves & region_squares[odd_regions];
    int best = worst - 1;
    for (const Bits squares : {odd & corners, moves & ~odd & corners, odd & ~corners, moves & ~odd & ~corners}) {
        for (Bits left = squares; left;) {
            const int square = pop_lowest_bit(left);
            const Bits turned = flips(square, own, opponent);
            const Bits next_own = opponent ^ turned;
            const Bits next_opponent = own | turned | bit(square);
            const unsigned next_odd = odd_regions ^ region_of(square);
            const int score = empties == 5 ? -last_four(next_own, next_opponent, -alpha - 1, next_odd)
                                           : -search_shallow(next_own, next_opponent, -alpha - 1, next_odd);
            best = std::max(best, score);
            if (best > alpha) return best;
        }
    }
    return best;
}

int OthelloEnding::search(Bits own, Bits opponent, int alpha, unsigned odd_regions) {
    const int empties = 64 - count_bits(own | opponent);
    if (empties < hash_depth) return search_shallow(own, opponent, alpha, odd_regions);
    const std::uint64_t nodes_before = nodes_++;
    if (stop_.reached(nodes_)) return alpha;
    const Bits moves = places(own, opponent);
    if (!moves) {
        if (!places(opponent, own)) return final_score(own, opponent);
        return -search(opponent, own, -alpha - 1, odd_regions);
    }
    if (alpha >= 4) {
        const int bound = 64 - 2 * count_stable(opponent, own);
        if (bound <= alpha) return bound;
    }
    int known_move = 64;
    if (const Entry* entry = look_up(own, opponent)) {
        if (entry->lower > alpha) return entry->lower;
        if (entry->upper <= alpha) return entry->upper;
        known_move = entry->move;
    }
    std::array<Candidate, 64> candidates;
    std::size_t count = 0;
    for (Bits left = moves; left;) {
        const int square = pop_lowest_bit(left);
        const Bits turned = flips(square, own, opponent);
        const Bits next_own = opponent ^ turned;
        const Bits next_opponent = own | turned | bit(square);
        if (!next_own) return -worst;
        if (empties >= successor_depth)
            if (const Entry* entry = look_up(next_own, next_opponent); entry && -entry->upper > alpha)
                return -entry->upper;
        const Bits replies = places(next_own, next_opponent);
        int order = -8 * (count_bits(replies) + count_bits(replies & corners));
        if (odd_regions & region_of(square)) order += 4;
        if (empties >= frontier_depth) order -= 2 * count_frontier(next_own, next_opponent);
        if (empties >= reply_depth) order += 6 * mobility_after_reply(next_own, next_opponent, replies);
        if (bit(square) & corners) order += 8;
        if (square == known_move) order = 1 << 20;
        candidates[count++] = {next_own, next_opponent, order, static_cast<std::uint8_t>(square)};
    }
    int best = worst - 1;
    int best_square = 64;
    for (std::size_t i = 0; i < count; ++i) {
        std::swap(candidates[i],
                  *std::max_element(candidates.begin() + i, candidates.begin() + count,
                                    [](const Candidate& a, const Candidate& b) { return a.order < b.order; }));
        const Candidate& candidate = candidates[i];
        const int score =
            -search(candidate.own, candidate.opponent, -alpha - 1, odd_regions ^ region_of(candidate.square));
        if (stop_.reached()) return alpha;
        if (score > best) {
            best = score;
            best_square = candidate.square;
            if (best > alpha) break;
        }
    }
    store(own, opponent, alpha, best, best_square, nodes_ - nodes_before);
    return best;
}

int OthelloEnding::exceeds(Bits own, Bits opponent, int alpha) {
    const Bits empty = ~(own | opponent);
    const int empties = count_bits(empty);
    if (empties == 0) return final_score(own, opponent);
    if (empties < 5) {
        // Too few for any of the searches' first step.
        const Bits moves = places(own, opponent);
        if (!moves) {
            if (!places(opponent, own)) return final_score(own, opponent);
            return -exceeds(opponent, own, -alpha - 1);
        }
        int best = worst;
        for_each_bit(moves, [&](int square) {
            const Bits turned = flips(square, own, opponent);
            ++nodes_;
            best = std::max(best, -exceeds(opponent ^ turned, own | turned | bit(square), -alpha - 1));
        });
        return best;
    }
    return search(own, opponent, alpha, odd_regions_of(empty));
}

/// The score of the side to move, by questions that close in on it.
int OthelloEnding::exact(Bits own, Bits opponent, int guess) {
    int lower = worst;
    int upper = -worst;
    while (lower < upper) {
        // Scores are even: is it at least `guess`?
        guess = std::clamp(guess, lower + 2, upper);
        const int found = exceeds(own, opponent, guess - 1);
        if (stop_.reached()) break;
        (found >= guess ? lower : upper) = found;
        guess = found >= guess ? found + 2 : found;
    }
    return lower;
}

void OthelloEnding::start(const Limits& limits, const std::atomic<bool>* interrupt) {
    stop_ = Stop({.nodes = limits.nodes, .time_s = limits.time_s}, interrupt);
    stop_.look();
    nodes_ = 0;
    generation_ = static_cast<std::uint8_t>(generation_ % 255 + 1);
}

/// A move that gets the side to move `score` or more; pre: there is one.
std::optional<Othello::Move> OthelloEnding::move_worth(const Othello& game, int score) {
    for (const auto move : game.legal_moves()) {
        Othello after = game;
        after.play(move);
        const Bits own = after.discs(after.to_play());
        if (-exceeds(own, after.discs(other(after.to_play())), -score) >= score && !stop_.reached()) return move;
    }
    return std::nullopt;
}

EndingResult OthelloEnding::solve(const Othello& game, const Limits& limits, const std::atomic<bool>* interrupt) {
    start(limits, interrupt);
    const Player us = game.to_play();
    EndingResult result;
    int score = exact(game.discs(us), game.discs(other(us)), 0);
    result.score = us == Player::first ? score : -score;
    Othello at = game;
    while (!stop_.reached() && !at.outcome()) {
        const auto move = move_worth(at, at.to_play() == us ? score : -score);
        if (!move) break;
        result.line.push_back(*move);
        at.play(*move);
    }
    result.solved = !stop_.reached();
    result.nodes = nodes_;
    result.time_s = stop_.elapsed_s();
    return result;
}

EndingResult OthelloEnding::solve_result(const Othello& game, const Limits& limits,
                                         const std::atomic<bool>* interrupt) {
    start(limits, interrupt);
    const Player us = game.to_play();
    const Bits own = game.discs(us);
    const Bits opponent = game.discs(other(us));
    EndingResult result;
    int sign = exceeds(own, opponent, 1) > 1 ? 1 : 0;
    if (sign == 0) sign = exceeds(own, opponent, -1) > -1 ? 0 : -1;
    result.score = us == Player::first ? sign : -sign;
    if (!stop_.reached() && !game.outcome())
        if (const auto move = move_worth(game, sign > 0 ? 2 : sign < 0 ? worst : 0)) result.line.push_back(*move);
    result.solved = !stop_.reached();
    result.nodes = nodes_;
    result.time_s = stop_.elapsed_s();
    return result;
}

EndingMoves OthelloEnding::solve_moves(const Othello& game, const Limits& limits, const std::atomic<bool>* interrupt) {
    start(limits, interrupt);
    const Player us = game.to_play();
    const int sign = us == Player::first ? 1 : -1;
    EndingMoves result;
    int guess = 0;
    for (const auto move : game.legal_moves()) {
        Othello after = game;
        after.play(move);
        const int score = -exact(after.discs(other(us)), after.discs(us), -guess);
        if (stop_.reached()) break;
        guess = score;
        result.moves.push_back({move, sign * score});
    }
    std::stable_sort(result.moves.begin(), result.moves.end(),
                     [&](const EndingMove& a, const EndingMove& b) { return sign * a.score > sign * b.score; });
    result.solved = !stop_.reached();
    result.nodes = nodes_;
    result.time_s = stop_.elapsed_s();
    return result;
}

}  // namespace hyoka::search
