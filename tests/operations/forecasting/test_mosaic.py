"""Weather from several sources: each value is that of the first that has it, as labelled."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from hydrology.base.absent import Absent
from hydrology.base.calendar import day
from jobspec.training import InputsConfig
from models.forcing import Forcing
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.calibration import with_skill
from operations.forecasting.weather_ahead import RunDays, WeatherAhead
from operations.forecasting.weather_skill import Compared
from operations.forecasting.weather_sources import MIN_SHARE, OTHER_YEARS, Filled, Labels, Mosaic, Supply
from records.runs.run_weather import Origin

T0, BASIN = day("2005-05-01"), "SYNTH-01"
INPUTS = InputsConfig(product="synthetic")
VARIABLES = (INPUTS.mass, *INPUTS.auxiliary)
ORIGINS = (
    Origin(source="product", name="synthetic"),
    Origin(source="bridge", id="b", name="second"),
    Origin(source="forecast", id="main", name="m", reference_day="2005-05-04"),
    Origin(source="forecast", id="earlier", name="m", reference_day="2005-05-03"),
    OTHER_YEARS,
)
MAIN = 2


def compared(filled: int, horizon: int) -> Compared:
    mass, auxiliary = np.ones((1, 3), np.float32), np.ones((1, 3, len(VARIABLES) - 1), np.float32)
    record = Forcing(T0 - 2, mass, auxiliary, np.ones((1, 2), np.float32), (BASIN,))
    return Compared(
        product="synthetic",
        inputs=INPUTS,
        forcings={BASIN: BasinForcing(record, {}, None, 0)},
        in_force={},
        days=RunDays(T0, horizon, filled),
        at=datetime(2005, 5, 5, tzinfo=UTC),
    )


def supplies(seed: int, horizon: int, filled: int, traces: int, years: int) -> list[Supply]:
    """Return sources that lack values here and there."""
    chance = np.random.default_rng(seed)
    found = []
    for origin in ORIGINS:
        count = {"forecast": traces, "climatology": years}.get(origin.source, 1)
        values = chance.normal(size=(count, horizon, len(VARIABLES))).astype(np.float32)
        values[:, chance.random(values.shape[1:]) < chance.choice([0.0, 0.3, 0.9])] = np.nan
        if origin.source in ("product", "bridge"):
            values[:, filled:] = np.nan
        labels = None if count == 1 else tuple(str(number) for number in range(count))
        found.append(Supply(origin, labels, values, np.full(values.shape[1:], chance.random())))
    return found


def put_together(of: Compared, sources: list[Supply], stored: Labels | None) -> tuple[Mosaic, Filled]:
    mosaic = Mosaic(of, BASIN, sources[MAIN], stored)
    for one in sources:
        mosaic.add(one)
    return mosaic, mosaic.result()


@given(
    seed=st.integers(0, 2**32),
    filled=st.integers(0, 4),
    to_come=st.integers(1, 8),
    traces=st.integers(1, 4),
    years=st.integers(1, 6),
)
def test_each_value_is_that_of_the_first_source_that_has_it(
    seed: int, filled: int, to_come: int, traces: int, years: int
) -> None:
    of = compared(filled, filled + to_come)
    sources = supplies(seed, of.days.horizon, filled, traces, years)
    known = np.stack([np.isfinite(one.values).all(axis=0) for one in sources])
    _, result = put_together(of, sources, None)
    complete = np.asarray(known.any(axis=0)).all(axis=1)
    held = of.days.horizon if complete.all() else int(np.argmin(complete))
    if held < filled + max(1, np.ceil(MIN_SHARE * to_come)):
        assert isinstance(result.outcome, Absent)
        return
    ahead = result.outcome
    assert isinstance(ahead, WeatherAhead)
    assert result.days == replace(of.days, horizon=held)
    whole = np.concatenate([ahead.forcing.mass[..., np.newaxis], ahead.forcing.auxiliary], axis=-1)
    first = known.argmax(axis=0)[:held]
    labelled = np.full((held, len(VARIABLES)), -1)
    for label in ahead.filled:
        columns = [VARIABLES.index(name) for name in label.correlations]
        labelled[label.days_from(of.days.ahead.first), columns] = ORIGINS.index(label.origin)
    past = np.arange(held)[:, np.newaxis] < filled
    np.testing.assert_array_equal(labelled, np.where(past | (first != MAIN), first, -1))
    for (at, variable), place in np.ndenumerate(first):
        values = sources[place].values[:, at, variable]
        np.testing.assert_array_equal(whole[:, at, variable], values[np.arange(len(whole)) % len(values)])
    base = np.full((held, len(VARIABLES)), -1.0)
    skill = with_skill(base, ahead.filled, of.days.ahead.first, VARIABLES)
    expected = np.stack([one.correlation[:held] for one in sources])
    chosen = np.take_along_axis(expected, first[np.newaxis], axis=0)[0]
    np.testing.assert_allclose(skill, np.where(labelled >= 0, chosen, -1.0), atol=1e-4)


@example(seed=39, filled=2, to_come=4)  # other years fill only a day after the last one that is held
@given(seed=st.integers(0, 2**32), filled=st.integers(0, 4), to_come=st.integers(1, 8))
def test_the_labels_lead_to_the_same_weather_although_more_is_known(seed: int, filled: int, to_come: int) -> None:
    of = compared(filled, filled + to_come)
    sources = supplies(seed, of.days.horizon, filled, 3, 5)
    _, result = put_together(of, sources, None)
    if isinstance(result.outcome, Absent):
        return
    later = compared(filled, result.days.horizon)
    observed = np.where(np.isnan(sources[0].values), np.float32(7), sources[0].values)
    cut = [replace(one, values=values[:, : later.days.horizon], correlation=one.correlation[: later.days.horizon])
           for one, values in zip(sources, [observed, *(one.values for one in sources[1:])], strict=True)]  # fmt: skip
    _, again = put_together(later, cut, result.outcome.filled)
    assert isinstance(again.outcome, WeatherAhead)
    np.testing.assert_array_equal(again.outcome.forcing.mass, result.outcome.forcing.mass)
    np.testing.assert_array_equal(again.outcome.forcing.auxiliary, result.outcome.forcing.auxiliary)
    assert again.outcome.filled == result.outcome.filled
