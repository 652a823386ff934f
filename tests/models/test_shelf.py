"""The shipped ensembles and combinations are complete, conserve water if their network does, and name their parts."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from jobspec.training import used_periods
from models.contract import Inputs
from models.physics import PROBES
from models.pretrained import DEFAULT, MEANS, SHELF, attachments, combination, form, probe_results
from models.pretrained.form import load

SHIPPED = [SHELF / name for name in form.names(SHELF)]
COMBINED = [SHELF / name for name in form.names(SHELF, combination.DESCRIPTION)]
US_PARTS = [f"freshet-us-{part}" for part in ("daymet", "fused-buckets", "maurer", "maurer-buckets")]
ALL_US_PARTS = sorted([*US_PARTS, "freshet-us-daymet-buckets"])
MAX_BYTES = 18e6
COMPARED = ["eins-maurer-447", "lstm-maurer-447", "mmrnn-maurer-447"]
TEST = "1989-10-01..1999-09-30"
JUDGED = [DEFAULT, "freshet-us-twin", "freshet-us-buckets-twin", *COMPARED]
DAYS, SAMPLES = 400, 4


def test_something_is_shipped() -> None:
    assert [folder.name for folder in SHIPPED] == sorted(
        [
            *(f"{name}{variant}" for name in ALL_US_PARTS for variant in ("", "-twin")),
            DEFAULT,
            *COMPARED,
        ]
    )
    combined = [f"{name}{variant}" for name in ("freshet-us", "freshet-us-buckets") for variant in ("", "-twin")]
    assert [folder.name for folder in COMBINED] == sorted(combined)


def test_all_that_is_shipped_is_small_enough_to_be_fetched_with_the_code() -> None:
    assert sum(path.stat().st_size for path in SHELF.rglob("*") if path.suffix != ".pyc") <= MAX_BYTES


def test_every_shipped_file_goes_into_a_wheel() -> None:
    project = tomllib.loads((SHELF.parents[1] / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["models.pretrained"]
    beside = [path for path in SHELF.iterdir() if path.is_file() and path.suffix != ".py"]
    files = [*beside, *(path for folder in (*SHIPPED, *COMBINED) for path in folder.iterdir())]
    assert [path for path in files if not any(path.relative_to(SHELF).match(pattern) for pattern in patterns)] == []


@pytest.mark.extended
@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
@torch.no_grad()
def test_every_member_is_whole_and_closes_its_balance_if_it_has_one(folder: Path) -> None:
    shipped = form.read(folder)
    result = shipped.description
    assert load(shipped).conserving == (folder.name not in COMPARED)
    generator = torch.Generator().manual_seed(0)
    rain = torch.rand(DAYS, SAMPLES, 1, generator=generator).sub(0.6).clamp_min(0) * 60
    auxiliary = torch.randn(DAYS, SAMPLES, len(result.config.inputs.auxiliary), generator=generator)
    static = torch.randn(SAMPLES, len(result.config.inputs.static), generator=generator)
    temperature = torch.randn(DAYS, SAMPLES, generator=generator) * 10 + 5
    pet = temperature.clamp_min(0) / 5
    for network in load(shipped).networks:
        energy = {"temperature": temperature, "pet": pet} if network.sees_energy else {}
        outputs, _ = network(Inputs(rain, auxiliary, static, **energy))
        assert outputs["discharge"].isfinite().all()
        if not network.conserving:
            continue
        fallen = rain[..., 0].double().cumsum(0)
        gone = (outputs["discharge"] + outputs["loss"]).double().cumsum(0)
        residual = fallen - gone - outputs["storage"].double().sum(-1)
        assert float((residual.abs() / fallen.clamp_min(1)).max()) <= 1e-5


def test_results_of_every_physics_probe_are_shipped_with_every_ensemble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(probe_results, "measure")
    asked = [(probe.name, probe.asks, probe.unit, probe.limit) for probe in PROBES]
    of_any = [(probe.name, probe.asks, probe.unit, probe.limit) for probe in PROBES if not probe.of_water]
    for folder in SHIPPED:
        results = probe_results.probe_results(form.read(folder))
        answered = [(result.name, result.asks, result.unit, result.limit) for result in results]
        assert answered == (of_any if folder.name in COMPARED else asked), folder.name
        assert all(result.passes for result in results), folder.name


@pytest.mark.extended
@pytest.mark.parametrize("name", ["freshet-us-daymet-buckets", "freshet-us-maurer"])
def test_shipped_results_of_physics_probes_are_those_of_an_ensemble_that_is_measured(name: str) -> None:
    shipped = form.read(SHELF / name)
    values, measured = (
        {result.name: result.value for result in probe_results.probe_results(one)}
        for one in (shipped, replace(shipped, content=shipped.content[::-1]))
    )
    assert values == pytest.approx(measured, rel=0.05, abs=1e-6)


def test_freshet_us_combines_both_networks_on_both_products_and_their_mean_with_weights_of_every_basin() -> None:
    whole = combination.read(SHELF / "freshet-us")
    assert whole.twin is not None
    assert sorted(part.name for part in whole.parts) == US_PARTS
    ((mean, parts),) = MEANS.items()
    assert {*whole.products} == {mean, *parts}
    learnt = {basin for part in whole.parts for basin in part.description.basins}
    for named in whole.description.parts:
        assert named.basin_weights.keys() == learnt
    for part in whole.parts:
        assert part.twin is not None
        assert part.twin.name == f"{part.name}-twin"


def test_a_scored_ensemble_has_an_error_model_of_years_it_was_not_fitted_to() -> None:
    shipped = [form.read(folder) for folder in SHIPPED]
    fitted = {ensemble.name: attachments.read_errors(ensemble) for ensemble in shipped}
    periods = {name: str(model.period) for name, model in fitted.items() if model is not None}
    twins = [one.name for one in shipped if one.twin is None and one.name not in (DEFAULT, *COMPARED)]
    assert periods == {DEFAULT: "1980-10-01..1989-09-30"} | dict.fromkeys(twins, TEST)  # the others have their twins'
    of_both = attachments.read_errors(combination.read(SHELF / "freshet-us-twin"))
    assert of_both is not None
    assert (str(of_both.period), len(of_both.basins)) == (TEST, 400)  # elsewhere that of a part
    for ensemble in shipped:
        model = fitted[ensemble.name]
        if model is None:
            continue
        used = used_periods(ensemble.description.config.model_dump(mode="json"))
        assert not any(model.period.overlap(days) for purpose, days in used if purpose == "train")
        assert set(model.basins) <= set(ensemble.description.basins)


@pytest.mark.parametrize("name", JUDGED)
def test_an_ensemble_comes_with_its_skill_in_every_basin_over_years_that_it_has_not_learnt_from(name: str) -> None:
    shipped = combination.read(SHELF / name) if SHELF / name in COMBINED else form.read(SHELF / name)
    judged = attachments.read_skill(shipped)
    parts = shipped.parts if isinstance(shipped, combination.Combination) else [shipped]
    learnt = {basin for part in parts for basin in part.description.basins}
    assert judged is not None
    assert (str(judged.period), sorted(judged.basins)) == (TEST, sorted(learnt))
    assert {"nse", "kge", "beta_nse", "flv", "fhv"} <= judged.metrics.keys()
    period = judged.period
    used = [days for part in parts for _, days in used_periods(part.description.config.model_dump(mode="json"))]
    assert not any(period.overlap(days) for days in used)


def test_the_skill_of_a_combination_has_that_of_each_product_alone() -> None:
    judged = attachments.read_skill(combination.read(SHELF / "freshet-us-twin"))
    assert judged is not None
    counts = {name: len(alone.basins) for name, alone in judged.subsets.items()}
    assert counts == {
        "maurer_extended": 447,
        "daymet": 400,
        "maurer_daymet": 400,
        "maurer_daymet+daymet": 400,
        "maurer_daymet+maurer_extended": 400,
        "daymet+maurer_extended": 400,
    }
