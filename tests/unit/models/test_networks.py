# SPDX-License-Identifier: Apache-2.0
"""Networks: what they compute, from either side, their files, and searches that take them."""

import dataclasses
import json
import zlib
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka import _core
from hyoka._core import Go3
from hyoka.foundation.errors import NotationError, SourceError
from hyoka.models.loading import move_model
from hyoka.models.networks import Network, NetworkSize
from hyoka.records.bulk import GameTable
from hyoka.search import SearchSpec, static_evaluation, uct
from hyoka.storage.model_file import ModelFile, Origin

from ..small_networks import (
    bits,
    expected_logits,
    expected_strengths,
    inputs_of,
    positions_of,
    random_network,
    random_records,
)

GAMES = ("othello", "go5", "go9", "chess", "shogi", "blokus_duo")
SMALL = random_network("go3")


def weighed(found: Network, position: Any) -> tuple[list[Any], np.ndarray]:
    moves, strengths = _core.weigh_moves(found.game, position.line(), found.move_model())
    return moves, strengths


class TestAnswers:
    @pytest.mark.parametrize("game", GAMES)
    def test_logits_are_numpys(self, game: str) -> None:
        found = random_network(game, width=128, value_units=5)
        positions = positions_of(game, 1)
        logits = found.in_core.logits(positions)
        assert logits == pytest.approx(expected_logits(found, positions), abs=1e-4)
        assert logits.std() > 0.02

    @pytest.mark.parametrize("game", ["othello", "go5", "blokus_duo"])
    def test_strengths_of_moves_are_numpys(self, game: str) -> None:
        found = random_network(game)
        checked = 0
        for position in positions_of(game, 2, 30):
            if game == "blokus_duo" and position.to_play is not hk.Player.first:
                continue  # the second player sees other codes
            moves, strengths = weighed(found, position)
            expected = expected_strengths(found, position, [move.code for move in moves])
            assert strengths == pytest.approx(expected, rel=1e-4)
            assert strengths.max() == 1
            checked += len(moves) > 1
        assert checked > 8

    @pytest.mark.parametrize("game", GAMES)
    def test_values_and_scores_are_the_first_players(self, game: str) -> None:
        found = random_network(game)
        positions = positions_of(game, 3)
        first = np.array([each.to_play is hk.Player.first for each in positions])
        own = found.in_core.logits(positions).astype(np.float64)
        logits = np.where(first, own, -own)
        assert found.value(positions) == pytest.approx(1 / (1 + np.exp(-logits)))
        assert found.score(positions) == pytest.approx(found.scale * logits, abs=0.51)
        assert found.unit == ("centipawns" if game in ("chess", "shogi") else found.unit)

    def test_scores_stay_below_those_of_games_that_are_over(self) -> None:
        numbers = {name: array.copy() for name, array in SMALL.numbers.items()}
        numbers["value_out_bias"][0] = 1e6
        sure = Network("go3", SMALL.size, numbers)
        assert sure.score([Go3()]).tolist() == [15000]
        assert sure.value([Go3()]).tolist() == [1]

    def test_a_network_may_judge_no_moves(self) -> None:
        found = random_network("othello", policy_units=0)
        assert not found.has_policy
        assert found.score([hk.Othello()]).shape == (1,)
        with pytest.raises(NotationError, match="does not judge moves"):
            found.move_model()
        with pytest.raises(SourceError, match="does not judge moves"):
            move_model("othello", found.model_file())


class TestSides:
    """The board looks alike for both sides to move."""

    def check(self, game: str, positions: list[Any], swapped: list[Any]) -> None:
        found = random_network(game)
        scores = found.score(positions)
        assert (found.score(swapped) == -scores).all()
        assert (inputs_of(found, swapped) == inputs_of(found, positions)).all()
        assert scores.std() > 10

    def test_othello(self) -> None:
        positions = positions_of("othello", 4)
        swap = str.maketrans("XO", "OX")
        self.check(
            "othello",
            positions,
            [hk.Othello.from_text(each.text.translate(swap)) for each in positions],
        )

    def test_chess(self) -> None:
        positions = positions_of("chess", 4)
        mirrored = [chess.Board(each.text).mirror() for each in positions]
        self.check("chess", positions, [hk.Chess.from_text(each.fen()) for each in mirrored])

    def test_shogi(self) -> None:
        positions = positions_of("shogi", 4)
        swapped = []
        for position in positions:
            rows, mover, hands, _ = position.text.split()
            turned = []
            for row in reversed(rows.split("/")):
                pieces: list[str] = []
                for letter in row:
                    if pieces and pieces[-1] == "+":
                        pieces[-1] += letter
                    else:
                        pieces.append(letter)
                turned.append("".join(reversed(pieces)).swapcase())
            mover = "w" if mover == "b" else "b"
            text = f"{'/'.join(turned)} {mover} {hands.swapcase()} 1"
            swapped.append(hk.Shogi.from_text(text))
        self.check("shogi", positions, swapped)

    def test_blokus_duo(self) -> None:
        positions = positions_of("blokus_duo", 4)
        swapped = []
        for position in positions:
            rows, mover = position.text.split()
            plain = [_spread(row) for row in rows.split("/")]
            turned = [row[::-1].translate(str.maketrans("XO", "OX")) for row in reversed(plain)]
            text = "/".join(_packed(row) for row in turned) + (" o" if mover == "x" else " x")
            swapped.append(hk.BlokusDuo.from_text(text))
        self.check("blokus_duo", positions, swapped)

    def test_the_second_player_of_blokus_duo_sees_moves_upside_down(self) -> None:
        found = random_network("blokus_duo")
        start = hk.BlokusDuo()
        # Either player's first move has its corner square, at (4, 4) and (9, 9).
        other = hk.BlokusDuo.from_text(start.text.replace(" x", " o"))
        one, two = (
            {str(move): strength for move, strength in zip(*weighed(found, each), strict=True)}
            for each in (start, other)
        )
        assert sorted(one.values()) == sorted(two.values())
        assert one != two

    def test_go_with_komi_negated(self) -> None:
        positions = [each.with_komi(6.5) for each in positions_of("go9", 4)]
        swapped = []
        for position in positions:
            rows, mover, *rest = position.with_komi(-6.5).text.split()
            turned = rows.translate(str.maketrans("XO", "OX"))
            swapped.append(
                hk.Go9.from_text(" ".join([turned, "w" if mover == "b" else "b", *rest]))
            )
        self.check("go9", positions, swapped)


def _spread(row: str) -> str:
    """With a dot for each empty square."""
    spread, number = "", ""
    for letter in f"{row} ":
        if letter.isdigit():
            number += letter
            continue
        spread += "." * int(number or 0) + letter
        number = ""
    return spread.strip()


def _packed(row: str) -> str:
    packed, empty = "", 0
    for letter in f"{row} ":
        if letter == ".":
            empty += 1
            continue
        packed += (str(empty) if empty else "") + letter
        empty = 0
    return packed.strip()


class TestPasses:
    @pytest.mark.parametrize("game", GAMES)
    def test_threads_don_t_matter_and_targets_are_legal(self, game: str) -> None:
        table = GameTable.from_records(random_records(game, 8 if game == "chess" else 24, 5, 40))
        played = table.played
        offsets = np.concatenate([[0], np.cumsum(played >= 0)]).astype(np.int64)
        codes = played[played >= 0].astype(np.uint16)
        one, two = (
            table.in_core.network_inputs(offsets, codes, 3, True, threads, None)
            for threads in (1, 2)
        )
        for i in range(4):
            assert np.array_equal(one[i], two[i])
        inputs, legal, targets, first = one
        assert len(inputs) == len(legal) == len(first) == len(table)
        _, code_count = _core.network_size(game)
        allowed = bits(legal, code_count)
        rows = np.repeat(np.arange(len(table)), np.diff(offsets))
        assert allowed[rows, targets].all()
        assert allowed.sum(1)[rows].min() > 0
        # Another seed turns boards another way, where there are ways.
        other = table.in_core.network_inputs(offsets, codes, 4, False, 2, None)
        assert (other[0] != inputs).any() == (game != "chess")
        assert other[1].shape == (0, legal.shape[1])
        assert (other[3] == first).all()

    def test_what_is_seen_is_one_of_the_ways_to_turn_the_board(self) -> None:
        records = random_records("othello", 6, 6)
        table = GameTable.from_records(records)
        none = np.zeros(len(table) + 1, np.int64)
        inputs, *_ = table.in_core.network_inputs(none, np.zeros(0, np.uint16), 1, False, 1, None)
        ways = set()
        for position, seen in zip(table.positions(), inputs, strict=True):
            turned = _core.network_inputs("othello", [position.transformed(i) for i in range(8)])
            found = np.flatnonzero((turned == seen).all(axis=1))
            assert len(found)
            if len(found) == 1:
                ways.add(int(found[0]))
        assert ways == set(range(8))

    def test_targets_that_don_t_fit_are_refused(self) -> None:
        table = GameTable.from_records(random_records("othello", 1, 6, 4)).in_core
        for offsets in ([0, 1], [0, 0, 0, 0, 0, 1], [0, 2, 1, 1, 1, 1], []):
            with pytest.raises(ValueError, match="don't fit"):
                table.network_inputs(
                    np.array(offsets, np.int64), np.zeros(2, np.uint16), 0, False, 1, None
                )


class TestFiles:
    @pytest.mark.parametrize("policy_units", [0, 3])
    def test_a_file_holds_it_whole(self, policy_units: int, tmp_path: Path) -> None:
        made = random_network("go5", policy_units=policy_units)
        file = tmp_path / "network.nn"
        made.save(file, Origin("a test", seed=3))
        for found in (Network.load("go5", file), static_evaluation("go5", file)):
            assert isinstance(found, Network)
            assert found.size == made.size
            assert found.fingerprint == made.fingerprint
            assert all((found.numbers[name] == made.numbers[name]).all() for name in made.numbers)
        model_file = ModelFile.from_bytes(file.read_bytes(), path=str(file))
        assert (model_file.kind, model_file.game) == (Network.kind, "go5")
        assert made.fingerprint != random_network("go5", seed=1).fingerprint

    def test_another_game_has_no_use_for_it(self) -> None:
        with pytest.raises(SourceError, match="for go3, not for go5"):
            static_evaluation("go5", SMALL.model_file())
        with pytest.raises(SourceError, match="for go3, not for chess"):
            move_model("chess", SMALL.model_file())

    @pytest.mark.parametrize(
        ("about", "message"),
        [
            ({"width": 96}, "a multiple of 64"),
            ({"width": 0}, "a multiple of 64"),
            ({"width": 10**9}, "a multiple of 64"),
            ({"width": 64.0}, "its size is"),
            ({"width": True}, "its size is"),
            ({"width": "64\n64"}, "its size is"),
            ({"width": 128}, "longer or shorter"),
            ({"value_units": 7}, "longer or shorter"),
            ({"value_units": 0}, "up to 256 units"),
            ({"policy_units": -1}, "up to 256 units"),
            ({"policy_units": 10**30}, "up to 256 units"),
            ({"policy_units": 0}, "longer or shorter"),
            ({"inputs": 7}, "7 inputs, which are"),
            ({"inputs": None}, "inputs, which are"),
            ({"codes": [1] * 10**5}, "codes, which are"),
        ],
    )
    def test_a_wrong_size_is_refused(self, about: dict[str, Any], message: str) -> None:
        line, _, rest = SMALL.model_file().content.partition(b"\n")
        changed = json.dumps(json.loads(line) | about).encode() + b"\n" + rest
        with pytest.raises(SourceError, match=message) as caught:
            Network.from_model_file(ModelFile.of(Network.kind, changed, game="go3"), "go3")
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400

    @pytest.mark.parametrize(
        "content",
        [b"", b"{}", b"[]\n", b"\xff\xfe\n", b"[" * 100_000, b"1" * 10_000, b"NaN\n", b'"a"\n'],
    )
    def test_hostile_bytes_are_refused_in_a_line(self, content: bytes) -> None:
        with pytest.raises(SourceError, match="no network that can be read") as caught:
            Network.from_model_file(ModelFile.of(Network.kind, content, game="go3"), "go3")
        assert "\n" not in str(caught.value)

    def test_numbers_packed_all_too_well_are_not_unpacked(self) -> None:
        line, _, _ = SMALL.model_file().content.partition(b"\n")
        for packed in (zlib.compress(bytes(10**8)), b"nothing packed", zlib.compress(b"")):
            content = line + b"\n" + packed
            with pytest.raises(SourceError, match="no network that can be read"):
                Network.from_model_file(ModelFile.of(Network.kind, content, game="go3"), "go3")

    @pytest.mark.parametrize("number", [np.nan, np.inf, 3e38])
    @pytest.mark.parametrize(
        "name",
        ["value_bias", "value_out", "value_out_bias", "policy_bias", "move_bias", "move_scale"],
    )
    def test_numbers_that_say_nothing_are_refused(self, name: str, number: float) -> None:
        numbers = {each: array.copy() for each, array in SMALL.numbers.items()}
        numbers[name][0] = number
        with pytest.raises(NotationError, match="not finite, or too large"):
            Network("go3", SMALL.size, numbers)

    def test_arrays_of_another_shape_are_refused(self) -> None:
        for name in SMALL.numbers:
            numbers = dict(SMALL.numbers)
            numbers[name] = np.zeros(3, np.float64)
            with pytest.raises(NotationError, match=f"'{name}' is"):
                Network("go3", SMALL.size, numbers)
        large = dict(SMALL.numbers) | {"value": np.full_like(SMALL.numbers["value"], 32767)}
        with pytest.raises(NotationError, match="weights are too large"):
            Network("go3", SMALL.size, large)

    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def test_an_edited_file_is_read_or_refused_in_a_line(self, data: st.DataObject) -> None:
        """Numbers may have been changed to others; all of them still say something."""
        line, _, rest = SMALL.model_file().content.partition(b"\n")
        if data.draw(st.booleans()):
            numbers = bytearray(zlib.decompress(rest))
            for place in data.draw(st.lists(st.integers(0, len(numbers) - 1), max_size=20)):
                numbers[place] = data.draw(st.integers(0, 255))
            content = line + b"\n" + zlib.compress(bytes(numbers), 1)
        else:
            whole = bytearray(line + b"\n" + rest)
            place = data.draw(st.integers(0, len(whole)))
            more = data.draw(st.binary(max_size=4))
            whole[place : place + data.draw(st.integers(0, 4))] = more
            content = bytes(whole)
        message = ""
        try:
            found = Network.from_model_file(ModelFile.of(Network.kind, content, game="go3"), "go3")
        except SourceError as error:
            message = str(error)
        assert "\n" not in message
        assert len(message) < 400
        if message:
            return
        start = Go3()
        assert 0 <= found.value([start])[0] <= 1
        if found.has_policy:
            strengths = weighed(found, start)[1]
            assert ((strengths > 0) & (strengths <= 1)).all()

    @pytest.mark.parametrize("words", [(65,), (0,), (64, 0), (64, 300), (64, 8, -1)])
    def test_sizes_that_make_no_sense_are_refused(self, words: tuple[int, ...]) -> None:
        with pytest.raises(NotationError, match=r"width|units"):
            NetworkSize.of_game("othello", *words)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("networks") / "othello.nn"
    random_network("othello").save(found)
    return found


def said(spec: str, position: Any = None) -> Any:
    return hk.search_once(position or hk.Othello(), spec)


class TestSearches:
    @pytest.mark.parametrize(
        "spec",
        [
            "uct:playouts=60,eval={0},cutoff=0",
            "uct:playouts=60,eval={0},strengths={0},cutoff=0,formula=puct",
            "uct:playouts=60,eval={0},eval_weight=0.5",
            "uct:playouts=60,eval={0},eval_visits=8",
            "uct:playouts=60,strengths={0},formula=puct",
            "uct:playouts=60,strengths={0},widening=on",
            "ab:depth=4,eval={0}",
            "mc:playouts=60,policy=strengths,strengths={0}",
        ],
    )
    def test_searches_take_its_file_and_say_the_same_again(self, spec: str, file: Path) -> None:
        found = said(spec.format(file))
        again = said(spec.format(file))
        assert (found.best, found.value, found.pv) == (again.best, again.value, again.pv)
        assert [each.visits for each in found.moves] == [each.visits for each in again.moves]

    def test_alpha_beta_finds_the_scores_of_the_leaves(self, file: Path) -> None:
        found = Network.load("othello", file)
        position = positions_of("othello", 7, 12)[-1]
        scores = {
            str(move): int(found.score([position.play(move)])[0]) for move in position.legal_moves
        }
        best = max if position.to_play is hk.Player.first else min
        result = said(f"ab:depth=1,eval={file}", position)
        assert result.score == best(scores.values())
        assert scores[str(result.best)] == result.score

    def test_alpha_beta_deep_down_follows_sums_to_the_same_scores(self, file: Path) -> None:
        """The end of the best line has the score that the search says."""
        found = Network.load("othello", file)
        for position in positions_of("othello", 8, 20)[10:16]:
            result = said(f"ab:depth=4,exact=on,eval={file}", position)
            end = position
            for move in result.pv:
                end = end.play(move)
            if end.outcome is None and len(result.pv) == 4:
                assert int(found.score([end])[0]) == result.score

    def test_a_search_without_playouts_means_what_the_network_says(self, file: Path) -> None:
        found = Network.load("othello", file)
        start = hk.Othello()
        result = said(f"uct:playouts=40,eval={file},cutoff=0,expand=1")
        seen = [each for each in result.moves if each.visits == 1]
        for each in seen:
            value = float(found.value([start.play(str(each.move))])[0])
            assert each.value == pytest.approx(value, abs=1e-6)

    def test_priors_of_moves_are_the_networks_strengths(self, file: Path) -> None:
        found = Network.load("othello", file)
        position = positions_of("othello", 9, 20)[-1]
        moves, strengths = weighed(found, position)
        result = said(
            f"uct:playouts=2000,eval={file},strengths={file},cutoff=0,formula=puct", position
        )
        visits = {str(each.move): each.visits for each in result.moves}
        flat = said(f"uct:playouts=2000,eval={file},cutoff=0,formula=puct", position)
        assert visits != {str(each.move): each.visits for each in flat.moves}
        assert len(moves) == len(strengths) == len(visits)

    @pytest.mark.parametrize("game", ["othello", "go5", "blokus_duo"])
    def test_a_mix_of_nothing_else_is_the_network_alone(self, game: str) -> None:
        found = random_network(game)
        mixed, alone = (
            hk.search_once(
                hk.games.GAMES[game](),
                uct(playouts=30, evaluation=found, preset="paper", **more),
            )
            for more in ({"eval_weight": 1.0}, {"cutoff": 0})
        )
        # Without playouts scores are whole numbers.
        assert mixed.value == pytest.approx(alone.value, abs=1e-3)

    def test_where_playouts_are_not_the_rule_a_mix_brings_them_back(self, file: Path) -> None:
        """Othello's preset has cutoff=0; who says eval_weight=… wants playouts."""
        spec = SearchSpec.from_text(f"uct:eval={file},eval_weight=0.5").validated_for("othello")
        assert (spec["cutoff"], spec["formula"]) == (None, "puct")
        alone = said(f"uct:playouts=30,eval={file}")
        assert said(f"uct:playouts=30,eval={file},eval_weight=0.5").value != alone.value

    def test_where_a_mix_is_the_rule_cut_playouts_are_not_mixed(self) -> None:
        """Blokus Duo's preset mixes; with cutoff=0 its network would be asked twice a leaf."""
        assert SearchSpec.from_text("uct").for_game("blokus_duo")["eval_weight"] > 0
        assert SearchSpec.from_text("uct:cutoff=0").for_game("blokus_duo")["eval_weight"] == 0

    @pytest.mark.parametrize("share", [0.25, 0.5, 0.8])
    def test_a_mix_has_so_much_of_each(self, share: float, file: Path) -> None:
        """One simulation: nothing has yet been chosen by its value."""
        spec = f"uct:playouts=1,preset=paper,eval={file}"
        for position in positions_of("othello", 10, 12):
            network_only = said(f"{spec},eval_weight=1", position).value
            played = said("uct:playouts=1,preset=paper", position).value
            mixed = said(f"{spec},eval_weight={share}", position).value
            assert mixed == pytest.approx(share * network_only + (1 - share) * played, abs=1e-6)

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ("uct:eval_weight=0.5,cutoff=0", "cutoff=0"),
            ("uct:preset=paper,eval={0}", "without"),
            ("uct:eval_weight=2", "eval_weight"),
            ("uct:eval_weight=-1", "eval_weight"),
            ("ab:eval_weight=0.5", "eval_weight"),
        ],
    )
    def test_what_has_no_effect_is_refused(self, spec: str, message: str, file: Path) -> None:
        with pytest.raises(hk.Error, match=message) as caught:
            said(spec.format(file) + ",playouts=5" if spec.startswith("uct") else spec)
        assert "\n" not in str(caught.value)

    def test_networks_of_other_games_are_refused(self, file: Path) -> None:
        for spec in (f"uct:playouts=5,cutoff=0,eval={file}", f"ab:depth=1,eval={file}"):
            with pytest.raises(hk.Error, match="for othello, not for chess"):
                said(spec, hk.Chess())

    def test_what_players_are_called_tells_networks_apart(self) -> None:
        one, other = (uct(cutoff=0, evaluation=random_network("othello", seed=i)) for i in (0, 1))
        assert one.for_game("othello") != other.for_game("othello")
        assert dataclasses.replace(one) == one
