"""Reasons in answers are true: each sentence is checked against a store with and without the thing it names."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import delete

from hydrology.base.calendar import Period, day
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.forecast import forecast
from operations.verification.calibrate import calibrate
from operations.verification.evaluate import evaluate
from records.basins import basins
from records.database.engine import Database
from records.runs.runs import RunRequest
from records.series import series
from records.series.year_rows import SERIES
from records.simulations import snow_cells
from records.verification import scores as verification_scores
from records.versions import error_models, promotions, versions
from testing.country import BASINS, CLOCK
from testing.work import work_of
from tests.app.conftest import serving
from tests.operations.verification.test_calibrate import UNSEEN
from tests.operations.verification.test_regional_snow_cells import REGIONAL

BASIN, T0 = BASINS[0], "2005-03-10"
TEST = Period.parse("2004-10-01..2005-09-30")
ANSWERS = (
    *("forecasts/latest", "storage", "origin", "water-balance", "normals", "volumes", "skill", "verification"),
    *("thresholds", "alerts", "exceedance"),
)
AT = datetime(2005, 3, 11, 7, tzinfo=UTC)


@dataclass(frozen=True)
class Store:
    """What is stored of the basin when the answers are given."""

    reference_snow: bool
    discharge: bool
    error_model: bool
    own_cells: bool
    scores: bool

    @classmethod
    def of(cls, database: Database) -> "Store":
        """Return what a store has."""
        with database.reading() as session:
            version = versions.newest(session).id
            there = {(entry.product, entry.variable) for entry in series.catalogue(session, BASIN)}
            return cls(
                reference_snow=any((product, "swe") in there for product in snow_cells.REFERENCES),
                discharge=any(variable == "discharge" for _, variable in there),
                error_model=error_models.get(session, version, []) is not None,
                own_cells=bool(snow_cells.own_cells(session, version, [BASIN])),
                scores=bool(verification_scores.scores(session, versions=[version], basins=[BASIN])),
            )


CLAIMS: Mapping[str, Callable[[Store], bool]] = {
    r"no reference snow (of|is)": lambda store: not store.reference_snow,
    r"(?<!no )reference snow (of this basin was|is) stored": lambda store: store.reference_snow,
    r"no cells had been chosen|no snow cells have been chosen": lambda store: not store.own_cells,
    r"against reference snow of this basin": lambda store: store.own_cells,
    r"no (observed )?discharge|no series of discharge": lambda store: not store.discharge,
    r"has no error model": lambda store: not store.error_model,
    r"no score of version": lambda store: not store.scores,
}


def texts(answer: Any) -> Iterator[str]:
    """Yield every text of an answer."""
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, Mapping):
        for value in answer.values():
            yield from texts(value)
    elif isinstance(answer, list):
        for value in answer:
            yield from texts(value)


def without(database: Database, **of_series: str) -> None:
    """Remove series of the basin."""
    with database.transaction() as session:
        session.execute(delete(SERIES).filter_by(basin_id=BASIN, **of_series))


def newest(database: Database) -> str:
    with database.reading() as session:
        return versions.newest(session).id


SCENARIOS: Mapping[str, tuple[Callable[[Database], object], set[str]]] = {
    "as it is": (
        lambda _database: None,
        {r"no cells had been chosen|no snow cells have been chosen", "has no error model", "no score of version"},
    ),
    "no reference snow": (lambda database: without(database, variable="swe"), {"no reference snow (of|is)"}),
    "no discharge": (
        lambda database: without(database, variable="discharge"),
        {"no (observed )?discharge|no series of discharge"},
    ),
    "an error model": (lambda database: calibrate(work_of(database, CLOCK), newest(database), BASINS, UNSEEN), set()),
    "an evaluation": (lambda database: evaluate(work_of(database, CLOCK), newest(database), TEST, BASINS), set()),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("regional", [True, False], ids=["regional cells", "no cells"])
def test_sentences_about_what_is_stored_are_true(trained_store: Database, scenario: str, regional: bool) -> None:
    change, expected = SCENARIOS[scenario]
    with trained_store.transaction() as session:
        version = versions.newest(session).id
        promotions.promote(session, version, list(BASINS), reason="first", by="a test", at=CLOCK.now())
        if regional:
            snow_cells.replace_regional(session, version, REGIONAL, CLOCK.wall())
        basin = basins.get(session, BASIN)
        basins.upsert(session, replace(basin, attributes={**basin.attributes, "frac_snow": 0.7}))
    change(trained_store)
    with serving(str(trained_store.url), AT) as client:
        forecast(
            work_of(trained_store, client.app.state.clock),  # type: ignore[attr-defined]
            RunRequest(ForecastParams(basins=[BASIN], t0=day(T0), horizon=3)),
        )
        result = {text for name in ANSWERS for text in texts(client.get(f"/v1/basins/{BASIN}/{name}").json())}
    store = Store.of(trained_store)
    claimed = {claim: [text for text in result if re.search(claim, text, re.IGNORECASE)] for claim in CLAIMS}
    false = [text for claim, found in claimed.items() if not CLAIMS[claim](store) for text in found]
    assert false == []
    assert {claim for claim in expected if not claimed[claim]} == set()
