# SPDX-License-Identifier: Apache-2.0
"""Model files: what is written is read back, and errors in a file are reported."""

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyoka as hk
from hyoka.engines import EngineSpec
from hyoka.models.bundled import bundled_model_file, bundled_names
from hyoka.search import (
    Book,
    MoveStrengths,
    Searcher,
    SearchSpec,
    ab,
    linear_evaluation,
    move_strengths,
    uct,
)
from hyoka.storage.model_file import KINDS, Kind, ModelFile, Origin, read_model_file

PGN = b"1. e4 e5 2. Nf3 Nc6 1-0\n"
ORIGIN = Origin("hyoka learn weights study", 3, {"games": 80}, {"method": "mlm"}, {"weights": "12"})
WEIGHTS = ModelFile.of("weights", {"game": "chess", "weights": {"pawn": [90, 110]}}, origin=ORIGIN)
BOOK = ModelFile.of("book", PGN, game="chess", origin=ORIGIN)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TEXTS = st.dictionaries(st.text(), st.text(), max_size=3)
ORIGINS = st.none() | st.builds(
    Origin,
    st.text(),
    st.none() | st.integers(),
    st.dictionaries(st.text(), st.integers(), max_size=3),
    TEXTS,
    TEXTS,
)
GAMES = st.none() | st.text()


def facts(model_file: ModelFile) -> tuple[Any, ...]:
    """Everything but its name."""
    return dataclasses.astuple(dataclasses.replace(model_file, path=""))


def read_or_refused(data: bytes, kind: str | None) -> ModelFile | None:
    try:
        return ModelFile.from_bytes(data, path="file", kind=kind)
    except hk.errors.SourceError as error:
        message = str(error)
    assert message.startswith("file: ")
    assert "\n" not in message
    assert len(message) < 400
    return None


# What is written is read


@given(
    st.sampled_from(["weights", "strengths", "formula"]), st.dictionaries(st.text(), JSON), ORIGINS
)
def test_what_is_written_as_json_is_read_as_it_was(
    kind: str, content: dict[str, Any], origin: Origin | None
) -> None:
    content.pop("hyoka", None)
    if not isinstance(content.get("game"), str):
        content.pop("game", None)
    made = ModelFile.of(kind, content, origin=origin)
    for wanted in (kind, None):
        assert facts(ModelFile.from_bytes(made.to_bytes(), kind=wanted)) == facts(made)


@given(st.sampled_from(["book", "profile"]), st.binary(), GAMES, ORIGINS)
def test_what_is_written_as_bytes_is_read_as_it_was(
    kind: str, content: bytes, game: str | None, origin: Origin | None
) -> None:
    made = ModelFile.of(kind, content, game=game, origin=origin)
    data = made.to_bytes()
    assert facts(ModelFile.from_bytes(data, kind=kind)) == facts(made)
    assert (len(data) - len(content)) % 64 == 0, "so that it can be mapped into memory"


def test_the_same_work_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "other"):
        linear_evaluation("othello").save(tmp_path / name, ORIGIN)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_weights_written_before_there_were_headers_are_the_same(tmp_path: Path) -> None:
    evaluation = linear_evaluation("othello")
    made = evaluation.model_file(ORIGIN)
    former = json.loads(made.to_bytes())
    del former["hyoka"]
    plain = tmp_path / "w.json"
    plain.write_text(json.dumps(former, indent=1) + "\n")
    found = read_model_file(plain, "weights")
    assert (found.version, found.origin, found.game) == (None, None, "othello")
    assert found == made
    assert found.to_bytes() == plain.read_bytes()
    assert linear_evaluation("othello", plain).fingerprint == evaluation.fingerprint
    saved = tmp_path / "saved.json"
    evaluation.save(saved)
    assert ab(eval=plain).id == ab(eval=saved).id


# Errors are reported


@given(st.binary(), st.none() | st.sampled_from(list(KINDS)))
def test_any_bytes_are_a_model_or_refused(data: bytes, kind: str | None) -> None:
    read_or_refused(data, kind)
    read_or_refused(b"hyoka-artefact 1\n" + data, kind)


@given(JSON, st.none() | st.sampled_from(list(KINDS)), st.sampled_from(["kind", "version", "game"]))
def test_any_header_is_a_model_or_refused(value: Any, kind: str | None, name: str) -> None:
    header = {"kind": "weights", "version": 1, "sha256": WEIGHTS.sha256, "made_by": value}
    for each in (value, header, header | {name: value}):
        content = {"hyoka": each, "game": "chess", "weights": {"pawn": [90, 110]}}
        read_or_refused(json.dumps(content).encode(), kind)
        text = json.dumps(each).encode()
        read_or_refused(b"hyoka-artefact 1\n" + text + b"\n" + PGN, kind)


@given(st.sampled_from([WEIGHTS, BOOK]), st.data())
def test_a_damaged_file_never_passes_for_another(
    model_file: ModelFile, data: st.DataObject
) -> None:
    whole = model_file.to_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255))
    changed = whole[:place] + bytes([byte]) + whole[place + 1 :]
    for damaged in (changed, whole[:place]):
        found = read_or_refused(damaged, model_file.kind)
        # Without a header that can be read, it is a file that was given: other content.
        assert found is None or found.version is None or found.sha256 == model_file.sha256


def edited(name: str, value: object) -> bytes:
    content = json.loads(WEIGHTS.to_bytes())
    content["hyoka"][name] = value
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (WEIGHTS.to_bytes().replace(b"110", b"111"), "damaged or edited: the content is not"),
        (WEIGHTS.to_bytes()[:-20], "no JSON"),
        (edited("kind", "strengths"), "it holds strengths, not weights"),
        (edited("kind", "wights"), "this Hyoka knows no kind wights; it knows weights, evaluation"),
        (edited("kind", ["weights"]), 'this Hyoka knows no kind ["weights"]'),
        (edited("kind", "book"), "a file of book is no JSON object"),
        (edited("version", 2), "weights in format 2; this Hyoka reads up to 1"),
        (edited("version", True), "weights in format true"),
        (edited("version", 0), "weights in format 0"),
        (edited("made_by", 3), "'made_by' is no object"),
        (edited("made_by", {}), "'made_by' has no command that is a text: null"),
        (edited("made_by", {"command": "x", "seed": "1"}), "a seed that is no whole number"),
        (edited("made_by", {"command": "x", "counts": {"a": "b"}}), "'counts' that can't be read"),
        (b'{"hyoka": 3}', "its header is no object, but 3"),
        (BOOK.to_bytes(), "it holds book, not weights"),
        (BOOK.to_bytes()[:-1], "cut short or added to"),
        (BOOK.to_bytes() + b"1", "cut short or added to"),
        (BOOK.to_bytes().replace(b"Nf3", b"Nh3"), "damaged or edited"),
        (BOOK.to_bytes().replace(b'"book"', b'"weights"'), "a file of weights is a JSON object"),
        (BOOK.to_bytes().replace(b'"chess"', b"3"), "its game is 3, not a name"),
        (b"hyoka-artefact 1\n", "whose header has no end"),
        (b"hyoka-artefact 1\n[]\n", "header: not an object"),
    ],
)
def test_invalid_input_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    file.write_bytes(data)
    for ask in (
        lambda: read_model_file(file, "weights"),
        lambda: SearchSpec.from_text(f"ab:eval={file}"),
        lambda: linear_evaluation("chess", file),
    ):
        with pytest.raises(hk.errors.SourceError) as caught:
            ask()
        assert str(caught.value).startswith(f"{file}: ")
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_newer_hyoka_reads_older_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    data = WEIGHTS.to_bytes()
    monkeypatch.setitem(KINDS, "weights", Kind("weights", 2, is_json=True))
    assert ModelFile.from_bytes(data).version == 1


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(
        hk.errors.NotationError, match="no kind of model 'wights'; did you mean weights"
    ):
        ModelFile.of("wights", {})
    with pytest.raises(hk.errors.NotationError, match="the content of weights is a JSON object"):
        ModelFile.of("weights", b"{}")
    with pytest.raises(hk.errors.NotationError, match="the content of book is bytes"):
        ModelFile.of("book", {})
    with pytest.raises(hk.errors.NotationError, match="'hyoka' is the header's name"):
        ModelFile.of("weights", {"hyoka": {}})
    with pytest.raises(hk.errors.NotationError, match="no file is named"):
        read_model_file(" ")


# Model files and searches


def test_values_are_taken_where_files_are() -> None:
    assert linear_evaluation("chess", WEIGHTS)["pawn"] == (90.0, 110.0)
    assert ab(eval=WEIGHTS).dependencies == {"eval": WEIGHTS.sha256}
    assert Book.from_file("chess", BOOK).counts
    strengths = MoveStrengths("chess", {"recapture": 2.5}).model_file()
    assert move_strengths("chess", strengths)["recapture"] == 2.5
    spec = uct(policy="strengths", strengths=strengths, book=BOOK)
    there = pickle.loads(pickle.dumps(spec))
    assert there == spec
    assert there["book"].content == PGN
    Searcher(there, "chess")


@pytest.mark.parametrize(("name", "kind"), [("eval", "weights"), ("strengths", "strengths")])
def test_a_model_of_another_kind_or_game_is_refused(name: str, kind: str) -> None:
    with pytest.raises(hk.errors.SourceError, match=f"it holds book, not {kind}"):
        uct(**{"policy": "strengths", "eval_visits": 1, name: BOOK})
    with pytest.raises(hk.errors.SourceError, match="it holds book, not profile"):
        EngineSpec(protocol="gtp", command="x", profile=BOOK)
    for ask in (linear_evaluation, move_strengths):
        with pytest.raises(hk.errors.SourceError, match="it holds book, not"):
            ask("chess", BOOK)
    with pytest.raises(hk.errors.SourceError, match="book for chess, not for othello"):
        Searcher(uct(book=BOOK), "othello")
    with pytest.raises(hk.errors.SourceError, match="weights for chess, not for shogi"):
        Searcher(ab(eval=WEIGHTS), "shogi")


def test_a_book_with_a_header_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "book"
    BOOK.save(file)
    spec = SearchSpec.from_text(f"uct:playouts=20,book={file}")
    assert str(Searcher(spec, "chess").search(hk.Chess()).best) == "e2e4"
    plain = tmp_path / "book.pgn"
    plain.write_bytes(PGN)
    assert uct(playouts=20, book=plain).id == spec.id


# What is built in


@pytest.mark.parametrize("name", bundled_names())
def test_what_is_built_in_is_what_searches_use(name: str) -> None:
    model_file = bundled_model_file(name)
    assert ModelFile.from_bytes(model_file.to_bytes()) == model_file
    assert (model_file.kind, model_file.path) == (name.split(":")[1], name)
    assert model_file.origin is not None
    game = model_file.game
    if model_file.kind == "weights":
        assert game is not None
        built_in = linear_evaluation(game)
        assert linear_evaluation(game, model_file).fingerprint == built_in.fingerprint
    elif model_file.kind == "strengths":
        assert game is not None
        assert move_strengths(game, model_file) == pytest.approx(move_strengths(game), rel=1e-7)
    else:
        assert (model_file.kind, game) == ("profile", None)


def test_saying_what_is_built_in_says_nothing() -> None:
    said = SearchSpec.from_text("mc:policy=strengths,cutoff=3,eval=built-in")
    unsaid = SearchSpec.from_text("mc:policy=strengths,cutoff=3")
    assert said == unsaid
    assert (said.id, said.text, said.dependencies) == (unsaid.id, unsaid.text, {})
    assert said["eval"] == said["strengths"] == "built-in"
    # Strengths are those that come with Hyoka, once the game is known: to say so is another thing.
    by_hand = said.with_settings(strengths="built-in")
    assert by_hand.id == said.id
    assert by_hand.for_game("chess").id != said.for_game("chess").id
    # So is the evaluation of tree searches and of alpha-beta.
    assert uct(eval_visits=3, eval="built-in").id == uct(eval_visits=3).id
    of_blokus = [
        uct(eval_visits=3, eval=each).for_game("blokus_duo") for each in ("built-in", None)
    ]
    assert of_blokus[0].id != of_blokus[1].id
    assert ab(eval="built-in").id == ab().id
    changed = ab(eval=WEIGHTS)
    assert changed.with_settings(eval=None) == ab()
    assert changed.with_settings(eval="built-in") == ab(eval="built-in")
    assert linear_evaluation("chess", "built-in").fingerprint == (
        linear_evaluation("chess").fingerprint
    )
    assert move_strengths("chess", "built-in") == move_strengths("chess")
    with pytest.raises(hk.errors.SourceError, match="No such file"):
        uct(book="built-in")


def test_what_is_built_in_can_be_said_beside_a_file() -> None:
    def spec(**settings: Any) -> SearchSpec:
        return uct(playouts=50, policy="strengths", formula="puct", **settings)

    def visits(spec: SearchSpec) -> list[int]:
        moves = Searcher(spec, "chess").search(hk.Chess()).moves
        return [report.visits for report in moves]

    file = MoveStrengths("chess", dict.fromkeys(move_strengths("chess"), 1.0)).model_file()
    mixed = spec(strengths=file, playout_strengths="built-in")
    assert "playout_strengths=built-in" in mixed.text
    assert mixed.id != spec(strengths=file).id
    assert visits(mixed) == visits(spec(prior_strengths=file))
    for same in (
        (spec(playout_strengths="built-in"), spec()),
        (spec(strengths=file, prior_strengths=file), spec(strengths=file)),
    ):
        assert same[0].id == same[1].id


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(hk.errors.NotationError, match="did you mean built-in:weights:chess"):
        bundled_model_file("built-in:weight:chess")


def test_the_error_about_the_former_name_of_strengths_names_the_new_one() -> None:
    for kind in ("uct", "mc", "mc-score"):
        with pytest.raises(hk.errors.NotationError) as caught:
            SearchSpec.from_text(f"{kind}:policy=strengths,ratings=file.json")
        assert str(caught.value) == f"{kind} has no setting 'ratings'; did you mean strengths?"
    with pytest.raises(hk.errors.NotationError, match="ab has no setting 'ratings'; known:"):
        SearchSpec.from_text("ab:ratings=file.json")
