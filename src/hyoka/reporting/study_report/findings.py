# SPDX-License-Identifier: Apache-2.0
"""Findings of a report: sentences that are each based on an interval."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from hyoka.analysis import MIN_GAMES, VALUE, CurvePoint, Difference
from hyoka.foundation.math import Estimate
from hyoka.foundation.text import counted
from hyoka.reporting.charts import Dot, Step, band, dots
from hyoka.reporting.page import Board, Card, Chart
from hyoka.reporting.study_report.examples import Example, shown_boards
from hyoka.reporting.study_report.results import (
    FEW_GAMES,
    NO_GUIDE,
    Judged,
    Results,
    Shared,
    Subject,
    has_both,
)

MOST_FINDINGS: Final = 8
_MOST_OF_A_KIND: Final = 2
_HONEST: Final = 0.02
"""Error below which claims count as right."""
_UNEVEN: Final = 0.03
"""Tolerance of the first player's share at even values, around one half."""
_FALL: Final = 0.01
"""Minimum fall of a curve for a finding, even if significant."""
_SIGNIFICANT: Final = 0.01
_VAGUE: Final = 0.1
"""Maximum interval width of a share in a finding."""
_APART: Final = 0.2
"""Minimum difference of disputed probabilities."""


@dataclass(frozen=True)
class Finding:
    """A sentence and its underlying numbers, with a picture of them."""

    kind: str
    text: str
    numbers: dict[str, object] = field(default_factory=dict)
    picture: Chart | Example | None = field(default=None, compare=False)
    section: str = ""
    """Title of the section with the details."""


def findings_of(results: Results) -> tuple[Finding, ...]:
    """The findings, the most important first, and caveats; at most `MOST_FINDINGS`."""
    subjects = results.subjects
    kinds = [
        _doubts(results),
        _quality(results),
        islice((f for s in subjects for f in _no_guide(s)), _MOST_OF_A_KIND),
        islice((f for s in subjects for f in _confidence(s)), _MOST_OF_A_KIND),
        islice(
            (f for s in subjects for f in _slices(s, 1 if subjects[1:] else 2)), _MOST_OF_A_KIND
        ),
        islice((f for f in _dispute(results)), 1),
        islice((f for s in subjects for f in _falls(s)), 1),
        islice((f for s in subjects for f in _uneven(results, s)), 1),
        islice((f for s in subjects for f in _worth(results, s)), 1),
        _exact(results),
    ]
    last = list(_several_authors(results))
    first = islice((finding for kind in kinds for finding in kind), MOST_FINDINGS - len(last))
    return (*first, *last)


CURVES: Final = "The curves"
BY_PLY: Final = "As the game goes on"
QUALITY: Final = "Metrics"
DISPUTES: Final = "Where they disagree"
CALIBRATED: Final = "Calibration"
UNBIASED: Final = "Where no bias was found"
"""Titles of sections."""
AUTHORS: Final = "several comment authors"
"""Kind of a finding that is a caveat: a page has it among those."""
_HEIGHT: Final = 120
_KINDS: Final = {
    "quality": "Wins from losses",
    "no guide": "Early positions",
    "slice": "Bias",
    "dispute": "Disagreement",
    "not monotone": "Shape of the curve",
    "even": "Even positions",
    "worth": "Worth of a score",
}
"""Words above findings, where the kind is not one."""


def wrong_title(name: str) -> str:
    """Title of the section on an evaluator's biases."""
    return f"Where {name} is wrong"


def card_of(finding: Finding, boards: Mapping[Example, Board]) -> Card:
    """The finding as a card of the page."""
    picture: Chart | Board | None
    if isinstance(finding.picture, Example):
        picture = next(iter(shown_boards(boards, [finding.picture])), None)
    else:
        picture = finding.picture
    kind = _KINDS.get(finding.kind, finding.kind.capitalize())
    return Card(finding.text, kind, picture, finding.section)


def _small_curve(subject: Subject) -> Chart | None:
    """The curve of an evaluator; None if it has no points."""
    is_value = subject.unit == VALUE
    steps = [
        Step(p.value, p.share, p.low, p.high, p.positions)
        for p in subject.own.curve.points
        if not p.is_mate and math.isfinite(p.low)
    ]
    if not steps:
        return None
    chart = band(
        steps,
        x="value" if is_value else subject.unit,
        y="won",
        domain=(0, 1) if is_value else None,
        height=_HEIGHT,
    )
    return Chart(chart, f"The curve of {subject.name}, with its 95% interval.")


def _small_course(subject: Subject) -> Chart:
    """ROC by ply."""
    steps = [
        Step((low + high) / 2, part["roc"].value, *part["roc"].ends, part.positions)
        for low, high, part in subject.by_ply
    ]
    chart = band(steps, x="ply", y="ROC", height=_HEIGHT)
    return Chart(chart, f"ROC of {subject.name} by ply, with its 95% interval.")


def _small_dots(judged: Sequence[Judged]) -> Chart:
    """ROC of evaluators."""
    rocs = [(each.name, each.metrics["roc"]) for each in judged]
    rows = [Dot(name, roc.value, *roc.ends) for name, roc in rocs if math.isfinite(roc.value)]
    chart = dots(rows, x="ROC", reference=0.5, spec=".3f")
    return Chart(chart, "ROC with 95% intervals; a coin has one half.")


def _several_authors(results: Results) -> Iterator[Finding]:
    caveats = dict.fromkeys(c for s in results.subjects for c in s.positions.caveats)
    for caveat in islice(caveats, _MOST_OF_A_KIND):
        yield Finding(AUTHORS, caveat)


def _doubts(results: Results) -> Iterator[Finding]:
    games = max(subject.own.curve.games for subject in results.subjects)
    if games < FEW_GAMES:
        yield Finding(
            "few games",
            f"{counted(games, 'game')} are too few to say much: take what follows as a sketch. "
            "Positions of one game share its result, so games are what counts, and some hundreds "
            "of them are wanted.",
            {"games": games},
        )
    for subject in results.subjects:
        sample = subject.own.sample
        if not has_both(sample):
            won = float(sample.results[0]) == 1
            yield Finding(
                "one result",
                f"In all decided games that {subject.name} judged {results.first_player} "
                f"{'won' if won else 'lost'}: nothing can be said about telling wins from losses.",
                {"evaluator": subject.name},
            )
            return
    if len(results.subjects) > 1 and not results.groups:
        players = all(subject.facts.is_player for subject in results.subjects)
        yield Finding(
            "not comparable",
            "Each player is measured on the positions after its own moves, of its own games: "
            "figures of two of them are of different positions."
            if players
            else f"The evaluators judged different positions: only {results.common:,} are common "
            "to all, too few to compare them. Each is measured on its own positions.",
            {"common_positions": results.common},
        )
    elif alone := results.coverage.alone:
        yield Finding(
            "left out of the comparison",
            f"{_listed(list(alone))} {'shares' if len(alone) == 1 else 'share'} too few positions "
            "with the others to be compared with them, and "
            f"{'is' if len(alone) == 1 else 'are'} measured on other positions.",
            {"evaluators": list(alone)},
        )


def _quality(results: Results) -> Iterator[Finding]:
    for shared in results.groups:
        yield from _quality_of_group(shared)
    for judged in results.apart:
        if judged.name not in {each.name for each in results.together}:
            yield from _quality_of_one(judged)


def _quality_of_group(shared: Shared) -> Iterator[Finding]:
    best, *others = shared.judged
    roc = best.metrics.figure("roc")
    if not math.isfinite(roc.value):
        return
    if math.isnan(roc.low):
        rocs = "; ".join(f"{each.name}: {each.metrics['roc'].value:.3f}" for each in shared.judged)
        text = f"ROC: {rocs}. Without resamples no interval says what is chance."
        yield Finding("quality", text, _rocs(shared), _small_dots(shared.judged), QUALITY)
        return
    level: list[tuple[Judged, Difference]] = []
    worse: list[tuple[Judged, Difference]] = []
    for other, comparison in zip(others, shared.comparisons, strict=True):
        difference = next(d for d in comparison.differences if d.metric.name == "roc")
        (worse if difference.ahead == "one" else level).append((other, difference))
    if not level:
        next_one, difference = worse[0]
        text = (
            f"{best.name} tells wins from losses best of {len(shared.judged)} evaluators: of a won "
            f"and a lost position it values the won one higher in {roc.value:.1%} of cases "
            f"({_share_interval(roc)}), {next_one.name} in {next_one.metrics['roc'].value:.1%}; "
            f"{_points(difference)} are more than chance would make."
        )
    else:
        names = _listed([best.name, *(other.name for other, _ in level)])
        rocs = _listed(
            [f"{each.metrics['roc'].value:.3f}" for each in [best, *(o for o, _ in level)]]
        )
        text = (
            f"{names} do not differ significantly: ROC {rocs}; the first two differ by "
            f"{_points(level[0][1])}."
        )
        if worse:
            gap = worse[0][1]
            text += (
                f" {_listed([other.name for other, _ in worse])} "
                f"{'is' if len(worse) == 1 else 'are'} worse than {best.name}"
                f"{', by ' + _points(gap) if len(worse) == 1 else ''}."
            )
    yield Finding("quality", text, _rocs(shared), _small_dots(shared.judged), QUALITY)


def _rocs(shared: Shared) -> dict[str, object]:
    return {each.name: _numbers(each.metrics["roc"]) for each in shared.judged}


def _quality_of_one(judged: Judged) -> Iterator[Finding]:
    roc, accuracy = judged.metrics.figure("roc"), judged.metrics.figure("accuracy")
    if not math.isfinite(roc.value):
        return
    if math.isnan(roc.low):
        verdict = f"Without resamples no interval says what {judged.name} knows"
    elif roc.high < NO_GUIDE:
        verdict = f"{judged.name} hardly tells wins from losses"
    elif roc.low <= 0.5:
        verdict = f"Whether {judged.name} tells wins from losses is not shown"
    else:
        verdict = f"{judged.name} tells wins from losses"
    yield Finding(
        "quality",
        f"{verdict}: of a won and a lost position it values the won one higher in "
        f"{roc.value:.1%} of cases ({_share_interval(roc)}; a coin has 50%), and it names the "
        f"winner at {accuracy.value:.1%} of positions ({_share_interval(accuracy)}).",
        {"evaluator": judged.name, "roc": _numbers(roc), "accuracy": _numbers(accuracy)},
        _small_dots([judged]),
        QUALITY,
    )


def _no_guide(subject: Subject) -> Iterator[Finding]:
    if subject.weak_before is None:
        return
    before, weak = subject.weak_before
    roc = weak["roc"]
    later = [each for start, _, each in subject.by_ply if start >= before]
    text = (
        f"{subject.name} is {'no' if roc.high < 0.55 else 'hardly a'} guide before ply {before}: "
        f"of a won and a lost position there it values the won one higher in {roc.value:.1%} of "
        f"cases ({_share_interval(roc)})"
    )
    overall = subject.own.metrics["roc"]
    text += f", over all positions in {overall.value:.1%}." if later else ", and nowhere better."
    yield Finding(
        "no guide",
        text,
        {"evaluator": subject.name, "before_ply": before, "roc": _numbers(roc)},
        _small_course(subject),
        BY_PLY,
    )


def _confidence(subject: Subject) -> Iterator[Finding]:
    sure = subject.confidence
    if sure is None or not math.isfinite(sure.gap.low):
        return
    if sure.gap.high < -_HONEST:
        verdict = "is overconfident"
    elif sure.gap.low > _HONEST:
        verdict = "is underconfident"
    elif max(abs(sure.gap.low), abs(sure.gap.high)) <= 2 * _HONEST:
        verdict = "is well calibrated"
    else:
        return
    yield Finding(
        "confidence",
        f"{subject.name} {verdict}: where it sees one side clearly ahead it gives that side "
        f"{sure.claimed:.0%} on average, and the side won {sure.got.value:.0%} "
        f"({sure.got.low:.0%} to {sure.got.high:.0%}).",
        {
            "evaluator": subject.name,
            "claimed": sure.claimed,
            "got": _numbers(sure.got),
            "gap": _numbers(sure.gap),
        },
        _small_curve(subject),
        CURVES,
    )


def _slices(subject: Subject, most: int) -> Iterator[Finding]:
    sure = [shown for shown in subject.shown_slices if shown.slice.is_sure]
    for shown in sure[:most]:
        biased = shown.slice
        yield Finding(
            "slice",
            f"{biased.sentence} {biased.gap.positions:,} positions of "
            f"{counted(biased.gap.games, 'game')}.",
            {
                "evaluator": subject.name,
                "condition": biased.condition.sql,
                "kind": biased.departure.kind,
                "effect": _numbers(biased.effect),
                "q_value": biased.q_value,
            },
            next(iter(shown.against), None),
            wrong_title(subject.name),
        )


def _dispute(results: Results) -> Iterator[Finding]:
    for disagreement, examples in (
        each for group in results.groups for each in group.disagreements
    ):
        wide = [
            each for each in disagreement.bands if each.low >= _APART and each.games >= FEW_GAMES
        ]
        if not wide:
            continue
        widest = max(wide, key=lambda each: each.positions)
        right = widest.share
        if not (right.low > 0.5 or right.high < 0.5):
            continue
        one_ahead = right.low > 0.5
        who = disagreement.one if one_ahead else disagreement.other
        share = right if one_ahead else Estimate(1 - right.value, 1 - right.high, 1 - right.low)
        yield Finding(
            "dispute",
            f"Where {disagreement.one} and {disagreement.other} differ by {widest.low:.2f} to "
            f"{widest.high:.2f} in probability, {who} was nearer to the result in "
            f"{share.value:.0%} of {widest.positions:,} positions ({share.low:.0%} to "
            f"{share.high:.0%}).",
            {"right": who, "share": _numbers(share), "positions": widest.positions},
            next(iter(examples), None),
            DISPUTES,
        )


def _falls(subject: Subject) -> Iterator[Finding]:
    falls = subject.own.curve.monotonicity
    if (
        subject.own.curve.games >= MIN_GAMES
        and falls.p_value < _SIGNIFICANT
        and falls.largest_drop >= _FALL
    ):
        yield Finding(
            "not monotone",
            f"The curve of {subject.name} does not rise all the way: a higher value means fewer "
            f"wins at {counted(falls.violations, 'step')}, at most by "
            f"{100 * falls.largest_drop:.1f} points, more than chance would "
            f"(p = {falls.p_value:.2g}).",
            {"evaluator": subject.name, "p_value": falls.p_value},
            _small_curve(subject),
            CURVES,
        )


def _uneven(results: Results, subject: Subject) -> Iterator[Finding]:
    point = even_point(subject)
    if point is None or not (point.low > 0.5 + _UNEVEN or point.high < 0.5 - _UNEVEN):
        return
    yield Finding(
        "even",
        f"Where {subject.name} calls it even, {results.first_player} {results.won} "
        f"{_share_text(point)}{_of_decided(results)}, not one half.",
        {"evaluator": subject.name, "share": [point.share, point.low, point.high]},
        _small_curve(subject),
        CURVES,
    )


def even_point(subject: Subject) -> CurvePoint | None:
    """The bin of even values; None if it has too few positions, or the curve too few games."""
    if subject.own.curve.games < MIN_GAMES:
        return None
    at = subject.own.sample.threshold
    inside = (p for p in subject.own.curve.points if p.lower <= at < p.upper)
    return next(inside, None)


def _worth(results: Results, subject: Subject) -> Iterator[Finding]:
    """Findings on the score that wins three of four games."""
    points = [p for p in subject.own.curve.points if not p.is_mate and math.isfinite(p.low)]
    if subject.unit == VALUE or not points or subject.own.curve.games < MIN_GAMES:
        return
    point = min(points, key=lambda p: abs(p.share - 0.75))
    if point.low > 0.75 or point.high < 0.75 or point.high - point.low > _VAGUE:
        return
    yield Finding(
        "worth",
        f"It takes about {point.value:+.3g} {subject.unit} of {subject.name} to win three games of "
        f"four: where it says {point.lower:+g} to {point.upper:+g}, "
        f"{results.first_player} {results.won} {_share_text(point)}{_of_decided(results)}.",
        {"evaluator": subject.name, "score": point.value, "share": point.share},
        _small_curve(subject),
        CALIBRATED,
    )


def _share_text(point: CurvePoint) -> str:
    return f"{point.share:.1%} ({point.low:.1%} to {point.high:.1%})"


def _of_decided(results: Results) -> str:
    return " of the decided games" if results.records.drawn and results.won == "won" else ""


def _exact(results: Results) -> Iterator[Finding]:
    positions = max((subject.positions for subject in results.subjects), key=len)
    if positions.changed:
        yield Finding(
            "exact",
            f"At {positions.changed:,} of {len(positions):,} positions an exact method knows "
            "better than the record who wins; what it knows counts here.",
            {"changed": positions.changed, "positions": len(positions)},
        )


def _points(difference: Difference) -> str:
    """Format a difference of shares in percentage points, with its interval."""
    each = difference.difference
    if math.isnan(each.low):
        return f"{100 * each.value:.1f} points"
    return f"{100 * each.value:.1f} points ({100 * each.low:.1f} to {100 * each.high:.1f})"


def _share_interval(estimate: Estimate) -> str:
    if math.isnan(estimate.low):
        return "no interval"
    return f"{estimate.low:.1%} to {estimate.high:.1%}"


def _numbers(estimate: Estimate) -> list[float]:
    return [estimate.value, estimate.low, estimate.high]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{'; '.join(names[:-1])} and {names[-1]}"
