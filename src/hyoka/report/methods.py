# SPDX-License-Identifier: Apache-2.0
"""How a report was made, and what to be careful about, in plain words."""

from collections.abc import Iterator

from hyoka.analysis import METRICS, MIN_GAMES, VALUE
from hyoka.limits import known_limits
from hyoka.report.results import CLEARLY, NO_GUIDE, Results
from hyoka.study.grouping import ENOUGH_POSITIONS, MIN_POSITIONS


def methods_of(results: Results) -> Iterator[str]:
    """Definitions, methods and caveats, a paragraph each."""
    first = results.first_player
    yield (
        f"Evaluation curve: positions are put into bins by what the evaluator said, in {first}'s "
        f"view; a point is the share of a bin's positions whose games {first} won. Bins of fewer "
        "than 100 positions are left out; where there are less than 4,000, bins of less than a "
        "fortieth of them, or of less than 10. A good curve rises all the way, and stays the same "
        "whatever condition the positions satisfy; where a condition's curve departs from the "
        "curve of all, it splits."
    )
    yield (
        "Positions of one game share its result, so they are no independent witnesses. Intervals "
        "come from drawing whole games again, with replacement"
        + (f", {results.resamples:,} times" if results.resamples else "; here none were drawn")
        + ". They are 95% intervals: bias-corrected percentiles, Wilson's interval for points of "
        "curves. The design effect says how many positions it takes to be worth one independent "
        "one."
    )
    if results.groups:
        yield (
            "Evaluators are compared on the same positions, and the same games are drawn again "
            "for both: what is hard about a game is hard for both and falls out of the difference. "
            f"Those that share {MIN_POSITIONS} positions (or half of what one of them judged) of "
            f"{MIN_GAMES} games (or half of its games) are compared; the group with the most "
            f"evaluators × positions comes first, positions beyond {ENOUGH_POSITIONS:,} not "
            "counted. "
            "An evaluator that shares too little is measured on its own positions."
        )
    drawn = results.records.drawn
    yield (
        "Positions of drawn games count as a win and a loss of half a position's weight in curves, "
        "metrics and splits, so that shares of wins are expected scores; log-loss is of these "
        "halves, Brier of the squared distance from one half. The curves of win, draw and loss "
        "under Calibration have draws of their own."
        if drawn and results.coverage.draws == "half"
        else "Positions of drawn games are left out of curves, metrics and splits; the curves of "
        "win, draw and loss under Calibration have them."
        if drawn
        else "No game of the study is drawn."
    )
    yield (
        "Whose result: the record's, unless an exact method (hyoka adjudicate) knows the "
        "position's. A game lost on time or by a fault counts as lost, whatever the position."
    )
    if any(subject.unit != VALUE for subject in results.subjects):
        yield (
            "A mate, or a score that says one, is worth more than any number: it counts in all "
            "orders, has a bin of its own beyond the chart, and is left out of E(v). Where a "
            "probability is wanted, scores become some by the logistic curve fitted to these very "
            "positions: two constants, and a bend and a limit beyond which scores count less, as "
            "games held out prefer."
        )
    metrics = "; ".join(f"{metric.title}, {metric.about}" for metric in METRICS.values())
    yield (
        f"The metrics: {metrics}. ACC and ROC take the negation where that is better. ECE, Brier "
        "and log-loss judge values as probabilities; of these and E(v), only values on the same "
        "scale can be compared."
    )
    yield (
        f"Hardly a guide: the upper end of ROC's interval is below {NO_GUIDE} in every range of "
        "plies up to there. Clearly ahead: a probability of at least "
        f"{0.5 + CLEARLY:.0%} for one side. Early, middle and late are thirds of the positions."
    )
    yield (
        "Splits: levels of each column, ranges between its quantiles and pairs of the strongest "
        "are tried, if they hold for at least 30 games. The effect is a mean over the condition's "
        "positions, against all positions of the same value; its test respects games. Of all that "
        "are listed, 5% are false at most on average (Benjamini and Hochberg), and intervals are "
        "widened for having been selected. Near-duplicates are left out. Each is measured again "
        "where who speaks is equal, where the difference in rating is, and where the phase of the "
        "game is (tenths of the plies; not of conditions on plies themselves): what then loses "
        "more than half of it, with zero inside, comes last and is no finding. A split says where "
        "an evaluation is wrong, not why: conditions go with other things."
    )
    yield (
        "Boards of a bin are drawn at random, no two of one game. Boards of a split are the "
        "positions most against the evaluation there, games decided by time or a fault last: "
        "they show the fault at its worst, not on average."
    )
    yield (
        "All this is about these records: players of other strengths and games at other time "
        "limits may have other curves."
    )
    for limit in known_limits("Evaluations and results", "Records"):
        yield f"Known limit: {limit}"
