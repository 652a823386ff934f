"""The shipped ensembles are complete and conserve water."""

from pathlib import Path

import pytest
import torch

from hydrology.base.calendar import Period
from jobspec.training import used_periods
from models.contract import Inputs
from models.nets.mclstm import MCLSTM
from models.pretrained import DEFAULT, SHELF, errors, form, skill
from models.pretrained.loading import load
from tests.models.nets.test_mclstm import worst_residual

SHIPPED = [SHELF / name for name in form.names(SHELF)]
DAYS, SAMPLES = 400, 4


def test_something_is_shipped() -> None:
    assert [folder.name for folder in SHIPPED] == [
        "mclstm-maurer-447",
        "mclstm-maurer-447-today",
        "mclstm-maurer-447-twin",
    ]


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_every_member_is_whole_and_closes_the_balance(folder: Path) -> None:
    shipped = form.read(folder)
    result = shipped.description
    ensemble = load(shipped)
    generator = torch.Generator().manual_seed(0)
    rain = torch.rand(DAYS, SAMPLES, 1, generator=generator).sub(0.6).clamp_min(0) * 60
    auxiliary = torch.randn(DAYS, SAMPLES, len(result.config.inputs.auxiliary), generator=generator)
    drive = Inputs(rain, auxiliary, torch.randn(SAMPLES, len(result.config.inputs.static), generator=generator))
    for network in ensemble.networks:
        assert isinstance(network, MCLSTM)
        assert worst_residual(network, drive, network.empty_state(SAMPLES)["c"]) <= 1e-5


def test_a_scored_ensemble_has_an_error_model_of_years_it_was_not_fitted_to() -> None:
    shipped = [form.read(folder) for folder in SHIPPED]
    fitted = {ensemble.name: errors.read(ensemble) for ensemble in shipped}
    periods = {name: None if model is None else str(model.period) for name, model in fitted.items()}
    assert periods == {
        "mclstm-maurer-447": "1980-10-01..1989-09-30",
        "mclstm-maurer-447-today": None,  # it has its twin's
        "mclstm-maurer-447-twin": "1989-10-01..1999-09-30",
    }
    for ensemble in shipped:
        model = fitted[ensemble.name]
        if model is None:
            continue
        used = used_periods(ensemble.description.config.model_dump(mode="json"))
        assert not any(model.period.overlap(days) for purpose, days in used if purpose == "train")
        assert set(model.basins) <= set(ensemble.description.basins)


@pytest.mark.parametrize("name", [DEFAULT, "mclstm-maurer-447-twin"])
def test_an_ensemble_comes_with_its_skill_in_every_basin_over_years_that_it_has_not_learnt_from(name: str) -> None:
    ensemble = form.read(SHELF / name)
    shipped = skill.read(ensemble)
    assert shipped is not None
    assert (shipped.period, sorted(shipped.basins)) == ("1989-10-01..1999-09-30", sorted(ensemble.description.basins))
    assert {"nse", "kge", "beta_nse", "flv", "fhv"} <= shipped.metrics.keys()
    period = Period.parse(shipped.period)
    used = used_periods(ensemble.description.config.model_dump(mode="json"))
    assert not any(period.overlap(days) for _, days in used)
