// SPDX-License-Identifier: Apache-2.0
#include "search/mate.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace hyoka::search {
namespace {

/// Whether each byte of `a` is at least that of `b`; pre: all bytes are below 128.
constexpr bool covers(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t tops = 0x8080808080808080ULL;
    return (((a | tops) - b) & tops) == tops;
}

constexpr int hand_shift(Shogi::Kind kind) { return 8 * kind; }
constexpr Shogi::Kind hand_kind(Shogi::Kind kind) {
    return kind > Shogi::king ? static_cast<Shogi::Kind>(kind - 8) : kind;
}
constexpr std::array<Shogi::Kind, 7> hand_kinds = {Shogi::pawn,   Shogi::lance, Shogi::knight, Shogi::silver,
                                                   Shogi::bishop, Shogi::rook,  Shogi::gold};

std::uint64_t packed_hand(const Shogi& game, Player player) {
    std::uint64_t hand = 0;
    for (const auto kind : hand_kinds)
        hand |= static_cast<std::uint64_t>(game.in_hand(player, kind)) << hand_shift(kind);
    return hand;
}

}  // namespace

template <class G>
std::optional<typename G::Move> mate_in_one(const G& game) {
    if (game.outcome()) return std::nullopt;
    const G bare = game.movement_only();
    for (const auto move : bare.checking_moves()) {
        G after = bare;
        after.play(move);
        if (after.count_moves() == 0) return move;
    }
    return std::nullopt;
}

template <class G>
MateSolver<G>::MateSolver(const MateSettings& settings)
    : settings_(settings),
      table_(std::bit_floor((static_cast<std::size_t>(std::max(settings.hash_mib, 1)) << 20) / sizeof(Bucket))) {}

template <class G>
void MateSolver<G>::clear() {
    if (epoch_.advance()) table_.zero();
    generation_ = 0;
}

template <class G>
typename MateSolver<G>::Key MateSolver<G>::key_of(const G& game) const {
    if constexpr (std::is_same_v<G, Shogi>)
        return {game.board_hash() ^ salt_, packed_hand(game, attacker_)};
    else
        return {game.hash() ^ salt_, 0};
}

template <class G>
typename MateSolver<G>::Key MateSolver<G>::key_after(const G& game, const Key& key, Move move) const {
    if constexpr (std::is_same_v<G, Shogi>) {
        Key after = {game.board_hash_after(key.board, move), key.hand};
        if (game.to_play() != attacker_) return after;
        if (move.is_drop())
            after.hand -= std::uint64_t{1} << hand_shift(move.dropped());
        else if (const auto victim = game.piece_on(move.to()); victim != Shogi::no_piece)
            after.hand += std::uint64_t{1} << hand_shift(hand_kind(victim));
        return after;
    } else {
        G after = game;
        after.play(move);
        return key_of(after);
    }
}

namespace {

/// Positions of different attackers, or with different pieces altogether, share nothing.
std::uint64_t salt_of(const Chess& game) { return index_of(game.to_play()) ? 0x3c6ef372fe94f82bULL : 0; }
std::uint64_t salt_of(const Shogi& game) {
    std::uint64_t pieces = packed_hand(game, Player::first) + packed_hand(game, Player::second);
    for (int square = 0; square < 81; ++square)
        if (const auto kind = game.piece_on(square); kind != Shogi::no_piece && kind != Shogi::king)
            pieces += std::uint64_t{1} << hand_shift(hand_kind(kind));
    return split_mix(pieces << 1 | static_cast<std::uint64_t>(index_of(game.to_play())));
}

}  // namespace

template <class G>
typename MateSolver<G>::Value MateSolver<G>::look_up(const Key& key) {
    Value found;
    for (const Entry& entry : bucket_of(key).entries) {
        if (entry.key.board != key.board || !epoch_.holds(entry.epoch)) continue;
        if (entry.proof == 0) {
            if (!covers(key.hand, entry.key.hand)) continue;
            return {.proof = 0, .disproof = infinite, .distance = entry.distance};
        }
        if (entry.proof == infinite) {
            if (!covers(entry.key.hand, key.hand)) continue;
            if (entry.first_repeat == no_repeat) return {.proof = infinite, .disproof = 0};
            if (entry.last_repeat < path_.size() && path_[entry.last_repeat].fingerprint == entry.disproof)
                return {.proof = infinite,
                        .disproof = 0,
                        .repeats = (~std::uint64_t{0} << entry.first_repeat) &
                                   (~std::uint64_t{0} >> (63 - entry.last_repeat))};
        } else if (entry.key.hand == key.hand) {
            found.proof = entry.proof;
            found.disproof = entry.disproof;
        }
    }
    return found;
}

template <class G>
void MateSolver<G>::store(const Key& key, const Value& value, std::uint64_t nodes) {
    Entry* victim = nullptr;
    int least = 1 << 20;
    for (Entry& entry : bucket_of(key).entries) {
        if (entry.key == key && epoch_.holds(entry.epoch)) {
            // A mate stays one; the shorter the better.
            if (entry.proof == 0 && (!value.is_mate() || entry.distance <= value.distance)) return;
            victim = &entry;
            break;
        }
        const int worth = !epoch_.holds(entry.epoch) ? -1 : entry.effort + (entry.generation == generation_ ? 64 : 0);
        if (worth < least) {
            least = worth;
            victim = &entry;
        }
    }
    *victim = {.key = key,
               .proof = value.proof,
               .disproof = value.disproof,
               .distance = value.distance,
               .effort = static_cast<std::uint8_t>(std::bit_width(nodes)),
               .generation = generation_,
               .first_repeat = no_repeat,
               .last_repeat = no_repeat,
               .epoch = epoch_.tag()};
    if (value.is_refuted() && value.repeats) {
        victim->first_repeat = static_cast<std::uint8_t>(lowest_bit(value.repeats));
        victim->last_repeat = static_cast<std::uint8_t>(highest_bit(value.repeats));
        // Far down the path it is not known which position is meant: such a refutation is not found again.
        victim->disproof = victim->last_repeat < far_place ? path_[victim->last_repeat].fingerprint : 0;
    }
}

/// Adds the moves as children, their values still to be looked up; returns the first one's place.
template <class G>
std::size_t MateSolver<G>::list_children(const G& game, const Key& key, const Moves<G>& moves) {
    const std::size_t first = children_.size();
    for (const Move move : moves) {
        const Key after = key_after(game, key, move);
        const Bucket& bucket = bucket_of(after);
        __builtin_prefetch(&bucket);
        __builtin_prefetch(&bucket.entries[2]);
        children_.push_back({move, after, {}});
    }
    return first;
}

/// Adds the checks as children; where one mates it is the only one.
template <class G>
void MateSolver<G>::list_checks(const G& game, const Key& key) {
    const std::size_t first = list_children(game, key, game.checking_moves());
    for (std::size_t i = first; i < children_.size(); ++i) {
        Child& child = children_[i];
        child.value = look_up(child.key);
        if (child.value.proof != 1 || child.value.disproof != 1) continue;
        // The more answers, the harder to mate.
        G after = game;
        after.play(child.move);
        child.value.proof = static_cast<std::uint32_t>(after.count_moves());
        if (child.value.proof > 0) {
            store(child.key, child.value, 0);
            continue;
        }
        child.value.disproof = infinite;
        std::swap(children_[first], child);
        children_.resize(first + 1);
    }
}

template <class G>
void MateSolver<G>::list_evasions(const G& game, const Key& key) {
    const std::size_t first = list_children(game, key, game.legal_moves());
    for (std::size_t i = first; i < children_.size(); ++i) {
        Child& child = children_[i];
        // Back at an earlier position, or at one with less in hand: no mate unless the earlier one is.
        const auto back = std::find_if(path_.rbegin(), path_.rend(), [&](const Step& step) {
            return step.key.board == child.key.board && covers(step.key.hand, child.key.hand);
        });
        if (back == path_.rend()) {
            child.value = look_up(child.key);
        } else {
            const auto place = static_cast<std::size_t>(path_.rend() - back) - 1;
            child.value = {.proof = infinite, .disproof = 0, .repeats = std::uint64_t{1} << std::min(place, far_place)};
        }
    }
}

template <class G>
typename MateSolver<G>::Value MateSolver<G>::attack(const G& game, const Key& key, std::uint32_t proof_limit,
                                                    std::uint32_t disproof_limit) {
    const std::uint64_t nodes_before = nodes_++;
    const std::size_t first = children_.size();
    const std::size_t place = path_.size();
    list_checks(game, key);
    const auto mark = static_cast<std::uint32_t>(split_mix(key.board ^ split_mix(key.hand)) >> 32);
    path_.push_back({key, ((place ? path_.back().fingerprint : 0) + mark) | 1});
    const std::size_t end = children_.size();
    Value value;
    for (;;) {
        // The attacker needs one child proven; to refute it takes all.
        value = {.proof = infinite, .disproof = 0};
        std::uint32_t rival = infinite;
        std::uint32_t open = 0;
        std::size_t best = first;
        for (std::size_t i = first; i < end; ++i) {
            const Value& child = children_[i].value;
            if (child.is_mate()) {
                if (!value.is_mate() || child.distance + 1 < value.distance)
                    value = {.proof = 0,
                             .disproof = infinite,
                             .distance = static_cast<std::uint16_t>(child.distance + 1),
                             .move = children_[i].move};
                continue;
            }
            if (value.is_mate()) continue;
            if (child.is_refuted()) {
                value.repeats |= child.repeats;
                continue;
            }
            ++open;
            value.disproof = std::max(value.disproof, child.disproof);
            if (child.proof < value.proof) {
                rival = value.proof;
                value.proof = child.proof;
                best = i;
            } else {
                rival = std::min(rival, child.proof);
            }
        }
        if (!value.is_mate() && open > 0) {
            value.disproof += open - 1;
            value.repeats = 0;
        }
        if (!value.is_open() || value.proof >= proof_limit || value.disproof >= disproof_limit) break;
        if (stop_.reached(nodes_)) break;
        const auto beyond = static_cast<std::uint32_t>(rival * settings_.epsilon);
        const Child chosen = children_[best];
        G after = game;
        after.play(chosen.move);
        const Value seen = defend(after, chosen.key, std::min(proof_limit, rival + beyond + 1),
                                  std::min(disproof_limit - (open - 1), infinite));
        children_.resize(end);
        children_[best].value = seen;
    }
    path_.pop_back();
    children_.resize(first);
    // Coming back to this very position or to one below it is no condition any more.
    if (place < far_place) value.repeats &= ((std::uint64_t{1} << place) - 1) | too_deep;
    store(key, value, nodes_ - nodes_before);
    return value;
}

template <class G>
typename MateSolver<G>::Value MateSolver<G>::defend(const G& game, const Key& key, std::uint32_t proof_limit,
                                                    std::uint32_t disproof_limit) {
    const std::uint64_t nodes_before = nodes_++;
    const std::size_t first = children_.size();
    list_evasions(game, key);
    const std::size_t end = children_.size();
    Value value;
    for (;;) {
        // One refutation is enough for the defender, best one without conditions; a mate needs all children.
        value = {.proof = 0, .disproof = infinite};
        std::uint32_t rival = infinite;
        std::uint32_t open = 0;
        std::size_t best = first;
        for (std::size_t i = first; i < end; ++i) {
            const Value& child = children_[i].value;
            if (child.is_refuted()) {
                if (!value.is_refuted() || child.repeats < value.repeats) value = child;
                continue;
            }
            if (value.is_refuted()) continue;
            if (child.is_mate()) {
                value.distance = std::max(value.distance, static_cast<std::uint16_t>(child.distance + 1));
                continue;
            }
            ++open;
            value.proof = std::min(value.proof + child.proof, infinite - 1);
            if (child.disproof < value.disproof) {
                rival = value.disproof;
                value.disproof = child.disproof;
                best = i;
            } else {
                rival = std::min(rival, child.disproof);
            }
        }
        if (!value.is_open() || value.proof >= proof_limit || value.disproof >= disproof_limit) break;
        if (stop_.reached(nodes_)) break;
        const Child chosen = children_[best];
        if (path_.size() >= max_steps_) {
            children_[best].value = {.proof = infinite, .disproof = 0, .repeats = too_deep};
            continue;
        }
        const auto beyond = static_cast<std::uint32_t>(rival * settings_.epsilon);
        G after = game;
        after.play(chosen.move);
        const Value seen =
            attack(after, chosen.key, std::min(proof_limit - (value.proof - chosen.value.proof), infinite),
                   std::min(disproof_limit, rival + beyond + 1));
        children_.resize(end);
        children_[best].value = seen;
    }
    children_.resize(first);
    store(key, value, nodes_ - nodes_before);
    return value;
}

namespace {

/// Whether a line ends in mate.
template <class G>
bool mates(G game, const std::vector<typename G::Move>& line) {
    for (const auto move : line) game.play(move);
    return !line.empty() && game.in_check() && game.count_moves() == 0;
}

}  // namespace

template <class G>
MateVerdict MateSolver<G>::verdict(const G& game, const Limits& limits, const std::atomic<bool>* interrupt) {
    return look(game, limits, interrupt, false).verdict;
}

template <class G>
MateResult<G> MateSolver<G>::solve(const G& game, const Limits& limits, const std::atomic<bool>* interrupt) {
    return look(game, limits, interrupt, true);
}

template <class G>
MateResult<G> MateSolver<G>::look(const G& game, const Limits& limits, const std::atomic<bool>* interrupt,
                                  bool with_line) {
    max_steps_ = static_cast<std::size_t>(settings_.max_plies) / 2 + 1;
    stop_ = Stop({.nodes = limits.nodes, .time_s = limits.time_s}, interrupt);
    nodes_ = 0;
    MateResult<G> result;
    if (game.outcome()) {
        result.verdict = MateVerdict::no_mate;
        return result;
    }
    generation_ = static_cast<std::uint8_t>(generation_ % 255 + 1);
    attacker_ = game.to_play();
    salt_ = salt_of(game);
    path_.clear();
    children_.clear();
    const G root = game.movement_only();
    const Value value = attack(root, key_of(root), infinite, infinite);
    if (value.is_mate() && !with_line) {
        result.verdict = MateVerdict::mate;
        result.time_s = stop_.elapsed_s();
    } else if (value.is_mate()) {
        result.verdict = MateVerdict::mate;
        double time_s = 0;
        if (limits.time_s > 0) time_s = std::max(limits.time_s - stop_.elapsed_s(), 1e-3);
        const double spent_s = stop_.elapsed_s();
        stop_ = Stop({.time_s = time_s}, interrupt);
        result.line = read_line(root);
        if (!mates(root, result.line) && !stop_.look()) {
            // A proof that has left the table may have been found again by way of positions that rest on it. Once more,
            // with nothing known.
            clear();
            if (attack(root, key_of(root), infinite, infinite).is_mate()) result.line = read_line(root);
        }
        result.time_s = spent_s + stop_.elapsed_s();
    } else {
        if (value.is_refuted() && !value.repeats) result.verdict = MateVerdict::no_mate;
        result.time_s = stop_.elapsed_s();
    }
    result.nodes = nodes_;
    return result;
}

/// The first move of a mate in at most `plies`, by trying.
template <class G>
std::optional<typename G::Move> MateSolver<G>::mate_within(const G& game, const Key& key, int plies) {
    ++nodes_;
    for (const Move check : game.checking_moves()) {
        G after = game;
        after.play(check);
        if (plies == 1) {
            if (after.count_moves() == 0) return check;
            continue;
        }
        const Key after_key = key_after(game, key, check);
        const auto answers = after.legal_moves();
        const bool mates = std::all_of(answers.begin(), answers.end(), [&](const Move answer) {
            const Key answer_key = key_after(after, after_key, answer);
            const Value known = look_up(answer_key);
            if (known.is_refuted() && !known.repeats) return false;
            if (known.is_mate() && known.distance <= plies - 2) return true;
            if (stop_.reached(nodes_)) return false;
            G next = after;
            next.play(answer);
            return mate_within(next, answer_key, plies - 2).has_value();
        });
        if (mates) return check;
    }
    return std::nullopt;
}

/// A position proven to be a mate: what is still in the table is looked up, what is not is proven again.
template <class G>
typename MateSolver<G>::Value MateSolver<G>::known_mate(const G& game) {
    const Key key = key_of(game);
    Value value = attack(game, key, infinite, infinite);
    if (!value.is_mate()) return value;
    for (int plies = 1; plies <= settings_.refined_plies && plies < value.distance; plies += 2)
        if (const auto move = mate_within(game, key, plies)) {
            value.move = *move;
            value.distance = static_cast<std::uint16_t>(plies);
        }
    return value;
}

template <class G>
std::vector<typename G::Move> MateSolver<G>::read_line(G game) {
    std::vector<Move> line;
    std::vector<Key> met;
    Value value = known_mate(game);
    while (value.is_mate() && line.size() < static_cast<std::size_t>(settings_.max_plies)) {
        if (std::find(met.begin(), met.end(), key_of(game)) != met.end()) return line;
        met.push_back(key_of(game));
        line.push_back(value.move);
        game.play(value.move);
        Value longest;
        Move answer;
        for (const Move move : game.legal_moves()) {
            G after = game;
            after.play(move);
            const Value seen = known_mate(after);
            if (!seen.is_mate()) return line;
            if (seen.distance <= longest.distance) continue;
            longest = seen;
            answer = move;
        }
        value = longest;
        if (!value.is_mate()) break;
        line.push_back(answer);
        game.play(answer);
    }
    return line;
}

template class MateSolver<Shogi>;
template class MateSolver<Chess>;
template std::optional<Shogi::Move> mate_in_one(const Shogi&);
template std::optional<Chess::Move> mate_in_one(const Chess&);

}  // namespace hyoka::search
