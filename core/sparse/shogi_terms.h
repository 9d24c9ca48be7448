// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/shogi.h"
#include "sparse/shogi_relations.h"

namespace hyoka::sparse {

/// The named terms of shogi, each with a weight for the opening and one for the ending, and all relations.
struct ShogiTerms {
    using Game = Shogi;
    using Kept = shogi_pieces::Kept;
    using Terms = evaluation::Terms<Shogi>;
    static constexpr std::string_view name = "terms";
    static constexpr std::string_view unit = Terms::unit;
    static constexpr double scale = ShogiRelations::scale;
    static std::size_t terms() { return Terms::all().size(); }
    /// The relations come after the terms, but for the values of pieces: those are terms.
    static std::size_t start() { return 2 * terms() - shogi_pieces::turn_value; }
    static std::size_t count() { return start() + ShogiRelations::count(); }
    static std::size_t anchored() { return 2 * shogi_pieces::board_values; }
    static std::vector<float> starting();
    static int distance(const Kept& kept, const Shogi& game) { return ShogiRelations::distance(kept, game); }

    template <class Sink>
    static void visit(const Shogi& game, Sink&& sink) {
        thread_local std::vector<float> amounts;
        amounts.assign(terms(), 0.0f);
        evaluation::VectorSink named(amounts);
        Terms::count(game, named);
        const float ending = named.progress();
        for (std::size_t i = 0; i < amounts.size(); ++i)
            if (amounts[i] != 0) {
                sink(2 * i, amounts[i] * (1 - ending));
                sink(2 * i + 1, amounts[i] * ending);
            }
        ShogiRelations::visit_relations(
            game, [&, first = start()](std::size_t index, float amount) { sink(first + index, amount); });
    }

    class Table {
    public:
        explicit Table(std::span<const float> weights);
        void start(Kept& kept, const Shogi& game) const { relations_.start(kept, game); }
        void follow(Kept& kept, const Shogi& game) const { relations_.follow(kept, game); }
        int score(const Kept& kept, const Shogi& game) const;

    private:
        std::vector<evaluation::Weight> terms_;
        ShogiRelations::Table relations_;
    };
};

}  // namespace hyoka::sparse
