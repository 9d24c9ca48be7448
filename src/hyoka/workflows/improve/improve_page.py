# SPDX-License-Identifier: Apache-2.0
"""The report of an improvement."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hyoka.analysis.sample import probability_text
from hyoka.foundation.text import counted
from hyoka.reporting import Block, Board, Boards, Card, Chart, Page, Section, Table
from hyoka.reporting.charts import Dot, chart_of, dots
from hyoka.reporting.page import caveats
from hyoka.reporting.study_report.examples import Example, boards_of, shown_boards
from hyoka.study import Study
from hyoka.workflows.improve.fit_and_verify import COLUMNS, largest_slice
from hyoka.workflows.improve.improvement import Candidate, Improvement, ImprovePlan, Verification


def improvement_page(
    study: Study, story: Improvement, plan: ImprovePlan, *, still: bool = False
) -> Page:
    """Lay out the report; with `still`, charts are images without scripts."""
    sections = [_findings_section(study, story)]
    if story.named.terms:
        sections.append(_named_section(story))
    sections += [_fit_section(story, each, still) for each in story.candidates]
    if story.proofs:
        sections.append(_proof_section(story, still))
    return Page(
        f"Improving {story.evaluator}",
        f"{story.game.replace('_', ' ').capitalize()}, the games of {story.study}.",
        tuple(_cards(study, story)),
        tuple(sections),
        tuple(_methods(story, plan)),
        tuple(caveats("Matches")),
    )


_WRONG, _MATCHES = "Where it is wrong", "On the board"
"""Titles of sections."""


def _cards(study: Study, story: Improvement) -> Iterator[str | Card]:
    """The story's sentences; the outcome and the worst slice have pictures."""
    outcome, *steps = story.sentences()
    yield Card(outcome, "Outcome", _elo_chart(story), _MATCHES)
    if story.candidates:
        yield _losses(story)
    for sentence in steps:
        if any(sentence.startswith(each.sentence) for each in story.findings.slices):
            yield Card(sentence, "Bias", next(iter(_boards(study, story)), None), _WRONG)
        else:
            yield sentence


def _losses(story: Improvement) -> Card:
    """How much the fits improve the prediction of held-out games."""
    changes = [(each.name, each.loss.change) for each in story.candidates]
    chart = dots(
        [Dot(name, change.value, *change.ends) for name, change in changes],
        x="change of log-loss",
        reference=0,
        spec="+.4f",
    )
    better = sum(each.is_better_on_paper for each in story.candidates)
    return Card(
        f"{better} of {counted(len(changes), 'fit')} improve{'s' if better == 1 else ''} log-loss "
        f"on {story.findings.held_out_games:,} held-out games significantly.",
        "Fit",
        Chart(chart, "Change of log-loss on held-out games, with 95% intervals; less is better."),
        _fit_title(story, story.candidates[0]),
    )


def _fit_title(story: Improvement, candidate: Candidate) -> str:
    return "The fit" if len(story.candidates) == 1 else f"The fit: {candidate.name}"


def _boards(study: Study, story: Improvement) -> Sequence[Board]:
    """Positions of the worst slice."""
    shown = [
        Example(each.game_id, each.ply, each.values, each.result) for each in story.findings.shown
    ]
    return shown_boards(boards_of(study, shown), shown) if shown else ()


def _elo_chart(story: Improvement) -> Chart | None:
    """Elo of the matches; None without finite intervals."""
    ends = [end for each in story.proofs for end in (each.elo.value, *each.elo.ends)]
    if not ends or not all(map(math.isfinite, ends)):
        return None
    chart = dots(
        [Dot(each.candidate, each.elo.value, *each.elo.ends) for each in story.proofs],
        x="Elo of the new weights",
        reference=0,
    )
    return Chart(chart, "Elo with its 95% interval by pairs of games.")


def _findings_section(study: Study, story: Improvement) -> Section:
    findings = story.findings
    words = [
        f"{findings.tried:,} conditions on the positions were tried in "
        f"{findings.fitted_games:,} games ({findings.fitted_positions:,} positions). Listed are "
        "the significant slices that neither the phase of the game nor the players explain.",
        f"The last columns are of {findings.held_out_games:,} other games "
        f"({findings.held_out_positions:,} positions), which did not affect the choice.",
    ]
    if not findings.slices:
        return Section(_WRONG, (*words, "There is none."))
    rows = tuple(
        (
            each.words,
            each.effect.text("+.3f"),
            probability_text(each.q_value),
            f"{each.positions:,}",
            f"{each.games:,}",
            each.confirmed.text("+.3f"),
            probability_text(each.p_value),
        )
        for each in findings.slices
    )
    head = ("When", "Effect", "q", "Positions", "Games", "Held out", "p")
    caption = (
        "Effect: win probability beyond the curve of all positions at equal scores, with 95% "
        "intervals; those of the games searched are widened for selection."
    )
    blocks: list[Block] = [Table(caption, head, rows)]
    if boards := _boards(study, story):
        blocks.append(Boards(boards))
        words.append(
            f"The boards: positions of the first condition ({findings.slices[0].words}) where the "
            "evaluation differs most from the result."
        )
    return Section(_WRONG, tuple(words), tuple(blocks))


def _named_section(story: Improvement) -> Section:
    if any(each.name == COLUMNS for each in story.candidates):
        words = (
            "The conditions are the terms: in its slice, each adds a constant to the scores or, "
            "where they are over- or underconfident, a multiple of the score.",
        )
        return Section("What describes it", words)
    rows = tuple(
        (
            each.name,
            each.split,
            f"{each.likeness:+.2f}",
            "–" if each.pull is None else f"{each.pull:+.1f}",
            _number(each.opening),
            _number(each.ending),
        )
        for each in story.named.terms
    )
    words = (
        "Terms of the evaluation that correlate with these conditions at equal scores, and whose "
        "weights the results would change in the direction of the bias.",
    )
    caption = (
        "Likeness: the correlation of term and condition at equal scores. Pull: how many standard "
        "errors (by games) the results would have the weight greater; below zero, smaller."
    )
    head = ("Term", "When", "Likeness", "Pull", "Weight, opening", "Ending")
    return Section("What describes it", words, (Table(caption, head, rows),))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _fit_section(story: Improvement, each: Candidate, still: bool) -> Section:
    held = story.findings.held_out_games
    words = [
        f"{_capital(each.about)}, fitted to the results of {each.games:,} games "
        f"({each.positions:,} positions). Measured on {held:,} held-out games.",
    ]
    if each.name != COLUMNS and not each.is_better_on_paper:
        words.append("Log-loss does not improve significantly, so no match was played.")
    metrics = Table(
        "Before, after and the change, with 95% intervals from a paired cluster bootstrap over "
        "games. Smaller log-loss and Brier loss are better.",
        ("On held-out games", "Before", "After", "Change"),
        tuple(
            (m.title, f"{m.before:.4f}", f"{m.after:.4f}", m.change.text("+.4f"))
            for m in each.metrics
        ),
    )
    slices = Table(
        "How far the curve of each condition lies from the curve of all, on held-out games, with "
        "95% intervals.",
        ("Slice", "Before", "After"),
        tuple((s.words, s.before.text("+.3f"), s.after.text("+.3f")) for s in each.slices),
    )
    drawn = story.findings.slices[largest_slice(story.findings.slices)].words
    charts = tuple(
        Chart(
            chart_of(spec),
            f"{_capital(when)}: all held-out positions, and when {drawn}.",
            still=still,
        )
        for when, spec in each.charts.items()
    )
    shown = len(each.weights)
    more = (
        f" The {shown} of {each.free:,} that changed most in units of their errors."
        if shown < each.free
        else ""
    )
    weights = Table(
        f"Weights with 95% intervals by games, and their former values.{more}",
        ("Weight", "Fitted", "Formerly"),
        tuple((w.name, w.weight.text(".4g"), _number(w.former)) for w in each.weights),
    )
    return Section(_fit_title(story, each), tuple(words), (metrics, *charts, slices, weights))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _proof_section(story: Improvement, still: bool) -> Section:
    words = [
        f"New weights against the old ones, from {story.proofs[0].openings}, each played from both "
        "sides.",
    ]
    if len(story.proofs) > 1 or len(story.candidates) > 1:
        words.append(
            "Candidates are played one after another until one is accepted; the risk of "
            "accepting no gain is divided among them."
        )
    rows = tuple(
        (
            each.candidate,
            f"{each.games:,}",
            f"+{each.wins} ={each.draws} −{each.losses}",
            each.rate.text(".1%"),
            each.elo.text("+.0f"),
            f"{each.llr:.2f} [{each.bounds[0]:.2f}, {each.bounds[1]:.2f}]",
            {"H1": "accepted", "H0": "rejected", None: "not decided"}[each.verdict],
        )
        for each in story.proofs
    )
    head = ("New", "Games", "Score", "Points", "Elo", "LLR", "Test")
    table = Table("The matches.", head, rows)
    chart = _elo_chart(story)
    blocks = (table,) if chart is None else (table, replace(chart, still=still))
    return Section(_MATCHES, tuple(words), blocks)


def _methods(story: Improvement, plan: ImprovePlan) -> Iterator[str]:
    yield (
        f"About {_percent(plan.hold_out)} of the games are held out, chosen only by their numbers "
        f"and the seed ({plan.seed}). Slices, terms and weights come from the other games; "
        "held-out games are only measured on, and the match consists of new games."
    )
    yield _positions(story, plan)
    yield (
        "Slices: levels, ranges and pairs of all columns; false-discovery rate 5% over all "
        "candidates. A slice that the phase of the game or the players explain is left out."
    )
    if story.candidates and story.candidates[0].name != COLUMNS:
        yield (
            "Weights: logistic likelihood of results times a normal prior around the present "
            "weights (a standard deviation of three tenths of the weight, and of what moves the "
            f"score by {_percent(plan.freedom)} of its scale). Positions are taken where a "
            "quiescence search comes to rest, where the game has one; positions of one game count "
            "for as much as the spread between games says. How much a score says may differ "
            "between opening and ending. A weight's interval says how far other games would have "
            "moved it; being held, it may lie nearer to its former value than the truth."
        )
        yield (
            "Before and after each get the steepness that suits their scores best in the games "
            "fitted to, so that only the weights make the difference."
        )
    for proof in story.proofs:
        yield _conditions(proof)
    if story.proofs:
        yield (
            "A sequential test stops a match when it is sure: its verdict holds at the risks "
            "given, but the Elo of a stopped match is slightly biased upward."
        )


def _positions(story: Improvement, plan: ImprovePlan) -> str:
    """Describe the positions."""
    which = f" for which {plan.where} holds" if plan.where else ""
    drawn = "count as half won" if plan.draws == "half" else "are left out"
    if plan.own_evaluation(story.game) is not None:
        taken = f"{plan.sample} of each game{which}, chosen by the same seed"
    elif plan.is_table:
        taken = f"all{which} of the table"
    else:
        taken = (
            f"{plan.sample} of each game{which}, chosen by the same seed, and the study's other "
            "evaluations by the evaluator"
        )
    return f"Positions: {taken}. Drawn games {drawn}."


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _conditions(proof: Verification) -> str:
    return (
        f"Match of {proof.candidate}: new is {proof.new}, old is {proof.old}; games begin with "
        f"{proof.openings}; a sequential test of {proof.sprt}. Pairs that brought 0, ½, 1, 1½, 2 "
        f"points: {', '.join(map(str, proof.pairs))}."
    )
