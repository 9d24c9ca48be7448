# SPDX-License-Identifier: Apache-2.0
import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pytest
import vl_convert

import hyoka as hk
from hyoka.reporting import (
    COLORS,
    INK,
    PICKED,
    QUIET,
    Board,
    Boards,
    Card,
    Chart,
    Details,
    Explorer,
    Page,
    Pick,
    Section,
    Table,
    save_chart,
    write_page,
)
from hyoka.reporting.charts import Dot, dots, drawing_script, specification, styles

HOSTILE = "</script><script>alert(1)</script><!--<b onclick='x'>&amp;\"\u202e\ud800"
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Parsed(HTMLParser):
    """The elements of a page, its texts, and what its scripts hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        else:
            self.texts.append(data)

    def tags(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]


def bar_chart(name: str = "a") -> Any:
    data = alt.InlineData(values=[{"name": name, "games": 3}, {"name": "b", "games": 5}])
    return (
        alt.Chart(data)
        .mark_bar(color=COLORS[1])
        .encode(x="games:Q", y="name:N")
        .properties(width="container")
    )


def curve_above_counts() -> Any:
    data = alt.InlineData(values=[{"x": x, "y": x * x, "pick": str(x)} for x in range(3)])
    base = alt.Chart(data).encode(x="x:Q")
    size = alt.when(alt.datum.pick == PICKED).then(alt.value(200)).otherwise(alt.value(40))
    curve = base.mark_point().encode(y="y:Q", size=size)
    counts = base.mark_bar().encode(y="y:Q").properties(width="container", height=40)
    return (
        alt.vconcat(curve.properties(width="container"), counts)
        .resolve_scale(x="shared")
        .add_params(PICKED)
    )


def explorer(text: str = "plain words", shown: str | None = None) -> Explorer:
    board = Board(hk.diagram(hk.Chess()), text)
    picks = (
        Pick("a", "first", "One.", (board,)),
        Pick(text, text, text, (board, board), group=text),
        Pick("c", "last"),
    )
    return Explorer(Chart(bar_chart(text), text), picks, shown, text)


def page_of(*blocks: Any) -> Page:
    return Page("One", sections=(Section("Part", blocks=blocks),))


def full_page(text: str = "plain words") -> Page:
    return Page(
        title=text,
        subtitle=text,
        findings=(text, text),
        sections=(
            Section(
                text,
                (text,),
                (
                    Table(text, (text, "games"), ((text, "3"), ("b", "12"))),
                    Chart(bar_chart(text), text, narrow=True),
                    Chart(bar_chart(text), text, text),
                    Boards((Board(hk.diagram(hk.Chess()), text),)),
                    explorer(text),
                    Details(text, (text,), (Chart(bar_chart(text), text),)),
                ),
            ),
            Section("Another", ("Only words.",)),
        ),
        methods=(text,),
    )


def test_findings_are_cards_with_pictures() -> None:
    chart = Chart(dots([Dot(HOSTILE, 1.0, 0.5, 2.0)], x="Elo", reference=0), HOSTILE)
    board = Board(hk.diagram(hk.Othello()), HOSTILE)
    page = Page(
        "Cards",
        findings=(
            Card(HOSTILE, HOSTILE, chart, "The <part>"),
            "Only words.",
            Card("A board.", picture=board, section="not on the page"),
        ),
        sections=(Section("The <part>", ("Words.",)),),
    )
    text = page.html()
    parsed = Parsed(text)
    classes = [each.get("class") for each in parsed.tags("div")]
    assert classes == ["sheet", "card lead", "says", "thumb", "says"]
    assert [each.get("class") for each in parsed.tags("li")] == [None, None, "card", None]
    links = [each.get("href") for each in parsed.tags("a")]
    assert links == ["#main", "#findings", "#part-1", "#part-1", "#top"]
    assert len(parsed.tags("svg")) == 2  # drawn without a script
    assert parsed.scripts == []
    assert text.count("<b onclick") == 0
    assert [*map(str, page.findings)] == [HOSTILE, "Only words.", "A board."]


def test_a_still_chart_is_a_picture_without_a_script() -> None:
    dot = Dot("<b>one", 1.0, 0.5, 2.0)
    still = Chart(dots([dot], x="Elo", reference=0), "A <b>picture.", still=True)
    text = Page("Still", sections=(Section("One", (), (still,)),)).html()
    assert "data:image/svg+xml;base64," in text
    assert "<script" not in text
    assert "A &lt;b&gt;picture." in text
    assert "<b>" not in text


def test_hostile_text_stays_text() -> None:
    parsed = Parsed(full_page(HOSTILE).html())
    assert parsed.open == []
    kinds = [attributes.get("type") for attributes, _ in parsed.scripts]
    assert kinds == ["application/json"] * 5 + [None]
    assert not [attributes for _, attributes in parsed.elements if "onclick" in attributes]
    assert any("</script><script>alert(1)" in text for text in parsed.texts)


def test_charts_are_json_that_reads_back() -> None:
    parsed = Parsed(full_page(HOSTILE).html())
    specs = [json.loads(text) for attributes, text in parsed.scripts if "id" in attributes]
    assert len(specs) == 4
    for spec in specs:
        (rows,) = spec["datasets"].values()
        assert rows[0]["name"] == HOSTILE
        assert spec["description"].startswith("</script>")


def test_the_page_can_be_written_whatever_its_text(tmp_path: Path) -> None:
    write_page(full_page(HOSTILE), tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").endswith("</html>\n")


def test_nothing_is_loaded() -> None:
    text = full_page().html()
    parsed = Parsed(text)
    for _, attributes in parsed.elements:
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    assert "default-src 'none'" in str(parsed.tags("meta"))
    ours = text.replace(drawing_script(), "")
    for link in re.findall(r"https?://[^\"'<> )]+", ours):
        assert link.startswith(("https://vega.github.io/schema/", "http://www.w3.org/"))
    assert "@import" not in ours
    assert "url(" not in ours


def test_the_script_comes_once_and_only_with_charts() -> None:
    assert full_page().html().count(drawing_script()) == 1
    assert "<script" not in Page("Words", findings=("Nothing to draw.",)).html()


def test_the_script_cannot_end_the_element_it_stands_in() -> None:
    assert not re.search(r"</script|<script|<!--", drawing_script(), re.IGNORECASE)


def test_a_page_is_no_larger_than_its_drawing_library_and_a_little() -> None:
    assert len(full_page().html().encode()) < 1_000_000


def test_headings_are_in_order_and_sections_are_named() -> None:
    parsed = Parsed(full_page().html())
    levels = [int(tag[1]) for tag, _ in parsed.elements if re.fullmatch("h[1-6]", tag)]
    assert levels == [1, 2, 2, 2, 2]
    ids = {attributes["id"] for _, attributes in parsed.elements if "id" in attributes}
    assert {section["aria-labelledby"] for section in parsed.tags("section")} <= ids
    assert {str(link["href"])[1:] for link in parsed.tags("a")} <= ids
    assert [tag for tag in ("header", "nav", "main", "footer") if len(parsed.tags(tag)) == 1] == [
        "header",
        "nav",
        "main",
        "footer",
    ]
    assert parsed.tags("html") == [{"lang": "en"}]


def test_ids_are_given_once() -> None:
    parsed = Parsed(full_page().html())
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_a_table_says_what_its_rows_and_columns_are() -> None:
    table = Table(
        "Scores", ("Player", "Games", "Words"), (("a", "10", "3 won"), ("b", "–", "none"))
    )
    text = Page("Tables", sections=(Section("One", blocks=(table,)),)).html()
    parsed = Parsed(text)
    assert [cell["scope"] for cell in parsed.tags("th")] == ["col", "col", "col", "row", "row"]
    assert "<caption><span>Scores</span></caption>" in text
    assert [cell.get("class") for cell in parsed.tags("td")] == ["number", None, "number", None]


def test_a_row_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells in 2 columns"):
        Table("Scores", ("Player", "Games"), (("a",),))


def test_numbers_that_json_does_not_know_are_refused() -> None:
    chart = alt.Chart(alt.InlineData(values=[{"x": float("nan")}])).mark_point().encode(x="x:Q")
    with pytest.raises(ValueError, match="JSON"):
        Page("Bad", sections=(Section("One", blocks=(Chart(chart, "nothing"),)),)).html()


def test_charts_of_a_page_can_be_drawn() -> None:
    for chart in full_page(HOSTILE.replace("\ud800", "")).charts:
        spec = specification(chart.chart, chart.caption)
        picture = ElementTree.fromstring(vl_convert.vegalite_to_svg(spec, vl_version="6.4"))
        assert picture.tag.endswith("svg")


def test_a_chart_is_saved_as_a_picture(tmp_path: Path) -> None:
    save_chart(bar_chart(), tmp_path / "chart.svg")
    picture = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert "#c2571a" in picture
    assert "var(" not in picture
    assert int(ElementTree.fromstring(picture).attrib["width"]) >= 640
    save_chart(bar_chart(), tmp_path / "chart.png", scale=1)
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_a_chart_is_saved_as_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"not as 'chart\.gif'"):
        save_chart(bar_chart(), tmp_path / "chart.gif")
    assert not list(tmp_path.iterdir())


def packed_picks(text: str) -> tuple[list[str], list[str]]:
    """The keys of an explorer's picks, and what the script shows for each."""
    scripts = Parsed(text).scripts
    data = json.loads(next(text for attributes, text in scripts if [*attributes] == ["type"]))
    return data["keys"], json.loads(zlib.decompress(base64.b64decode(data["packed"])))


def test_the_boards_of_picks_are_packed_and_the_first_is_there_at_once() -> None:
    text = page_of(explorer()).html()
    keys, shown = packed_picks(text)
    assert keys == ["a", "plain words", "c"]
    assert [part.count("<svg") for part in shown] == [1, 2, 0]
    assert "<strong>plain words: plain words.</strong> plain words</p>" in shown[1]
    before_the_script = text.partition("<script>")[0]
    assert before_the_script.count('class="hk-svg"') == 1
    assert f'aria-live="polite">{shown[0]}</div>' in text


def test_another_pick_may_be_shown_first() -> None:
    text = page_of(explorer(shown="plain words")).html()
    assert f'aria-live="polite">{packed_picks(text)[1][1]}</div>' in text
    parsed = Parsed(text)
    assert ["selected" in option for option in parsed.tags("option")] == [False, True, False]
    assert parsed.tags("optgroup") == [{"label": "plain words"}]
    assert [label["for"] for label in parsed.tags("label")] == [parsed.tags("select")[0]["id"]]


def test_hostile_picks_stay_text() -> None:
    keys, shown = packed_picks(page_of(explorer(HOSTILE)).html())
    assert keys[1] == HOSTILE
    for part in shown:
        parsed = Parsed(part)
        assert parsed.open == []
        assert parsed.scripts == []
        assert not [attributes for _, attributes in parsed.elements if "onclick" in attributes]


@pytest.mark.parametrize(
    ("keys", "shown", "said"),
    [((), None, "nothing to pick"), ("aa", None, "the same key"), ("ab", "c", "the key 'c'")],
)
def test_ambiguous_picks_are_refused(keys: Any, shown: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Explorer(Chart(bar_chart(), "Bars"), tuple(Pick(key, key) for key in keys), shown)


def test_hundreds_of_boards_fit_on_a_page() -> None:
    """320 boards of 19 lines, each of another random game."""

    def board(seed: int) -> Board:
        line = hk.position("go19").line()
        while len(line) < 150:
            line = line.play(line.random_move(1000 * seed + len(line)))
        return Board(hk.diagram(line), f"Game {seed}")

    picks = tuple(
        Pick(str(n), f"bin {n}", boards=tuple(board(4 * n + i) for i in range(4)))
        for n in range(80)
    )
    page = page_of(Explorer(Chart(bar_chart(), "Bars"), picks))
    assert len(page.html().encode()) < 1_500_000


def test_details_are_folded_under_their_title() -> None:
    chart = Chart(bar_chart(), "Bars")
    page = page_of(Details("Numbers", ("Words.",), (chart, explorer())))
    assert page.charts == (chart, page.sections[0].blocks[0].blocks[1].chart)  # type: ignore[union-attr]
    assert "<details>\n<summary>Numbers</summary>\n<p>Words.</p>\n<figure>" in page.html()


def test_charts_above_one_another_get_a_width_that_vega_lite_knows() -> None:
    spec = specification(curve_above_counts())
    assert [part["width"] for part in spec["vconcat"]] == [640, 640]
    assert spec["usermeta"] == {"fit": True}
    vega = vl_convert.vegalite_to_vega(spec, vl_version="6.4")
    assert vega["width"] == 640
    assert {"name": "picked", "value": ""} in vega["signals"]


def test_charts_of_a_width_of_their_own_keep_it() -> None:
    chart = alt.vconcat(bar_chart().properties(width=100), bar_chart().properties(width=200))
    spec = specification(chart)
    assert [part["width"] for part in spec["vconcat"]] == [100, 200]
    assert "usermeta" not in spec


def test_charts_above_one_another_are_saved_as_a_picture(tmp_path: Path) -> None:
    save_chart(curve_above_counts(), tmp_path / "chart.svg")
    picture = ElementTree.parse(tmp_path / "chart.svg").getroot()
    assert 640 < float(picture.attrib["width"]) < 760


def test_light_and_dark_have_the_same_colors() -> None:
    light, dark = (names_of_colors(theme) for theme in (0, 1))
    assert list(light) == list(dark)
    assert {color[6:-1] for color in (*COLORS, INK, QUIET)} <= set(light)


@pytest.mark.parametrize("theme", [0, 1])
def test_colors_stand_out_from_the_page(theme: int) -> None:
    """WCAG 2: 4.5 for text, 3 for what a chart draws."""
    colors = names_of_colors(theme)
    for name, least in [("ink", 7.0), ("quiet", 4.5), ("link", 4.5)]:
        assert contrast(colors[name], colors["ground"]) >= least
        assert contrast(colors[name], colors["card"]) >= least
    for name, color in colors.items():
        if name.startswith("series"):
            assert contrast(color, colors["ground"]) >= 3


def names_of_colors(theme: int) -> dict[str, str]:
    block = re.findall(r":root \{(.*?)\}", styles(), re.DOTALL)[theme]
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
