"""Scores are stored under their whole key, with a value or a reason."""

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import Period, day
from hydrology.base.reasons import Reason
from records.database.engine import Database
from records.simulations import snow_cells
from records.simulations.snow_cells import SnowCells
from records.verification import scores
from records.verification.scores import HeldOutScore, Score
from testing.records import BASIN, NOW, a_basin, a_version, contents, instant

LATER = instant("2009-01-01")

SHORT = absent(Reason.TOO_FEW_PAIRS, minimum=26, pairs=25)


def _a_score(session: Session) -> Score:
    a_basin(session)
    return Score(
        version_id=a_version(session).id,
        basin_id=BASIN,
        member="mean",
        metric="nse",
        first_day=day("1989-10-01"),
        last_day=day("1999-09-30"),
        n=3652,
        value=0.74,
        low=0.7,
        high=0.78,
        period_use="held out",
        evaluated_at=NOW,
    )


def test_scores_are_read_by_version_basin_and_metric(database: Database) -> None:
    with database.transaction() as session:
        mean = _a_score(session)
        first = replace(mean, member="0", value=0.71)
        unknown = replace(mean, metric="fhv", value=None, reason=SHORT, low=None, high=None, n=25)
        winter = replace(mean, season="winter", first_day=day("1990-10-01"))
        scores.replace(session, [winter, unknown, mean, first])
        assert scores.scores(session) == [first, unknown, mean, winter]
        assert scores.scores(session, members=["0"]) == [first]
        assert scores.scores(session, metrics=["fhv", "kge"]) == [unknown]
        assert scores.scores(session, first_day=day("1990-10-01"), last_day=day("1999-09-30")) == [winter]
        assert scores.scores(session, versions=[mean.version_id], basins=["SYNTH-01"]) == []


def test_the_same_scores_again_write_nothing_and_others_replace(database: Database) -> None:
    with database.transaction() as session:
        score = _a_score(session)
        scores.replace(session, [score])
        before = contents(session)
        scores.replace(session, [replace(score, evaluated_at=LATER)])
        scores.replace(session, [])
        assert contents(session) == before
        better = replace(score, value=0.75, evaluated_at=LATER)
        scores.replace(session, [better])
        assert scores.scores(session) == [better]


@pytest.mark.parametrize(
    "change", [{"value": None}, {"reason": "none"}, {"low": 0.9}, {"n": -1}, {"period_use": "new"}]
)
def test_a_score_has_a_value_or_a_reason_a_true_interval_and_a_use_of_its_days(
    database: Database, change: dict[str, object]
) -> None:
    with database.transaction() as session:
        score = _a_score(session)
        with pytest.raises(IntegrityError), session.begin_nested():
            scores.replace(session, [replace(score, **change)])  # type: ignore[arg-type]


def test_a_score_is_never_nan(database: Database) -> None:
    with database.transaction() as session:
        score = _a_score(session)
        with pytest.raises(StatementError, match="must be finite"), session.begin_nested():
            scores.replace(session, [replace(score, value=float("nan"))])
        assert scores.scores(session) == []


def test_numpy_numbers_are_stored_as_numbers(database: Database) -> None:
    with database.transaction() as session:
        score = _a_score(session)
        numbers = {"n": np.int64(3652), "value": np.float32(0.5), "low": np.float64(0.25)}
        scores.replace(session, [replace(score, **numbers)])  # type: ignore[arg-type]
        assert scores.scores(session) == [replace(score, value=0.5, low=0.25)]


def test_snow_cells_are_replaced_by_version_basin_and_product(database: Database) -> None:
    with database.transaction() as session:
        score = _a_score(session)
        cells = SnowCells(
            version_id=score.version_id,
            basin_id=BASIN,
            product="uaz",
            cells={"0": [3, 17], "1": [5]},
            training_first=day("1999-10-01"),
            training_last=day("2008-09-30"),
            training_r=0.95,
            test_first=day("1989-10-01"),
            test_last=day("1999-09-30"),
            test_r=0.94,
            bias_pct=-23.0,
            evaluated_at=NOW,
        )
        snodas = replace(
            cells,
            product="snodas",
            cells={},
            test_r=None,
            bias_pct=None,
            reason=SHORT,
        )
        snow_cells.replace(session, [cells, snodas])
        better = replace(cells, cells={"0": [3]}, evaluated_at=LATER)
        snow_cells.replace(session, [better])
        snow_cells.replace(session, [])
        assert snow_cells.own_cells(session, score.version_id) == [snodas, better]
        assert snow_cells.own_cells(session, score.version_id, ["SYNTH-01"]) == []
        with pytest.raises(IntegrityError), session.begin_nested():
            snow_cells.replace(session, [replace(cells, test_r=None)])


def test_quartiles_are_over_the_basins_that_have_a_value(database: Database) -> None:
    with database.transaction() as session:
        score = _a_score(session)
        values = {"USGS-1": 0.1, "USGS-2": 0.2, "USGS-3": 0.4, "USGS-4": None}
        for basin, value in values.items():
            a_basin(session, basin)
            reason = None if value is not None else absent(Reason.CONSTANT_SERIES, series="observation")
            scores.replace(session, [replace(score, basin_id=basin, value=value, reason=reason, low=None, high=None)])
        lacking = replace(score, metric="fhv", value=None, reason=SHORT, low=None, high=None)
        scores.replace(session, [lacking, replace(score, first_day=day("1990-10-01"))])
        fhv, nse, shorter = scores.quartiles(session, score.version_id)
        assert (fhv.metric, fhv.n, fhv.lacking, fhv.p25, fhv.median, fhv.p75) == ("fhv", 0, 1, None, None, None)
        assert (nse.n, nse.lacking) == (3, 1)
        assert [nse.p25, nse.median, nse.p75] == pytest.approx([0.15, 0.2, 0.3])
        assert (shorter.first_day, shorter.n, shorter.median) == (day("1990-10-01"), 1, 0.74)
        assert scores.quartiles(session, score.version_id, ["kge"]) == []


def test_the_scores_of_the_mean_over_held_out_days_are_those_of_the_newest_period(database: Database) -> None:
    with database.transaction() as session:
        old = _a_score(session)
        newer = replace(old, first_day=day("1999-10-01"), last_day=day("2008-09-30"), value=0.8)
        others = [replace(old, member="0"), replace(old, season="winter"), replace(old, metric="kge", value=0.6)]
        unknown = replace(old, metric="fhv", value=None, reason=SHORT, low=None, high=None)
        learnt = replace(newer, first_day=day("2000-10-01"), value=0.99, period_use="training")
        scores.replace(session, [newer, old, unknown, *others, learnt])
        found = scores.held_out_scores(session, [old.version_id], ["nse", "fhv"])
        assert scores.held_out_scores(session, [old.version_id], ["nse"], ["SYNTH-01"]) == {}
    key = old.version_id, BASIN, "nse"
    assert found == {key: HeldOutScore(0.8, 3652, False, Period.parse("1999-10-01..2008-09-30"))}


def test_scores_are_read_by_the_use_of_their_days_and_never_pooled_over_several(database: Database) -> None:
    with database.transaction() as session:
        here = _a_score(session)
        learnt = replace(here, basin_id=a_basin(session, "SYNTH-01"), value=0.9, period_use="training")
        scores.replace(session, [here, learnt])
        assert scores.scores(session, uses=["training", "mixed"]) == [learnt]
        of_uses = {one.period_use: (one.n, one.median) for one in scores.quartiles(session, here.version_id)}
        assert of_uses == {"held out": (1, 0.74), "training": (1, 0.9)}
        (held_out,) = scores.quartiles(session, here.version_id, uses=["held out"])
        assert (held_out.period_use, held_out.median) == ("held out", 0.74)
        again = replace(here, period_use="unknown")
        scores.replace(session, [again])
        assert scores.scores(session, basins=[BASIN]) == [again]


def test_a_score_computed_here_comes_before_a_shipped_one_of_newer_or_longer_years(database: Database) -> None:
    with database.transaction() as session:
        computed = replace(_a_score(session), value=0.7)
        shipped = [
            replace(computed, last_day=day("2008-09-30"), value=0.9, shipped=True),
            replace(computed, first_day=day("1999-10-01"), last_day=day("2008-09-30"), value=0.8, shipped=True),
            replace(computed, metric="kge", value=0.6, shipped=True),
        ]
        scores.replace(session, [computed, *shipped])
        found = scores.held_out_scores(session, [computed.version_id], ["nse", "kge"])
    assert {metric: (one.value, one.shipped) for (_, _, metric), one in found.items()} == {
        "nse": (0.7, False),
        "kge": (0.6, True),
    }
