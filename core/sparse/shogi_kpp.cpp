// SPDX-License-Identifier: Apache-2.0
#include "sparse/shogi_kpp.h"

namespace hyoka::sparse {

using namespace shogi_pieces;

std::vector<float> ShogiKpp::starting() {
    std::vector<float> weights(count());
    std::ranges::copy(starting_values(), weights.begin());
    return weights;
}

ShogiKpp::Table::Table(std::span<const float> weights)
    : shogi_pieces::Table<Table>(weights), kkp_(king_places * 81 * places), kpp_(king_places * places * places) {
    for (std::size_t king = 0; king < king_places; ++king) {
        const View view(static_cast<int>(king));
        for (std::size_t enemy = 0; enemy < 81; ++enemy)
            for (std::size_t place = 0; place < places; ++place)
                kkp_[(king * 81 + enemy) * places + place] = to_int16_steps(weights[kkp(view, enemy, place)]);
        std::int16_t* const rows = &kpp_[king * places * places];
        for (std::size_t one = 0; one < places; ++one)
            for (std::size_t other = 0; other <= one; ++other)
                rows[one * places + other] = rows[other * places + one] =
                    to_int16_steps(weights[kpp(view, one, other)]);
    }
}

template <bool blacks>
int ShogiKpp::Table::pairs_with(int king, Piece piece, const Piece* begin, const Piece* end) const {
    const View view(king);
    const std::int16_t* const row =
        &kpp_[(view.king * places + view.place(blacks ? piece.black : piece.white)) * places];
    int sum = 0;
    for (const Piece* other = begin; other != end; ++other)
        sum += row[view.place(blacks ? other->black : other->white)];
    return sum;
}

void ShogiKpp::Table::change(Kept& kept, Piece piece, int sign) const {
    const auto [black, white] = kept.kings;
    if (black >= 0) kept.sums[0] += sign * pairs_with<true>(black, piece, kept.pieces.begin(), kept.pieces.end());
    if (white >= 0)
        kept.sums[1] -= sign * pairs_with<false>(turned(white), piece, kept.pieces.begin(), kept.pieces.end());
    if (black < 0 || white < 0) return;
    const View blacks(black);
    const View whites(turned(white));
    kept.sums[2] +=
        sign * (kkp_[(blacks.king * 81 + blacks.square(white)) * places + blacks.place(piece.black)] -
                kkp_[(whites.king * 81 + whites.square(turned(black))) * places + whites.place(piece.white)]);
}

void ShogiKpp::Table::move_kings(Kept& kept, bool black_moved, bool white_moved) const {
    const auto [black, white] = kept.kings;
    const Piece* const begin = kept.pieces.begin();
    const Piece* const end = kept.pieces.end();
    if (black_moved) {
        kept.sums[0] = 0;
        if (black >= 0)
            for (const Piece* piece = begin; piece != end; ++piece)
                kept.sums[0] += pairs_with<true>(black, *piece, begin, piece);
    }
    if (white_moved) {
        kept.sums[1] = 0;
        if (white >= 0)
            for (const Piece* piece = begin; piece != end; ++piece)
                kept.sums[1] -= pairs_with<false>(turned(white), *piece, begin, piece);
    }
    kept.sums[2] = 0;
    if (black < 0 || white < 0) return;
    const View blacks(black);
    const View whites(turned(white));
    const std::int16_t* const blacks_row = &kkp_[(blacks.king * 81 + blacks.square(white)) * places];
    const std::int16_t* const whites_row = &kkp_[(whites.king * 81 + whites.square(turned(black))) * places];
    for (const Piece piece : kept.pieces)
        kept.sums[2] += blacks_row[blacks.place(piece.black)] - whites_row[whites.place(piece.white)];
}

}  // namespace hyoka::sparse
