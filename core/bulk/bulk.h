// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bulk/game_table.h"
#include "bulk/rows.h"
#include "mets/top.h"
#include "mets/tree.h"
#include "model.h"
#include "strengths/competitions.h"
#include "strengths/go_shapes.h"

namespace hyoka::bulk {

template <class G>
class Visitor;

/// How a pass is run, and how far it is.
struct Running {
    unsigned threads = 1;
    std::atomic<bool> stop = false;     // raised from another thread: ends soon, rows left undone
    std::atomic<std::size_t> done = 0;  // rows
};

// A pass is where its results go, and what a thread does with the positions that it comes to: `visitor`. Passes whose
// rows are of any length have a part of the result a block.

/// Columns that describe positions, and who is to play.
struct ColumnPass {
    std::vector<std::size_t> wanted;                 // columns, by number
    std::vector<std::vector<std::int16_t>> columns;  // of those, a cell a row
    std::vector<std::uint8_t> first_to_play;

    ColumnPass(std::vector<std::size_t> which, std::size_t rows)
        : wanted(std::move(which)), columns(wanted.size(), std::vector<std::int16_t>(rows)), first_to_play(rows) {}
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// Facts about single positions by the rules.
struct OutcomePass {
    static constexpr std::int8_t unfinished = 2;
    std::vector<std::int8_t> results;  // by row: 1, 0, -1, or unfinished

    explicit OutcomePass(std::size_t rows) : results(rows) {}
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// Amounts of an evaluation's terms.
struct TermRows {
    SparseRows amounts;  // by term
    std::vector<float> progress;
};
struct TermPass {
    std::vector<TermRows> parts;

    explicit TermPass(std::size_t blocks) : parts(blocks) {}
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// Where quiescence searches come to rest that evaluate by given weights.
struct QuietRows {
    TermRows terms;                    // of the last position
    std::vector<std::int32_t> scores;  // what the search says, for the first player
    std::vector<std::uint8_t> rests;   // whether that is the last position's evaluation: no mate, no draw by rule
    Lists<std::uint16_t> moves;        // to the last position
};
struct QuietPass {
    std::vector<float> weights;  // opening and ending of each term in turn
    std::vector<QuietRows> parts;

    QuietPass(std::vector<float> flat, std::size_t blocks) : weights(std::move(flat)), parts(blocks) {}
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// The legal moves of positions and what each has to it: what strengths are learned from.
struct MoveFeatureRows {
    Lists<std::uint16_t> moves;        // by position: codes of what the rules allow, superko aside
    Lists<std::uint16_t> features;     // by move, all positions' moves in a row
    std::vector<std::int32_t> played;  // by position: which of its moves the record has; -1: none
};
struct MoveFeaturePass {
    std::vector<MoveFeatureRows> parts;

    explicit MoveFeaturePass(std::size_t blocks) : parts(blocks) {}
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// The same as competitions between teams of features, small enough for many games.
struct CompetitionPass {
    const GameTable& games;
    std::shared_ptr<const strengths::GoShapes> shapes;  // may be null; of Go alone
    strengths::Competitions found;

    CompetitionPass(const GameTable& table, std::size_t blocks, std::shared_ptr<const strengths::GoShapes> learned);
    /// The place of a row's game in the table.
    std::uint32_t game_of(std::size_t row) const;
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// The shapes of stones around the moves played: which of them are met often. Go alone.
struct ShapePass {
    static constexpr std::size_t packed_bytes = (strengths::shape_point_count + 3) / 4;
    std::vector<std::uint64_t> hashes;  // by row and size, the same for all likenesses; 0 where no point is played
    std::vector<std::uint8_t> packed;   // by row: the states of the points, two bits each

    explicit ShapePass(std::size_t rows) : hashes(rows * strengths::shape_sizes), packed(rows * packed_bytes) {}
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// Boards and the moves played on them: what METS grows from. Games whose moves are points only.
struct PatternPass {
    int side;
    std::vector<std::uint8_t> boards;  // mets::Patterns::bytes_of(side) each
    std::vector<std::int16_t> points;  // -1: no move, or none that is a point
    std::vector<std::uint8_t> movers;
    // What tactics say of the moves, if asked for, and a sample of other points too, of every `stride`th position.
    std::vector<mets::Answers> answers;
    mets::Sample sample;
    std::size_t stride = 1;

    /// Throws std::invalid_argument if the game is not fit for it.
    PatternPass(const GameTable& games, bool with_tactics);
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// How often the empty points that come to each leaf of a tree were the move played.
struct LeafCountPass {
    const mets::Tree& tree;
    std::vector<mets::Leaf> leaves;
    std::mutex mutex;  // threads add what they counted at their end

    explicit LeafCountPass(const mets::Tree& grown) : tree(grown), leaves(grown.leaves().size()) {}
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// How high a move model puts the moves that were played.
struct PredictionPass {
    std::shared_ptr<Model> model;       // a MoveModel<G>
    std::vector<std::int32_t> ranks;    // by row: 1 for the best; 0: no move, or none that is legal
    std::vector<std::int32_t> choices;  // legal moves
    std::vector<float> losses;          // -log of the chance that the strengths give to the move
    std::vector<float> entropies;       // of all those chances: how unsure the model is, in nats

    PredictionPass(std::shared_ptr<Model> given, std::size_t rows)
        : model(std::move(given)),
          ranks(rows),
          choices(rows),
          losses(rows, std::numeric_limits<float>::quiet_NaN()),
          entropies(rows, std::numeric_limits<float>::quiet_NaN()) {}
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// How strong a move model finds each legal move.
struct WeighingRows {
    Lists<float> strengths;            // by position
    std::vector<std::int32_t> played;  // by position: which of its moves the record has; -1: none
};
struct WeighingPass {
    std::shared_ptr<Model> model;  // a MoveModel<G>
    std::vector<WeighingRows> parts;

    WeighingPass(std::shared_ptr<Model> given, std::size_t blocks) : model(std::move(given)), parts(blocks) {}
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// Training examples of a network: positions as planes, the moves played in them and, if asked for, the legal ones.
struct PlanePass {
    std::array<std::size_t, 3> shape;         // rows, planes, cells
    std::vector<std::uint8_t> planes;         // by row, plane and cell
    std::vector<std::int32_t> played;         // by row: the code of the record's move; -1: none
    std::vector<Lists<std::uint16_t>> parts;  // codes of the legal moves, superko aside; empty if nobody asked

    PlanePass(const GameTable& games, std::size_t blocks, bool with_legal);
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// Positions as networks of hyoka::network see them, and what they are to say of moves there.
struct NetworkPass {
    std::span<const std::int64_t> target_offsets;  // by row: codes of moves, in the mover's view
    std::span<const std::uint16_t> target_codes;
    std::uint64_t seed;  // turns each position one way that the rules don't mind, and tells last moves of every other
    std::size_t input_bytes;
    std::size_t code_bytes;
    std::vector<std::uint8_t> inputs;  // a bit an input
    std::vector<std::uint8_t> legal;   // a bit a code
    std::vector<std::uint16_t> targets;
    std::vector<std::uint8_t> first_to_play;

    /// Throws std::invalid_argument if there are not as many targets as rows.
    NetworkPass(const GameTable& games, std::span<const std::int64_t> offsets, std::span<const std::uint16_t> codes,
                std::uint64_t seed, bool with_legal);
    template <class G>
    std::unique_ptr<Visitor<G>> visitor(const Running& running);
};

/// The pieces of either player by kind, what is beside the board, and last whether the first player is to move.
std::vector<std::string> plane_names(GameKind game);

using Pass =
    std::variant<ColumnPass*, OutcomePass*, TermPass*, QuietPass*, MoveFeaturePass*, CompetitionPass*, ShapePass*,
                 PatternPass*, LeafCountPass*, PredictionPass*, WeighingPass*, PlanePass*, NetworkPass*>;  // not null

/// Walks all games, each once, shared among threads. What is found does not depend on their number. Throws
/// NotationError or IllegalMoveError, which name the game, where a record is none.
void run(const Pass& pass, const GameTable& games, const std::vector<Block>& blocks, Running& running);

}  // namespace hyoka::bulk
