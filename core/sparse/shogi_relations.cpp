// SPDX-License-Identifier: Apache-2.0
#include "sparse/shogi_relations.h"

namespace hyoka::sparse {
namespace {

using namespace shogi_pieces;

/// Numbers weights in the order of the smallest of those that are the same.
struct Numbering {
    using Signed = ShogiRelations::Signed;
    std::vector<Signed> with_king = std::vector<Signed>(81 * std::size_t{place_count});
    std::vector<Signed> pairs = std::vector<Signed>(std::size_t{place_count} * place_count);
    std::vector<Signed> kings = std::vector<Signed>(81 * 81);
    std::int32_t count = value_count;

    Numbering() {
        number_kings_with_pieces();
        number_pairs();
        number_kings();
    }

private:
    void number_kings_with_pieces() {
        for (int king = 0; king < 81; ++king)
            for (int place = 0; place < place_count; ++place) {
                const auto raw = at(king) * place_count + at(place);
                const auto likeness = at(mirrored(king)) * place_count + mirrored_places[at(place)];
                with_king[raw] = likeness < raw ? with_king[likeness] : ++count;
            }
    }
    /// `mirror`: the same with left and right exchanged; `turn` and `both` count for the other side.
    void number(std::vector<Signed>& table, std::size_t raw, std::size_t mirror, std::size_t turn, std::size_t both) {
        // What is its own counterpart is worth nothing to either side.
        if (turn == raw || both == raw) return;
        if (mirror < raw && mirror <= std::min(turn, both))
            table[raw] = table[mirror];
        else if (const std::size_t least = std::min(turn, both); least < raw)
            table[raw] = -table[least];
        else
            table[raw] = ++count;
    }
    static std::size_t pair(int one, int other) {
        return at(std::max(one, other)) * place_count + at(std::min(one, other));
    }
    void number_pairs() {
        for (int one = 0; one < place_count; ++one)
            for (int other = 0; other < one; ++other) {
                const int mirror_one = mirrored_places[at(one)];
                const int mirror_other = mirrored_places[at(other)];
                number(pairs, pair(one, other), pair(mirror_one, mirror_other),
                       pair(turned_places[at(one)], turned_places[at(other)]),
                       pair(turned_places[at(mirror_one)], turned_places[at(mirror_other)]));
            }
        for (int one = 0; one < place_count; ++one)
            for (int other = 0; other < one; ++other)
                pairs[at(other) * place_count + at(one)] = pairs[pair(one, other)];
    }
    void number_kings() {
        const auto both = [](int black, int white) { return at(black) * 81 + at(white); };
        for (int black = 0; black < 81; ++black)
            for (int white = 0; white < 81; ++white)
                number(kings, both(black, white), both(mirrored(black), mirrored(white)),
                       both(turned(white), turned(black)), both(mirrored(turned(white)), mirrored(turned(black))));
    }
};

const Numbering& numbering() {
    static const Numbering made;
    return made;
}

}  // namespace

std::size_t ShogiRelations::count() { return static_cast<std::size_t>(numbering().count); }

std::vector<float> ShogiRelations::starting() {
    std::vector<float> weights(count());
    std::ranges::copy(starting_values(), weights.begin());
    return weights;
}

ShogiRelations::Signed ShogiRelations::with_king(int king, int place) {
    return numbering().with_king[at(king) * place_count + at(place)];
}
ShogiRelations::Signed ShogiRelations::of_pair(int one, int other) {
    return numbering().pairs[at(one) * place_count + at(other)];
}
ShogiRelations::Signed ShogiRelations::of_kings(int black, int white) {
    return numbering().kings[at(black) * 81 + at(white)];
}

ShogiRelations::Table::Table(std::span<const float> weights) : shogi_pieces::Table<Table>(weights) {
    const auto& numbers = numbering();
    const auto in_table = [&](const std::vector<Signed>& numbered) {
        std::vector<std::int16_t> table;
        table.reserve(numbered.size());
        for (const Signed number : numbered) {
            const float weight = number ? weights[at(std::abs(number) - 1)] : 0;
            table.push_back(to_int16_steps(number < 0 ? -weight : weight));
        }
        return table;
    };
    pairs_ = in_table(numbers.pairs);
    with_king_ = in_table(numbers.with_king);
    kings_ = in_table(numbers.kings);
}

void ShogiRelations::Table::move_kings(Kept& kept, bool, bool) const {
    const auto [black, white] = kept.kings;
    int sum = 0;
    for (const Piece piece : kept.pieces) {
        if (black >= 0) sum += king_row(black)[piece.black];
        if (white >= 0) sum -= king_row(turned(white))[piece.white];
    }
    kept.sums[1] = sum;
    kept.sums[2] = black >= 0 && white >= 0 ? kings_[at(black) * 81 + at(white)] : 0;
}

}  // namespace hyoka::sparse
