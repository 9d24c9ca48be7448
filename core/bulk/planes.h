// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bulk/walk.h"

namespace hyoka::bulk {

/// The planes of one position: each a small number a cell of the board, cells in the order of G::cells().
class PlaneWriter {
public:
    PlaneWriter(std::span<std::uint8_t> planes, std::size_t cells) : planes_(planes), cells_(cells) {}
    void set(std::size_t plane, std::size_t cell) { planes_[plane * cells_ + cell] = 1; }
    void fill(std::size_t plane, int number) {
        std::fill_n(planes_.begin() + static_cast<std::ptrdiff_t>(plane * cells_), cells_,
                    static_cast<std::uint8_t>(number));
    }

private:
    std::span<std::uint8_t> planes_;
    std::size_t cells_;
};

/// The kinds of pieces that G::cells() tells apart, 1, 2, ...
template <class G>
inline constexpr std::array<std::string_view, 1> cell_kinds = {"piece"};
template <>
inline constexpr std::array<std::string_view, 6> cell_kinds<Chess> = {"pawn", "knight", "bishop",
                                                                      "rook", "queen",  "king"};
template <>
inline constexpr std::array<std::string_view, 14> cell_kinds<Shogi> = {
    "pawn", "lance",         "knight",         "silver",          "bishop",          "rook",  "gold",
    "king", "promoted_pawn", "promoted_lance", "promoted_knight", "promoted_silver", "horse", "dragon"};

/// State of a position other than its cells and the side to move. Games with such state specialize it.
template <class G>
struct BesideCells {
    static std::vector<std::string> names() { return {}; }
    /// Into the planes from number `plane` on, which are zero.
    static void write(const G&, std::size_t, PlaneWriter&) {}
};

inline constexpr std::array<std::string_view, 2> player_names = {"first", "second"};
inline constexpr std::array players = {Player::first, Player::second};

template <>
struct BesideCells<Chess> {
    static std::vector<std::string> names() { return {"castling_rooks", "en_passant"}; }
    static void write(const Chess& game, std::size_t plane, PlaneWriter& planes) {
        const auto cell = [](int square) { return static_cast<std::size_t>(8 * (7 - square / 8) + square % 8); };
        for (const Player player : players)
            for_each_bit(game.castling_rooks(player), [&](int square) { planes.set(plane, cell(square)); });
        for (const auto move : game.noisy_moves())
            if (move.type() == Chess::Move::Type::en_passant) planes.set(plane + 1, cell(move.to()));
    }
};

template <>
struct BesideCells<Shogi> {
    static constexpr int hand_kinds = 7;
    static std::vector<std::string> names() {
        std::vector<std::string> names;
        for (const auto player : player_names)
            for (std::size_t kind = 0; kind < hand_kinds; ++kind)
                names.push_back(std::string(player) + "_" + std::string(cell_kinds<Shogi>[kind]) + "s_in_hand");
        return names;
    }
    static void write(const Shogi& game, std::size_t plane, PlaneWriter& planes) {
        for (const Player player : players)
            for (int kind = 1; kind <= hand_kinds; ++kind)
                planes.fill(plane++, game.in_hand(player, static_cast<Shogi::Kind>(kind)));
    }
};

template <int N>
struct BesideCells<Go<N>> {
    static std::vector<std::string> names() { return {"ko"}; }
    static void write(const Go<N>& game, std::size_t plane, PlaneWriter& planes) {
        if (const auto ko = game.ko(); ko != Go<N>::Move::pass()) planes.set(plane, ko.point);
    }
};

template <>
struct BesideCells<BlokusDuo> {
    static std::vector<std::string> names() {
        std::vector<std::string> names;
        for (const auto player : player_names)
            for (int piece = 0; piece < blokus::piece_count; ++piece)
                names.push_back(std::string(player) + "_has_" + static_cast<char>('a' + piece));
        return names;
    }
    static void write(const BlokusDuo& game, std::size_t plane, PlaneWriter& planes) {
        for (const Player player : players)
            for (int piece = 0; piece < blokus::piece_count; ++piece)
                planes.fill(plane++, game.pieces_left(player) >> piece & 1);
    }
};

template <class G>
std::vector<std::string> plane_names_of() {
    std::vector<std::string> names;
    for (const auto player : player_names)
        for (const auto kind : cell_kinds<G>) names.push_back(std::string(player) + "_" + std::string(kind));
    for (std::string& name : BesideCells<G>::names()) names.push_back(std::move(name));
    names.emplace_back("first_to_play");
    return names;
}

template <class G>
class PlaneVisitor final : public Visitor<G> {
public:
    explicit PlaneVisitor(PlanePass& pass) : pass_(pass) {}
    void start_block(std::size_t block) override { legal_ = pass_.parts.empty() ? nullptr : &pass_.parts[block]; }
    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        const G game = at.open_position();
        const std::vector<std::int8_t> cells = game.cells();
        const std::size_t planes = pass_.shape[1];
        const std::size_t size = planes * cells.size();
        PlaneWriter writer(std::span(pass_.planes).subspan(row * size, size), cells.size());
        constexpr std::size_t kinds = cell_kinds<G>.size();
        for (std::size_t cell = 0; cell < cells.size(); ++cell) {
            if (cells[cell] > 0) writer.set(static_cast<std::size_t>(cells[cell] - 1), cell);
            if (cells[cell] < 0) writer.set(kinds + static_cast<std::size_t>(-cells[cell] - 1), cell);
        }
        BesideCells<G>::write(game, 2 * kinds, writer);
        writer.fill(planes - 1, game.to_play() == Player::first);
        const auto next = at.next();
        pass_.played[row] = next ? static_cast<std::int32_t>(next->code()) : -1;
        if (!legal_) return;
        for (const auto move : game.legal_moves()) legal_->items.push_back(static_cast<std::uint16_t>(move.code()));
        legal_->end_row();
    }

private:
    PlanePass& pass_;
    Lists<std::uint16_t>* legal_ = nullptr;
};

}  // namespace hyoka::bulk
