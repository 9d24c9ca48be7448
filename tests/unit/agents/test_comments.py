# SPDX-License-Identifier: Apache-2.0
"""Players of the records as evaluators, each of its own moves."""

import numpy as np
import pytest

import hyoka as hk
from hyoka.agents.comments import AllComments, ByPlayer, CommentsSpec, OnePlayer
from hyoka.analysis import NO_INTERVALS
from hyoka.foundation.errors import NotationError, StudyError
from hyoka.reporting.study_report import ReportOptions, study_report
from hyoka.study.evaluating import evaluate

PLAYERS = ("Ax 1", "Ax 2", "Bo", "Cy, Dr.")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    """Sixty games of four, who take turns to speak."""
    folder = tmp_path_factory.mktemp("players")
    rng = np.random.default_rng(5)
    texts = []
    for number in range(60):
        white, black = rng.permutation(4)[:2]
        position, moves = hk.Chess(), []
        lead = rng.normal(0, 1)
        for ply in range(14):
            legal = position.legal_moves
            move = legal[int(rng.integers(len(legal)))]
            score = lead + rng.normal(0, 0.2) + (0.8 if ply % 2 == 0 else -0.8) * (number % 3 - 1)
            moves.append(f"{position.san(move)} {{[%eval {score:.2f}]}}")
            position = position.play(move)
        said = "1-0" if lead > 0 else "0-1"
        texts.append(
            f'[White "{PLAYERS[white]}"]\n[Black "{PLAYERS[black]}"]\n[Result "{said}"]\n\n'
            f"{' '.join(moves)} {said}\n"
        )
    (folder / "games.pgn").write_text("\n".join(texts))
    made = hk.Study.create(folder / "study", folder / "games.pgn", columns="none")
    evaluate(made, ["comments", "comments:by=player,merge=Ax*,games=5"])
    return made


def said_by(study: hk.Study, condition: str) -> list[dict[str, object]]:
    """What players said, by the remarks alone: the one who has just moved speaks."""
    rows: list[dict[str, object]] = study.sql(
        "select r.game_id, r.ply, score from remarks r join games using (game_id) where "
        f'(case when r.ply % 2 = 1 then "first" else "second" end) {condition} '
        "and r.ply > 0 and score is not null order by 1, 2"
    ).to_pylist()
    return rows


@pytest.mark.parametrize(
    ("player", "condition"), [("Ax*", "like 'Ax %'"), ("Bo", "= 'Bo'"), ("Cy, Dr.", "like 'Cy%'")]
)
def test_each_player_says_what_it_said_after_its_own_moves(
    study: hk.Study, player: str, condition: str
) -> None:
    [name] = [n for n in study.engines if n == OnePlayer(player).id]
    stored = study.sql(
        f"select game_id, ply, score from evaluations where engine = '{name}' order by 1, 2"
    )
    assert stored.to_pylist() == said_by(study, condition)
    assert len(stored)


def test_players_are_measured_each_on_its_own_positions(study: hk.Study) -> None:
    table = study.metrics(["Ax*", "Bo"], resampling=NO_INTERVALS)
    assert [part.name for part in table.parts] == ["comments by Ax*", "comments by Bo"]
    assert [part.positions for part in table.parts] == [
        len(said_by(study, "like 'Ax %'")),
        len(said_by(study, "= 'Bo'")),
    ]
    assert table.caveats == ()
    curves = study.curve(["Ax*", "Bo"], resampling=NO_INTERVALS, at_least=1)
    assert {part.name for part in curves.parts} == {"comments by Ax*", "comments by Bo"}
    # With what all said it is compared on what it said itself.
    both = study.metrics(["comments", "Bo"], resampling=NO_INTERVALS)
    assert len({part.positions for part in both.parts}) == 1
    report = study_report(study, ReportOptions(evaluators=["Ax*", "Bo"], resamples=20))
    assert report.findings[0].kind == "not comparable"
    assert "its own moves" in report.findings[0].text


def test_patterns_choose_evaluators(study: hk.Study) -> None:
    fitting = study.metrics(["*, Dr*", "B*"], resampling=NO_INTERVALS)
    assert [part.name for part in fitting.parts] == ["comments by Cy, Dr.", "comments by Bo"]
    with pytest.raises(StudyError, match="no evaluator 'Bx'"):
        study.metrics(["Bx"])


def test_several_authors_are_evaluated_in_one_call(study: hk.Study) -> None:
    [report] = evaluate(study, ["comments"])
    assert report.engine == "comments"
    reports = evaluate(study, ["comments:by=player,players=B*|C*"])
    names = sorted(
        ["Bo", "Cy, Dr."],
        key=lambda name: -len({row["game_id"] for row in said_by(study, f"= '{name}'")}),
    )
    assert [each.title for each in reports] == [f"comments by {name}" for name in names]
    assert all(each.done == 0 and each.found == each.wanted for each in reports)
    assert "comments name no author" in reports[0].notes[0]
    with pytest.raises(StudyError, match="games=1 takes all"):
        evaluate(study, ["comments:by=player,games=1000"])
    [one, *_] = evaluate(study, ["comments:by=player,games=1,most=1"])
    assert any("most=N takes N" in note for note in one.notes)


def test_versions_of_a_program_are_one_unless_they_are_to_be_apart(study: hk.Study) -> None:
    voices = ByPlayer().evaluators_by_name(list(PLAYERS))
    ax = OnePlayer("Ax", is_program=True)
    assert voices == {
        "Ax 1": ax, "Ax 2": ax, "Bo": OnePlayer("Bo"), "Cy, Dr.": OnePlayer("Cy, Dr."),
    }  # fmt: skip
    assert ax.text == "comments:program=Ax"
    assert CommentsSpec.from_text(ax.text) == ax
    assert ax.matches_name("Ax 7")
    assert not ax.matches_name("Axe 7")
    apart = ByPlayer(versions="apart").evaluators_by_name(list(PLAYERS))
    assert apart == {name: OnePlayer(name) for name in PLAYERS}
    # One version alone keeps its full name, and a version that is named in full is meant alone.
    assert ByPlayer().evaluators_by_name(["Ax 2", "Bo"])["Ax 2"] == OnePlayer("Ax 2")
    assert ByPlayer(players=("Ax 1",)).evaluators_by_name(list(PLAYERS)) == {
        "Ax 1": OnePlayer("Ax 1")
    }
    assert set(ByPlayer(players=("A*",)).evaluators_by_name(list(PLAYERS)).values()) == {ax}
    assert ByPlayer(merge=("Ax*",)).evaluators_by_name(list(PLAYERS))["Ax 1"] == OnePlayer("Ax*")
    [first, *_] = evaluate(study, ["comments:by=player,games=5"])
    assert first.title == "comments by Ax"
    assert any("Ax (2 versions); versions=apart" in note for note in first.notes)
    stored = study.sql(
        f"select game_id, ply, score from evaluations where engine = '{ax.id}' order by 1, 2"
    )
    assert stored.to_pylist() == said_by(study, "like 'Ax %'")
    evaluate(study, ["comments:program=Ax"])
    with pytest.raises(NotationError, match="no name fits 'Axe'"):
        evaluate(study, ["comments:program=Axe"])


def test_players_come_by_their_decided_games_the_most_first(study: hk.Study) -> None:
    evaluate(study, ["comments:by=player,games=1"])
    names = ["Cy, Dr.", "Bo", "Ax"]
    table = study.metrics(names, resampling=NO_INTERVALS)
    games = [part.games for part in table]
    assert games == sorted(games, reverse=True)
    assert next(iter(table)).name == "comments by Ax"
    assert table.coverage is not None
    start = "Not compared, too few common positions: comments by Ax ("
    assert str(table.coverage).startswith(start)
    few = study.metrics(names, where="game_id < 30", resampling=NO_INTERVALS)
    thin = [part for part in few if part.games < 20]
    assert thin
    rows = {row[0]: row for row in few.lines()[1:]}
    for part in few:
        assert (rows[part.name][1] == "–") == (part.games < 20)
    assert sum("fewer than 20 games" in note for note in few.notes()) == 1


def test_specs_of_comments_are_read() -> None:
    read = CommentsSpec.from_text
    assert read("comments") == AllComments()
    assert read("comments:player=Cy, Dr.") == OnePlayer("Cy, Dr.")
    assert read("comments:player=A*,without=A 1|A 2") == OnePlayer("A*", ("A 1", "A 2"))
    assert read("comments: by=player, players=Cy, Dr.|A*, games=3") == ByPlayer(
        players=("Cy, Dr.", "A*"), games=3
    )
    for text, message in (
        ("comments:by=side", "expected by=player"),
        ("comments:plyers=A", "did you mean players"),
        ("comments:player=A,games=3", "takes no setting but without"),
        ("comments:by=player,games=0", "a number from 1 on"),
        ("comments:by=player,versions=one", "merged or apart"),
        ("comments:program=A,games=3", "takes no other settings"),
    ):
        with pytest.raises(NotationError, match=message):
            read(text)


def test_versions_set_apart_first_are_not_of_the_rest(study: hk.Study) -> None:
    voices = ByPlayer(merge=("Ax 1*", "Ax*")).evaluators_by_name(list(PLAYERS))
    assert voices["Ax 1"] == OnePlayer("Ax 1*")
    assert voices["Ax 2"] == OnePlayer("Ax*", ("Ax 1*",))
    assert not voices["Ax 2"].matches_name("Ax 1")
    assert voices["Ax 2"].id != OnePlayer("Ax*").id
