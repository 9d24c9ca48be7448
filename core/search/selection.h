// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "game.h"

/// Which child of a node deserves the next visit. Each idea is a small type; the formulas are those of the papers.
namespace hyoka::search {

/// Input of a selection formula (visited children) and its output (their urgencies). Visits under way
/// count as lost: that is the virtual loss which keeps threads apart.
struct Candidates {
    double n = 0;                          // visits of all children together
    std::span<const double> visits;        // n_i; above 0 except where all-moves-as-first statistics stand in
    std::span<const double> means;         // X_i, for the player who chooses
    std::span<const double> priors;        // R_i or P_i
    std::span<const double> explorations;  // c_i: one for all, unless killer or history change it
    std::span<double> urgencies;
};

/// Says how urgent the children are that have been tried.
class Formula {
public:
    virtual ~Formula() = default;
    virtual void judge(const Candidates& children) const = 0;
};

/// X_i + c sqrt(2 ln n / n_i)
class Ucb1 final : public Formula {
public:
    void judge(const Candidates& children) const override {
        const double doubled_log = 2 * std::log(std::max(children.n, 1.0));
        for (std::size_t i = 0; i < children.visits.size(); ++i)
            children.urgencies[i] = children.means[i] + children.explorations[i] *
                                                            std::sqrt(doubled_log / std::max(children.visits[i], 1.0));
    }
};

/// X_i + c sqrt(ln n / n_i min(1/4, X_i - X_i^2 + sqrt(2 ln n / n_i)))
class Ucb1Tuned final : public Formula {
public:
    void judge(const Candidates& children) const override {
        const double log = std::log(std::max(children.n, 1.0));
        for (std::size_t i = 0; i < children.visits.size(); ++i) {
            const double share = log / std::max(children.visits[i], 1.0);
            const double mean = children.means[i];
            const double variance = mean - mean * mean + std::sqrt(2 * share);
            children.urgencies[i] = mean + children.explorations[i] * std::sqrt(share * std::min(0.25, variance));
        }
    }
};

/// X_i + c P_i sqrt(n) / (1 + n_i)
class Puct final : public Formula {
public:
    void judge(const Candidates& children) const override {
        const double root = std::sqrt(children.n);
        for (std::size_t i = 0; i < children.visits.size(); ++i)
            children.urgencies[i] =
                children.means[i] + children.explorations[i] * children.priors[i] * root / (1 + children.visits[i]);
    }
};

/// A selection formula by its name in settings.
struct NamedFormula {
    std::string_view name;
    bool uses_priors;
    double exploration;  // default c
    std::unique_ptr<Formula> (*make)();
};

template <class F>
std::unique_ptr<Formula> make_formula() {
    return std::make_unique<F>();
}
inline constexpr std::array formulas = {
    NamedFormula{"ucb1", false, 1.0, make_formula<Ucb1>},
    NamedFormula{"ucb1-tuned", false, 1.0, make_formula<Ucb1Tuned>},
    NamedFormula{"puct", true, 1.5, make_formula<Puct>},
};
/// Throws NotationError for an unknown name.
inline const NamedFormula& formula_named(std::string_view name) {
    for (const NamedFormula& formula : formulas)
        if (formula.name == name) return formula;
    throw NotationError("no formula " + std::string(name));
}

/// Says how urgent the next child is that was never tried; they wait in the order of their priors.
class Untried {
public:
    virtual ~Untried() = default;
    /// Whether children never tried come before all others, so that nothing need be judged.
    virtual bool comes_first() const { return false; }
    /// `node_mean` is what the node itself is worth to the player who chooses.
    virtual double urgency(double n, double prior, double node_mean) const = 0;
    /// Assumed value of an unvisited child without priors.
    virtual double unknown(double) const { return 1; }
};

/// Every child is tried once before any is tried again.
class TryAllFirst final : public Untried {
public:
    bool comes_first() const override { return true; }
    double urgency(double, double, double) const override { return std::numeric_limits<double>::infinity(); }
};

/// Progressive widening (Sato 2010): d R_i + c' sqrt(2 ln n / e), with R_i = strength / greatest strength.
class Widening final : public Untried {
public:
    struct Constants {
        double d = 4.0;
        double c = 0.5;
        double e = 10.0;
    };
    explicit Widening(const Constants& constants) : constants_(constants) {}
    double urgency(double n, double prior, double) const override {
        return constants_.d * prior + constants_.c * std::sqrt(2 * std::log(std::max(n, 1.0)) / constants_.e);
    }

private:
    Constants constants_;
};

/// PUCT of an unvisited child: the node's mean less `reduction` (first-play urgency).
class TryByPrior final : public Untried {
public:
    TryByPrior(double exploration, double reduction) : exploration_(exploration), reduction_(reduction) {}
    double urgency(double n, double prior, double node_mean) const override {
        return node_mean - reduction_ + exploration_ * prior * std::sqrt(n);
    }
    double unknown(double node_mean) const override { return node_mean - reduction_; }

private:
    double exploration_;
    double reduction_;
};

/// A child that is the killer of its node (the commonest best move among the siblings of that node) is explored with
/// this c (Sato 2010).
struct Killer {
    double exploration = 2.0;
};

/// c_i = c + max(0, H_i - threshold), where H_i is how often a move that was tried turned out the most visited one of
/// its node, during this search (Sato 2010).
struct History {
    double threshold = 0.6;
};

/// Mixes a child's mean with that of all simulations in which its move was played later by the same player:
/// beta = sqrt(k / (3 n_i + k)) of the latter (Gelly and Silver).
struct Rave {
    double equivalence = 1000;  // k
    double beta(double visits) const { return std::sqrt(equivalence / (3 * visits + equivalence)); }
};

}  // namespace hyoka::search
