// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hyoka::evaluation {

/// Weight of a term at the start and at the end of a game, interpolated by the game's progress.
struct Weight {
    float opening = 0;
    float ending = 0;
    friend bool operator==(const Weight&, const Weight&) = default;
};

/// A term of an evaluation that is linear in its weights.
struct Term {
    std::string name;
    Weight weight;  // by default
};

/// Terms of an evaluation of G. For each game there is a specialization with
///
///     static const std::vector<Term>& all();         // names and default weights; the weights' order
///     static constexpr std::string_view unit;        // of the score: "centipawns" or "points"
///     static constexpr double scale;                 // score s: the first player wins with 1 / (1 + exp(-s / scale))
///     template <class Sink>
///     static void count(const G& game, Sink& sink);  // what the first player has more than the second
///
/// `count` calls sink.set_progress(p), 0 at the start of a game and 1 at its end, and sink.add(term, amount) or
/// sink.add_each(amount, terms...) any number of times; what costs much and isn't sink.wants(term) it may leave out.
/// The same code sums a score and fills a vector of terms, so that the two cannot disagree. It is defined in the game's
/// .cpp and instantiated there for both sinks.
template <class G>
struct Terms;

/// Sums amounts times weights.
class ScoreSink {
public:
    explicit ScoreSink(const Weight* weights) : weights_(weights) {}
    void set_progress(float progress) { progress_ = progress; }
    bool wants(std::size_t term) const { return weights_[term] != Weight{}; }
    void add(std::size_t term, float amount) {
        opening_ += weights_[term].opening * amount;
        ending_ += weights_[term].ending * amount;
    }
    /// The same amount of several terms. Faster than one by one, since each sum waits for the one before.
    template <class... Indices>
    void add_each(float amount, Indices... terms) {
        opening_ += (... + weights_[terms].opening) * amount;
        ending_ += (... + weights_[terms].ending) * amount;
    }
    float score() const { return opening_ + (ending_ - opening_) * progress_; }
    float progress() const { return progress_; }

private:
    const Weight* weights_;
    float progress_ = 0;
    float opening_ = 0;
    float ending_ = 0;
};

/// Collects the amounts.
class VectorSink {
public:
    explicit VectorSink(std::span<float> amounts) : amounts_(amounts) {}
    void set_progress(float progress) { progress_ = progress; }
    bool wants(std::size_t) const { return true; }
    void add(std::size_t term, float amount) { amounts_[term] += amount; }
    template <class... Indices>
    void add_each(float amount, Indices... terms) {
        (add(terms, amount), ...);
    }
    float progress() const { return progress_; }

private:
    std::span<float> amounts_;
    float progress_ = 0;
};

/// An evaluation of G as a sum of weighted terms, from the first player's view.
template <class G>
class LinearEvaluation {
public:
    /// With the default weights.
    LinearEvaluation() {
        for (const Term& term : Terms<G>::all()) weights_.push_back(term.weight);
    }
    /// Pre: one weight a term.
    explicit LinearEvaluation(std::vector<Weight> weights) : weights_(std::move(weights)) {
        assert(weights_.size() == Terms<G>::all().size());
    }

    /// In the terms' unit.
    int score(const G& game) const {
        ScoreSink sink(weights_.data());
        Terms<G>::count(game, sink);
        return static_cast<int>(std::lround(sink.score()));
    }
    const std::vector<Weight>& weights() const { return weights_; }

private:
    std::vector<Weight> weights_;
};

}  // namespace hyoka::evaluation
