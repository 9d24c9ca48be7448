# SPDX-License-Identifier: Apache-2.0
"""What notebooks and narrow terminals show, and boards that read without a font of their own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyoka as hk
from hyoka.apps.cli.output import column_groups
from hyoka.reporting import Board, Boards, Page, Section, write_page


@pytest.mark.parametrize("name", ["chess", "shogi", "go9", "othello", "blokus_duo"])
def test_positions_lines_and_diagrams_are_boards(name: str) -> None:
    position = hk.position(name)
    for each in (position, position.line(), hk.diagram(position)):
        assert each._repr_svg_().startswith("<svg")  # type: ignore[union-attr]


def test_shogi_reads_without_a_font_for_kanji() -> None:
    assert hk.svg(hk.Shogi()).isascii()  # kanji are drawn
    drawn = hk.svg(hk.Shogi(), pieces="letters")
    assert drawn.isascii()
    assert ">K</text>" in drawn
    promoted = hk.position("shogi", "4k4/9/9/9/4+P4/9/9/9/4K4 b G2p 1")
    assert ">+P</text>" in hk.svg(promoted, pieces="letters")
    with pytest.raises(ValueError, match="letters or kanji"):
        hk.svg(hk.Shogi(), pieces="runes")  # type: ignore[arg-type]
    assert hk.svg(hk.Chess()) == hk.svg(hk.Chess(), pieces="letters")


def test_boards_in_pages_have_their_text_to_copy(tmp_path: Path) -> None:
    board = Board(hk.diagram(hk.Chess()), "the start")
    write_page(Page("x", sections=(Section("", (), (Boards((board,)),)),)), tmp_path / "page.html")
    assert f"<code>{hk.Chess().text}</code>" in (tmp_path / "page.html").read_text()


def test_records_and_studies_show_themselves(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text('[White "<b>"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n')
    study = hk.Study.create(tmp_path / "study", file)
    record = study.record(0)._repr_html_()
    assert "&lt;b&gt;" in record
    assert "<svg" in record
    assert "<td>chess</td><td>1</td><td>6</td>" in study._repr_html_()


def test_matches_show_themselves_and_their_folders(tmp_path: Path) -> None:
    plan = hk.plan_match("one=random", "two=random", game="othello")
    result = hk.play_match(plan, tmp_path / "match", games=2)
    assert "2 of 2 games" in repr(result)
    assert "\n" not in repr(result)
    assert result._repr_html_().count("<tr>") == 2
    kept = hk.open_match(tmp_path / "match")
    assert len(kept.games) == 2
    assert kept.description["version"] == 1
    assert repr(kept) == "<CachedMatch of 2 games>"


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(0, 3), st.integers(10, 90)
)
def test_every_column_is_shown_once_beside_the_names(
    widths: list[int], names: int, room: int
) -> None:
    groups = column_groups(widths, names, room)
    names = min(names, len(widths))
    assert [i for group in groups for i in group[names:]] == list(range(names, len(widths)))
    for group in groups:
        assert group[:names] == list(range(names))
        fits = sum(widths[i] for i in group) <= room
        assert fits or len(group) <= names + 1
