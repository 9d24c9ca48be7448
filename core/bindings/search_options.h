// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/bind_game.h"
#include "search/leaves.h"

namespace hyoka::bindings {

/// A Python object that threads without the interpreter's lock may pass around: only its last owner needs the lock.
class SharedObject {
public:
    SharedObject() = default;
    explicit SharedObject(nb::object object)
        : object_(new nb::object(std::move(object)), [](nb::object* held) {
              nb::gil_scoped_acquire acquired;
              delete held;
          }) {}
    explicit operator bool() const { return object_ && !object_->is_none(); }
    /// Pre: the lock is held.
    const nb::object& get() const { return *object_; }

private:
    std::shared_ptr<nb::object> object_;
};

/// Marks a search as running; a second one on the same object, from another thread, is refused.
class Busy {
public:
    explicit Busy(std::atomic<bool>& running) : running_(running) {
        if (running_.exchange(true)) throw std::runtime_error("this search is running already");
    }
    ~Busy() { running_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    std::atomic<bool>& running_;
};

/// Whoever holds it may end a search that was given it, from any thread.
struct StopFlag {
    std::atomic<bool> raised{false};
};

/// What a static evaluation is made from.
struct EvaluationOptions {
    std::vector<float> weights;  // opening and ending of each term in turn; empty: the defaults
    SharedObject python;         // positions → values (0 to 1) or scores, for the first player; instead of weights
    double scale = 0;            // a score s is worth 1 / (1 + exp(-s / scale)); 0: the game's own
};

/// What playouts are made from.
struct PlayoutOptions {
    std::string policy = "uniform";  // uniform, rated, light
    double epsilon = 0;              // share of moves that are uniformly random whatever the policy
    int cut = -1;                    // plies after which the evaluation is asked; -1: never
    std::vector<float> ratings;      // strengths of move features; empty: the defaults
};

/// Everything that makes up a tree search, for any game.
struct MctsOptions {
    std::string formula = "ucb1";  // ucb1, ucb1-tuned, puct
    double exploration = 1.0;
    std::optional<std::tuple<double, double, double>> widening;  // d, c', e
    double reduction = 0;                                        // PUCT: of the mean that unvisited moves start from
    std::optional<double> killer;                                // its c
    std::optional<double> history;                               // its threshold
    std::optional<double> rave;                                  // its k
    bool rated = false;                                          // moves are tried in the order of their ratings
    PlayoutOptions playout;
    EvaluationOptions evaluation;
    SharedObject evaluator;  // in Python: positions → values, or (values, strengths of the moves); instead of playouts
    int batch = 16;          // positions for it at a time
    std::uint32_t prior_visits = 0;
    bool prior_at_expansion = false;
    std::uint64_t mate_nodes = 0;  // for a mate search at leaves; 0: none
    int ending_empties = 0;        // Othello: empty squares at which leaves are solved; 0: none
    std::shared_ptr<search::Book> book;
    bool proofs = true;
    std::uint32_t expand_at = 1;
    unsigned threads = 1;
    std::uint64_t seed = 0;
    double memory_mib = 256;
};

}  // namespace hyoka::bindings
