// SPDX-License-Identifier: Apache-2.0
#include "games/blokus_duo_placements.h"

#include <algorithm>
#include <map>

namespace hyoka::blokus {
namespace {

struct Cell {
    int x;
    int y;  // downwards
    friend auto operator<=>(const Cell&, const Cell&) = default;
};
using Shape = std::vector<Cell>;

/// Pieces a to u in rotation 0, about the point that the 4-character code names.
const std::array<Shape, piece_count> base_shapes = {{
    {{0, 0}},
    {{0, 0}, {0, 1}},
    {{0, -1}, {0, 0}, {0, 1}},
    {{0, -1}, {0, 0}, {1, 0}},
    {{0, -1}, {0, 0}, {0, 1}, {0, 2}},
    {{-1, 1}, {0, -1}, {0, 0}, {0, 1}},
    {{0, -1}, {0, 0}, {0, 1}, {1, 0}},
    {{0, 0}, {0, 1}, {1, 0}, {1, 1}},
    {{-1, 0}, {0, 0}, {0, 1}, {1, 1}},
    {{0, -2}, {0, -1}, {0, 0}, {0, 1}, {0, 2}},
    {{-1, 1}, {0, -2}, {0, -1}, {0, 0}, {0, 1}},
    {{-1, 0}, {-1, 1}, {0, -2}, {0, -1}, {0, 0}},
    {{-1, 0}, {-1, 1}, {0, -1}, {0, 0}, {0, 1}},
    {{-1, -1}, {-1, 1}, {0, -1}, {0, 0}, {0, 1}},
    {{0, -1}, {0, 0}, {0, 1}, {0, 2}, {1, 0}},
    {{-1, 1}, {0, -1}, {0, 0}, {0, 1}, {1, 1}},
    {{0, -2}, {0, -1}, {0, 0}, {1, 0}, {2, 0}},
    {{-1, -1}, {0, -1}, {0, 0}, {1, 0}, {1, 1}},
    {{-1, -1}, {-1, 0}, {0, 0}, {1, 0}, {1, 1}},
    {{-1, -1}, {-1, 0}, {0, 0}, {0, 1}, {1, 0}},
    {{-1, 0}, {0, -1}, {0, 0}, {0, 1}, {1, 0}},
}};

/// Rotation r turns a shape r / 2 quarters clockwise and mirrors it left to right if r is odd.
Shape rotated(Shape shape, int rotation) {
    for (auto& cell : shape) {
        for (int quarter = 0; quarter < rotation / 2; ++quarter) cell = {-cell.y, cell.x};
        if (rotation % 2) cell.x = -cell.x;
    }
    std::sort(shape.begin(), shape.end());
    return shape;
}

bool on_board(int x, int y) { return x >= 0 && x < size && y >= 0 && y < size; }

}  // namespace

int PlacementTable::find(const SquareSet& cells) const {
    if (cells.empty() || cells.count() > 5) return -1;
    int square = 0;
    while (!cells.contains(square)) ++square;
    for (int piece = 0; piece < piece_count; ++piece)
        for (const int id : covering(square, 0, piece))
            if (cells_[static_cast<std::size_t>(id)] == cells) return id;
    return -1;
}

int PlacementTable::find(int piece, int rotation, int column, int row) const {
    SquareSet cells;
    for (const auto& [x, y] : rotated(base_shapes[static_cast<std::size_t>(piece)], rotation)) {
        if (!on_board(column + x, row + y)) return -1;
        cells.add((row + y) * size + column + x);
    }
    return find(cells);
}

PlacementTable::PlacementTable() {
    for (int piece = 0; piece < piece_count; ++piece) {
        std::vector<Shape> seen;
        for (int rotation = 0; rotation < 8; ++rotation) {
            const Shape shape = rotated(base_shapes[static_cast<std::size_t>(piece)], rotation);
            // Orientations that differ by a shift are the same: compare them from their first square.
            Shape normal = shape;
            for (auto& cell : normal) cell = {cell.x - shape[0].x, cell.y - shape[0].y};
            if (std::find(seen.begin(), seen.end(), normal) != seen.end()) continue;
            seen.push_back(normal);
            for (int row = 0; row < size; ++row) {
                for (int column = 0; column < size; ++column) {
                    SquareSet cells;
                    bool fits = true;
                    for (const auto& [x, y] : shape) fits &= on_board(column + x, row + y);
                    if (!fits) continue;
                    for (const auto& [x, y] : shape) cells.add((row + y) * size + column + x);
                    Placement placement{};
                    for (const auto& [x, y] : shape) {
                        for (const int d : {-1, 1}) {
                            if (on_board(column + x + d, row + y))
                                placement.edges.add((row + y) * size + column + x + d);
                            if (on_board(column + x, row + y + d))
                                placement.edges.add((row + y + d) * size + column + x);
                            for (const int e : {-1, 1})
                                if (on_board(column + x + d, row + y + e))
                                    placement.corners.add((row + y + e) * size + column + x + d);
                        }
                    }
                    placement.edges = placement.edges - cells;
                    placement.corners = placement.corners - cells - placement.edges;
                    placement.piece = static_cast<std::uint8_t>(piece);
                    placement.rotation = static_cast<std::uint8_t>(rotation);
                    placement.anchor = static_cast<std::uint8_t>(row * size + column);
                    cells_.push_back(cells);
                    placements_.push_back(placement);
                }
            }
        }
    }

    // The lists by covered square, closed neighbors and piece.
    std::array<std::vector<std::uint16_t>, area> by_square;
    for (std::size_t id = 0; id < cells_.size(); ++id)
        for_each_square(cells_[id], [&](int square) {
            by_square[static_cast<std::size_t>(square)].push_back(static_cast<std::uint16_t>(id));
        });
    for (int square = 0; square < area; ++square) {
        const auto& all = by_square[static_cast<std::size_t>(square)];
        for (unsigned closed = 0; closed < 16; ++closed) {
            SquareSet forbidden;
            if (closed & 1 && square >= size) forbidden.add(square - size);
            if (closed & 2 && square % size > 0) forbidden.add(square - 1);
            if (closed & 4 && square % size < size - 1) forbidden.add(square + 1);
            if (closed & 8 && square < area - size) forbidden.add(square + size);
            auto next = all.begin();
            for (int piece = 0; piece < piece_count; ++piece) {
                starts_.push_back(static_cast<std::uint32_t>(lists_.size()));
                for (; next != all.end() && placements_[*next].piece == piece; ++next)
                    if (!cells_[*next].intersects(forbidden)) lists_.push_back(*next);
            }
        }
    }
    starts_.push_back(static_cast<std::uint32_t>(lists_.size()));

    std::map<std::array<std::uint64_t, 4>, std::uint16_t> ids;
    for (std::size_t id = 0; id < cells_.size(); ++id) ids[cells_[id].words] = static_cast<std::uint16_t>(id);
    for (std::size_t id = 0; id < cells_.size(); ++id) {
        SquareSet flipped;
        for_each_square(cells_[id], [&](int square) { flipped.add(square % size * size + square / size); });
        placements_[id].transposed = ids.at(flipped.words);
    }
}

const PlacementTable& placements() {
    static const PlacementTable table;
    return table;
}

}  // namespace hyoka::blokus
