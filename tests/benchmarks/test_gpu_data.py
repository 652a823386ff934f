"""The file of a product's series for a machine with a card."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.gpu import data as stored
from hydrology.base.calendar import Period
from jobspec.training import TrainingConfig
from models.forcing import Forcing, days_of
from models.learning import TrainingData

TRAINING, HELD_OUT = "2001-01-01..2003-12-31", "2002-01-01..2002-12-31"
RECORD = Period.parse("1999-06-01..2004-03-31")
IDS = ("USGS-1", "USGS-2", "USGS-3")
AUXILIARY, ATTRIBUTES = ("srad", "tmax", "tmin", "vp"), ("aridity", "elev_mean")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> TrainingData:
    """Two series of a product, one without the held-out year, one without a basin and an attribute, in one file."""
    monkeypatch.setenv("FRESHET_DATA", str(tmp_path))
    generator, shape = np.random.default_rng(0), (len(IDS), len(RECORD))
    hundredths = (generator.integers(-4000, 4000, (*shape, len(AUXILIARY))) / 100).astype(np.float32)
    means = np.asarray((hundredths[..., 0] + hundredths[..., 1]) / 2, np.float32)
    static = generator.normal(size=(len(IDS), len(ATTRIBUTES))).astype(np.float32)
    flow = generator.gamma(1.0, size=shape).astype(np.float32)
    data = TrainingData(Forcing(RECORD.first, means, hundredths, static, IDS), flow)
    twins, fold = _config(ATTRIBUTES, held_out_period=HELD_OUT), _config(ATTRIBUTES[1:])
    series = {
        "twins": {"config": twins.model_dump(mode="json"), "basins": IDS},
        "fold": {"config": fold.model_dump(mode="json"), "basins": IDS[1:]},
    }
    stored._store("maurer_daymet", data, twins.inputs, series)
    return data


def _config(static: tuple[str, ...], **changes: str) -> TrainingConfig:
    inputs = {"product": "maurer_daymet", "static": static, "auxiliary": AUXILIARY}
    fields = {"inputs": inputs, "train_period": TRAINING, "validation_period": None, **changes}
    return TrainingConfig.model_validate(fields)


def test_a_series_reads_its_own_basins_attributes_and_days_to_the_bit(written: TrainingData) -> None:
    config, fold = stored.read("fold")
    days = days_of(RECORD, fold.forcing.period)
    assert config.inputs.static == ATTRIBUTES[1:]
    assert fold.forcing.ids == IDS[1:]
    assert fold.forcing.period.last == Period.parse(TRAINING).last
    np.testing.assert_array_equal(fold.forcing.mass, written.forcing.mass[1:, days])
    np.testing.assert_array_equal(fold.forcing.auxiliary, written.forcing.auxiliary[1:, days])
    np.testing.assert_array_equal(fold.forcing.static, written.forcing.static[1:, 1:])
    np.testing.assert_array_equal(fold.discharge, written.discharge[1:, days])


def test_a_twin_reads_no_flow_of_the_days_held_out(written: TrainingData) -> None:
    twins = stored.read("twins")[1]
    held_out = np.zeros(len(twins.forcing.period), bool)
    held_out[days_of(twins.forcing.period, Period.parse(HELD_OUT))] = True
    np.testing.assert_array_equal(np.isnan(twins.discharge), np.broadcast_to(held_out, twins.discharge.shape))
    assert not np.isnan(written.discharge).any()


def test_numbers_of_every_size_are_stored_exactly() -> None:
    values = np.random.default_rng(1).normal(size=(2, 50)) * 10.0 ** np.arange(-10, 6)[:, None, None]
    special = np.array([[0.0, -0.0, 1e-38, -0.005, 0.005, 123.45, np.float32(0.1) + 1e-8, 3e-45]])
    for block in (*values.astype(np.float32), special.astype(np.float32)):
        assert stored._decoded(stored._encoded(block)).tobytes() == block.tobytes()


@pytest.mark.usefixtures("written")
def test_an_unknown_series_is_refused() -> None:
    with pytest.raises(SystemExit, match="No file has the series 'twin'"):
        stored.read("twin")
