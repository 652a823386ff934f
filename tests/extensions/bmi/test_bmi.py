"""The component of the Basic Model Interface: the same water as a run over all days, and states that go on."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from extensions.bmi import Freshet
from extensions.bmi.basin import Basin, Unbalanced
from extensions.bmi.inputs import CELLS, DEPTH, FLOW, INPUTS, LOSS, OUTPUTS, RESIDUAL, STORAGE, WATER
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from hydrology.base.units import Area, mm_per_day_to_m3s
from models.ensemble import Ensemble
from models.forcing import Forcing
from models.pretrained import DEFAULT, SHELF, form
from models.pretrained.form import load
from models.saved_state import UnusableState
from tests.deployment.files import ROOT

pytestmark = pytest.mark.extended

FOLDER = ROOT / "extensions" / "bmi"
PAGE, EXAMPLE = FOLDER / "bmi.md", FOLDER / "example" / "13235000.json"
BASIN = "USGS-13235000"
YEAR = Period.parse("1980-10-01..1981-09-30")
MIDDLE = 150  # days


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def ensemble() -> Ensemble:
    """The shipped ensemble that the example names."""
    return load(form.read(SHELF / DEFAULT))


@pytest.fixture(scope="module")
def forcing(ensemble: Ensemble) -> Forcing:
    """An invented year of the basin of the example."""
    result, generator, days = json.loads(EXAMPLE.read_text()), np.random.default_rng(0), len(YEAR)
    season = np.sin(np.arange(days) / days * 2 * np.pi)
    rain = np.where(generator.random(days) > 0.7, generator.gamma(1.0, 8.0, days), 0.0)
    tmax = 12 - 12 * season + generator.normal(size=days)
    columns = {"srad": 250 - 120 * season, "tmax": tmax, "tmin": tmax - 11, "vp": 600 - 200 * season}
    auxiliary = np.stack([columns[name] for name in ensemble.config.inputs.auxiliary], axis=-1)
    static = np.array([[result["attributes"][name] for name in ensemble.config.inputs.static]], np.float32)
    return Forcing(YEAR.first, rain.astype(np.float32)[None], auxiliary.astype(np.float32)[None], static, (BASIN,))


def configured(folder: Path, **changes: object) -> str:
    """Write the example's configuration with changes, and return its path; None takes a field away."""
    fields = {**json.loads(EXAMPLE.read_text()), **changes}
    file = folder / "basin.json"
    file.write_text(json.dumps({name: value for name, value in fields.items() if value is not None}))
    return str(file)


def initialized(file: str) -> Freshet:
    """Return a component."""
    component = Freshet()
    component.initialize(file)
    return component


def value(component: Freshet, name: str) -> np.ndarray:
    """Return a copy of a variable's values."""
    size = component.get_grid_size(component.get_var_grid(name))
    return component.get_value(name, np.empty(size, component.get_var_type(name)))


def run(component: Freshet, forcing: Forcing, days: slice) -> dict[str, np.ndarray]:
    """Update day by day; return the outputs by name, days first."""
    daily = []
    names = ("precipitation", "srad", "tmax", "tmin", "vp")
    weather = np.concatenate([forcing.mass[0, days, None], forcing.auxiliary[0, days]], axis=-1)
    for row in weather:
        for name, number in zip(names, row, strict=True):
            component.set_value(INPUTS[name].name, np.array([number]))
        component.update()
        daily.append({name: value(component, name) for name in component.get_output_var_names()})
    return {name: np.stack([day[name] for day in daily]) for name in daily[0]}


def test_a_year_day_by_day_is_the_batch_run_to_the_bit(ensemble: Ensemble, forcing: Forcing) -> None:
    outputs, last = ensemble.simulate(forcing, None, ("discharge", "loss", "storage"))
    component = initialized(str(EXAMPLE))
    result = run(component, forcing, slice(None))

    discharge = outputs["discharge"][:, 0].mean(axis=0, dtype=np.float64)
    area = Area("configuration", json.loads(EXAMPLE.read_text())["area_km2"] * 1e6)
    storage = outputs["storage"][:, 0]
    assert np.array_equal(result[FLOW.name][:, 0], mm_per_day_to_m3s(discharge, area=area))
    assert np.array_equal(result[DEPTH.name][:, 0], discharge / 1000)
    assert np.array_equal(result[LOSS.name][:, 0], outputs["loss"][:, 0].mean(axis=0, dtype=np.float64))
    assert np.array_equal(result[CELLS.name], storage.swapaxes(0, 1).reshape(len(YEAR), -1))
    assert np.array_equal(result[STORAGE.name][:, 0], storage.sum(axis=-1, dtype=np.float64).mean(axis=0))
    assert np.array_equal(result[CELLS.name][-1].reshape(len(last), -1), np.stack([one["c"][0] for one in last]))
    assert component.get_current_time() == 365 * 86_400

    assert result[FLOW.name].max() > 10
    water = forcing.mass.sum(dtype=np.float64)
    assert 0 < abs(result[RESIDUAL.name]).max() < 1e-5 * water
    means = {name: result[name].sum() for name in (DEPTH.name, LOSS.name)}
    left = water - 1000 * means[DEPTH.name] - means[LOSS.name] - result[STORAGE.name][-1, 0]
    assert abs(left) < 1e-5 * water


@pytest.mark.parametrize(("name", "factor", "unit"), [("vp", 0.01, "hPa"), ("vp", 0.001, "kPa")])
def test_vapour_pressure_in_another_unit_stops_the_first_update(
    forcing: Forcing, ensemble: Ensemble, name: str, factor: float, unit: str
) -> None:
    component = initialized(str(EXAMPLE))
    wrong = forcing.auxiliary.copy()
    wrong[..., ensemble.config.inputs.auxiliary.index(name)] *= factor
    with pytest.raises(InvalidInput, match=f"vp of the inputs has a median of .* look like {unit}"):
        run(component, replace(forcing, auxiliary=wrong), slice(0, 1))
    assert component.get_current_time() == 0
    run(component, forcing, slice(0, 1))


def test_swapped_temperatures_stop_the_second_day_and_accumulated_precipitation_a_later_one(forcing: Forcing) -> None:
    component = initialized(str(EXAMPLE))
    swapped = forcing.auxiliary.copy()
    swapped[..., [1, 2]] = swapped[..., [2, 1]]
    with pytest.raises(InvalidInput, match="tmin of the inputs is above tmax on 2 of 2 days: the two look swapped"):
        run(component, replace(forcing, auxiliary=swapped), slice(0, 5))
    assert component.get_current_time() == 86_400

    component = initialized(str(EXAMPLE))
    with pytest.raises(InvalidInput, match=r"precipitation of the inputs rises on .* it looks accumulated"):
        run(component, replace(forcing, mass=np.cumsum(forcing.mass, axis=1)), slice(0, 60))
    assert 5 * 86_400 < component.get_current_time() < 60 * 86_400


def test_a_state_saved_in_the_middle_goes_on_in_a_new_instance(forcing: Forcing, tmp_path: Path) -> None:
    whole = run(initialized(str(EXAMPLE)), forcing, slice(None))

    first = initialized(configured(tmp_path, final_state="first.safetensors"))
    run(first, forcing, slice(0, MIDDLE))
    first.save_state(tmp_path / "by-hand.safetensors")
    first.finalize()
    written = (tmp_path / "first.safetensors").read_bytes()
    assert written == (tmp_path / "by-hand.safetensors").read_bytes()

    next_day = str(YEAR.first + np.timedelta64(MIDDLE, "D"))
    second = initialized(configured(tmp_path, first_day=next_day, state="first.safetensors"))
    assert np.array_equal(value(second, STORAGE.name), whole[STORAGE.name][MIDDLE - 1])
    rest = run(second, forcing, slice(MIDDLE, None))
    for name in (FLOW.name, DEPTH.name, LOSS.name, STORAGE.name, CELLS.name):
        assert np.array_equal(rest[name], whole[name][MIDDLE:])


def test_a_state_of_another_ensemble_basin_or_day_is_refused(forcing: Forcing, tmp_path: Path) -> None:
    component = initialized(configured(tmp_path))
    run(component, forcing, slice(0, 3))
    file = tmp_path / "state.safetensors"
    component.save_state(file)
    following: dict[str, object] = {"first_day": "1980-10-04", "state": file.name}
    initialized(configured(tmp_path, **following))

    for changes, sentence in (
        ({"ensemble": "lstm-maurer-447"}, "belongs to another model"),
        ({"basin": "USGS-01013500"}, "does not contain USGS-01013500"),
        ({"first_day": "1980-10-05"}, "of the end of 1980-10-03: with it, first_day is 1980-10-04"),
    ):
        with pytest.raises(UnusableState, match=sentence):
            initialized(configured(tmp_path, **(following | changes)))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(UnusableState, match="not hold what was written"):
        initialized(configured(tmp_path, **following))
    for damage in (content[:-5], b"\x10", b"no state"):
        file.write_bytes(damage)
        with pytest.raises(UnusableState, match="cannot be read"):
            initialized(configured(tmp_path, **following))
    with pytest.raises(InvalidInput, match="No such file"):
        initialized(configured(tmp_path, **(following | {"state": "none.safetensors"})))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"ensemble": "mclstm-nowhere"}, "no ensemble 'mclstm-nowhere': name one of .*mclstm-maurer-447"),
        ({"area_km2": 0}, "area_km2: input should be greater than 0"),
        ({"area_km2": None}, "area_km2: it is needed"),
        ({"basin": "creek"}, "'creek' is not a basin identifier"),
        ({"warm": True}, "warm: there is no such field"),
        ({"attributes": {"p_mean": 3.0, "pm": 1.0}}, "pet_mean.* is missing. It takes no pm"),
    ],
)
def test_an_unusable_configuration_is_refused_with_the_reason(
    changes: dict[str, object], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        initialized(configured(tmp_path, **changes))


def test_an_update_needs_every_input_and_possible_values(forcing: Forcing) -> None:
    component = initialized(str(EXAMPLE))
    with pytest.raises(InvalidInput, match="precipitation of 1980-10-01 is nan"):
        component.update()
    run(component, forcing, slice(0, 1))
    component.set_value(INPUTS["tmax"].name, np.array([290.0]))  # kelvin
    with pytest.raises(InvalidInput, match="tmax of 1980-10-02 is 290 degC: set land_surface_air__time_max"):
        component.update()
    with pytest.raises(InvalidInput, match="cannot be set"):
        component.set_value(FLOW.name, np.zeros(1))
    with pytest.raises(InvalidInput, match="There is no variable"):
        component.get_value_ptr("flow")
    with pytest.raises(InvalidInput, match="not the end of a day"):
        component.update_until(1.5 * 86_400)
    with pytest.raises(InvalidInput, match="no state yet"):
        initialized(str(EXAMPLE)).save_state("nowhere")
    assert component.get_current_time() == 86_400


def test_time_goes_on_to_the_end_of_a_day(forcing: Forcing) -> None:
    component = initialized(str(EXAMPLE))
    run(component, forcing, slice(0, 1))
    component.update_until(4 * 86_400)
    assert component.get_current_time() == 4 * component.get_time_step()
    assert component.get_grid_shape(1, np.empty(2, int)).tolist() == [10, 32]


def test_a_leak_stops_it(forcing: Forcing, monkeypatch: pytest.MonkeyPatch) -> None:
    component = initialized(str(EXAMPLE))
    run(component, forcing, slice(0, 40))
    simulate = Ensemble.simulate

    def leaking(*arguments: object) -> object:
        outputs, last = simulate(*arguments)  # type: ignore[arg-type]
        last[3]["c"] *= np.float32(0.99)
        return outputs, last

    monkeypatch.setattr(Ensemble, "simulate", leaking)
    with pytest.raises(Unbalanced, match="on 1980-11-10 the ledger of member 3 leaves"):
        run(component, forcing, slice(40, 41))
    assert component.get_current_time() == 40 * 86_400


def test_an_ensemble_of_the_same_process_is_loaded_once(tmp_path: Path) -> None:
    one, other = initialized(str(EXAMPLE)), initialized(configured(tmp_path, basin="USGS-01013500"))
    assert isinstance(one._basin, Basin)
    assert one._basin._ensemble is other._basin._ensemble


def test_the_documents_example_runs_as_it_stands() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=EXAMPLE.parent, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert re.fullmatch(r"86400\.0 \d\.\d\d m3 s-1\n", ended.stdout)


def test_the_documents_report_every_variable() -> None:
    text = PAGE.read_text()
    for variable in (*INPUTS.values(), *OUTPUTS, *WATER):
        assert f"| `{variable.name}` | {variable.units} |" in text
    realization = json.loads((EXAMPLE.parent / "realization.json").read_text())
    (formulation,) = realization["global"]["formulations"]
    mapped = {INPUTS[ours].name: ours for ours in INPUTS}
    assert formulation["params"]["variables_names_map"] == mapped
    assert formulation["params"]["main_output_variable"] == DEPTH.name
    module, _, name = formulation["params"]["python_type"].rpartition(".")
    assert getattr(import_module(module), name) is Freshet


def test_the_communitys_tester_finds_nothing_to_object_to(tmp_path: Path) -> None:
    code = "import sys; from bmi_tester.main import main; sys.exit(main(tuple(sys.argv[1:])))"
    configured(tmp_path)
    command = [sys.executable, "-c", code, "tests.extensions.bmi.weathered:Weathered", "--root-dir", str(tmp_path)]
    ended = subprocess.run(
        [*command, "--config-file", "basin.json", "--manifest", str(tmp_path)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "All tests passed" in ended.stderr


def test_every_method_explains_that_there_is_no_basin(tmp_path: Path) -> None:
    name, array = FLOW.name, np.zeros(1)
    calls = {
        "update": (),
        "update_until": (86_400.0,),
        "finalize": (),
        "save_state": (tmp_path / "state",),
        "get_input_item_count": (),
        "get_output_item_count": (),
        "get_input_var_names": (),
        "get_output_var_names": (),
        **dict.fromkeys(("get_var_grid", "get_var_type", "get_var_units", "get_var_itemsize"), (name,)),
        **dict.fromkeys(("get_var_nbytes", "get_var_location", "get_value_ptr"), (name,)),
        "get_current_time": (),
        "get_value": (name, array),
        "get_value_at_indices": (name, array, np.zeros(1, int)),
        "set_value": (name, array),
        "set_value_at_indices": (name, np.zeros(1, int), array),
        "get_grid_size": (0,),
        "get_grid_node_count": (0,),
        **{f"get_grid_{what}": (1, array) for what in ("shape", "spacing", "origin")},
    }
    component = Freshet()
    for _ in range(2):
        for method, arguments in calls.items():
            with pytest.raises(InvalidInput, match=r"There is no basin: .* Call initialize first"):
                getattr(component, method)(*arguments)
        assert component.get_component_name() == "Freshet"
        component.initialize(configured(tmp_path))
        assert component.get_current_time() == 0
        component.finalize()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        component.nothing  # noqa: B018


def test_a_combination_is_refused_with_its_parts(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match=r"'freshet-us' is a combination, which cannot be run here: .* \(freshet-us-"
    ):
        initialized(configured(tmp_path, ensemble="freshet-us"))
