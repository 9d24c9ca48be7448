# SPDX-License-Identifier: Apache-2.0
"""Studies larger than memory: ranges of games, condensed analyses, and samples of games."""

from dataclasses import replace

import numpy as np
import pytest

from hyoka.records.samples import sample_path
from hyoka.study import Study
from hyoka.study.evaluating import evaluate
from hyoka.study.sampling import measured
from hyoka.study.tables import GameChoice


@pytest.fixture(scope="module")
def chess(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The shipped chess games with their players' own scores."""
    folder = tmp_path_factory.mktemp("condensing") / "study"
    study = Study.create(folder, records=sample_path("chess"), columns="none")
    evaluate(study, ["comments"])
    return study


@pytest.mark.parametrize(("low", "high"), [(0, 10), (7, 200), (300, None), (0, None)])
def test_queries_see_a_range_of_games(chess: Study, low: int, high: int | None) -> None:
    some = replace(chess, chosen=GameChoice(low, high))
    every, loaded = measured(chess, "comments"), measured(some, "comments")
    inside = (every.game_ids >= low) & (every.game_ids < (high or 10**9))
    assert loaded.game_ids.tolist() == every.game_ids[inside].tolist()
    assert loaded.samples[0].values.tolist() == every.samples[0].values[inside].tolist()


def test_queries_see_a_random_share_of_the_games(chess: Study) -> None:
    shares = [0.1, 0.5, 0.9]
    ids = [
        set(
            replace(chess, chosen=GameChoice(share=share))
            .sql("select game_id from games")["game_id"]
            .to_pylist()
        )
        for share in shares
    ]
    assert ids[0] < ids[1] < ids[2]
    for share, chosen in zip(shares, ids, strict=True):
        # Five standard deviations of a binomial count.
        assert abs(len(chosen) - 312 * share) < 5 * np.sqrt(312 * share * (1 - share))
    both = replace(chess, chosen=GameChoice(100, 200, 0.5))
    some = set(both.sql("select distinct game_id from positions")["game_id"].to_pylist())
    assert some == {game for game in ids[1] if 100 <= game < 200}
