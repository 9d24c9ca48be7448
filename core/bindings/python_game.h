// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings/bind_game.h"

namespace hyoka::bindings {

/// A game written in Python, as the searches see it. Every call needs the interpreter's lock.
///
/// The Python class is an immutable value with `to_play`, `outcome`, `legal_moves` and `play(move)`; a move is an
/// integer below 65536 or has such a `code`. `score`, `text` and `hash` are used where it has them.
class PythonGame {
public:
    static constexpr std::size_t max_moves = 4096;
    static constexpr int playout_limit = 10'000;  // a game that never ends must not hang a search

    struct Move {
        std::uint16_t number = 0;
        std::uint32_t code() const { return number; }
        static constexpr std::uint32_t code_count = 1 << 16;
        static Move from_code(std::uint32_t code) { return {static_cast<std::uint16_t>(code)}; }
        std::string text() const { return std::to_string(number); }
        friend bool operator==(const Move&, const Move&) = default;
    };
    using Undo = PythonGame;

    PythonGame() = default;
    explicit PythonGame(nb::object position) : position_(std::move(position)) {}

    const nb::object& position() const { return position_; }
    Player to_play() const { return cast<Player>("to_play", "a hyoka.Player"); }
    std::optional<Outcome> outcome() const {
        const nb::object outcome = position_.attr("outcome");
        if (outcome.is_none()) return std::nullopt;
        return cast<Outcome>("outcome", "a hyoka.Outcome, or None while the game goes on");
    }
    double score() const {
        if (nb::hasattr(position_, "score")) return cast<double>("score", "a number");
        const auto over = outcome();
        return over ? static_cast<double>(over->result) : 0;
    }
    Moves<PythonGame> legal_moves() const {
        Moves<PythonGame> moves;
        for (const auto& [number, object] : listing()) moves.push_back({number});
        return moves;
    }
    std::size_t count_moves() const { return listing().size(); }
    bool is_legal(Move move) const { return find(move) != nullptr; }
    std::optional<Move> random_move(Rng& rng) const { return draw_move(*this, rng); }
    void play(Move move) {
        const nb::object* object = find(move);
        if (!object) throw IllegalMoveError("illegal move " + move.text() + " in " + text());
        *this = PythonGame(position_.attr("play")(*object));
    }
    Undo play_undoable(Move move) {
        const Undo before = *this;
        play(move);
        return before;
    }
    void undo(const Undo& before) { *this = before; }
    std::uint64_t hash() const {
        const Py_hash_t hash = nb::hasattr(position_, "hash") ? nb::hash(position_.attr("hash")) : nb::hash(position_);
        return split_mix(static_cast<std::uint64_t>(hash));
    }
    std::string text() const { return nb::cast<std::string>(nb::str(position_)); }
    static PythonGame from_text(std::string_view) {
        throw NotationError("a game written in Python is not read from text here");
    }
    Move parse_move(std::string_view text) const {
        throw NotationError("a move of a game written in Python is not read from text here: " + std::string(text));
    }
    std::vector<std::int8_t> cells() const { return {}; }
    void check_consistency() const {}

    /// The Python object of a legal move.
    nb::object move_object(Move move) const {
        const nb::object* object = find(move);
        return object ? *object : nb::none();
    }
    Move move_of(nb::handle object) const {
        std::int64_t code = -1;
        if (nb::hasattr(object, "code"))
            nb::try_cast(nb::object(object.attr("code")), code);
        else
            nb::try_cast(object, code);
        if (code < 0 || code >= Move::code_count)
            throw NotationError("a move must be an integer from 0 to 65535 or have such a code, not " +
                                nb::cast<std::string>(nb::repr(object)));
        return {static_cast<std::uint16_t>(code)};
    }

    friend bool operator==(const PythonGame& a, const PythonGame& b) {
        return a.position_.is(b.position_) || (a.position_ && b.position_ && a.position_.equal(b.position_));
    }

private:
    using Listing = std::vector<std::pair<std::uint16_t, nb::object>>;

    /// The legal moves, asked for once.
    const Listing& listing() const {
        if (!listing_) {
            auto found = std::make_shared<Listing>();
            if (outcome()) {
                listing_ = std::move(found);
                return *listing_;
            }
            for (const nb::handle move : nb::iter(position_.attr("legal_moves"))) {
                if (found->size() == max_moves) throw NotationError("a position has more than 4096 legal moves");
                found->emplace_back(move_of(move).number, nb::borrow(move));
            }
            if (found->empty()) throw NotationError("no legal moves, but no outcome either: " + text());
            listing_ = std::move(found);
        }
        return *listing_;
    }
    const nb::object* find(Move move) const {
        for (const auto& [number, object] : listing())
            if (number == move.number) return &object;
        return nullptr;
    }

    template <class T>
    T cast(const char* name, const char* expected) const {
        try {
            return nb::cast<T>(position_.attr(name));
        } catch (const nb::cast_error&) {
            throw NotationError(std::string("a game's ") + name + " must be " + expected + ", not " +
                                nb::cast<std::string>(nb::repr(position_.attr(name))));
        }
    }

    nb::object position_;
    mutable std::shared_ptr<const Listing> listing_;
};

}  // namespace hyoka::bindings
