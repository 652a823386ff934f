"""The pages of a student's first day, as they are printed."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hydrology.base.calendar import day
from jobspec.network import ARCHITECTURES
from records.database.engine import Database
from records.runs import states
from tests.freshet.conftest import PERIODS, WINDOWS, Freshet, country, ingested, ingested_data, settings
from tests.guide.follow import assert_as_printed, follow
from tests.guide.pages import DOCS, blocks

__all__ = ["country", "ingested", "ingested_data"]

PYTHON, TRAININGS = DOCS / "learn" / "networks-from-python.md", DOCS / "learn" / "trainings.md"
FEW_STEPS = settings(schedule__steps=2), settings(schedule__epochs=1, schedule__rates="[[0, 0.001]]")


def write_tables(folder: Path, basins: int = 4) -> None:
    """Write own basins whose flow is a slow answer to rain, with gaps."""
    generator = np.random.default_rng(3)
    names, dates = [f"OWN-{at}" for at in range(basins)], pd.date_range("2000-10-01", "2005-09-30")
    table = pd.DataFrame({"id": names, "area_km2": [80.0, 120.0, 300.0, 45.0], "elev_mean": [900.0, 400, 1500, 50]})
    table["frac_forest"] = [0.9, 0.5, 0.2, 0.7]
    table.to_csv(folder / "basins.csv", index=False)
    parts = []
    for name, area in zip(names, table.area_km2, strict=True):
        rain = np.where(generator.random(len(dates)) > 0.7, generator.gamma(1.0, 8.0, len(dates)), 0.0)
        store, flow = 0.0, np.zeros(len(dates))
        for at, of_day in enumerate(rain):
            store += of_day
            flow[at] = 0.08 * store
            store -= 1.3 * flow[at]
        flow[300:330] = np.nan
        part = pd.DataFrame({"basin": name, "date": dates, "precipitation_mm_per_day": rain})
        for at, column in enumerate(("tmax_degC", "tmin_degC", "srad_W_per_m2", "vp_Pa")):
            part[column] = generator.normal(10 * at, 3, len(dates))
        parts.append(part.assign(discharge_m3_per_s=flow * area / 86.4))
    pd.concat(parts).to_csv(folder / "days.csv", index=False)


@pytest.mark.extended
def test_own_tables_lead_to_a_trained_network_whose_balance_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    for block in blocks(PYTHON, "python")[:2]:
        exec(block.code, known)
        assert_as_printed(block, capsys.readouterr().out)
    trained = known["trained"]
    scores = [row["validation_nse"] for row in trained.log]
    assert len(scores) == 3
    assert scores[-1] > 0.3  # a simple river: the network has learnt it
    assert len(trained.curve["step"]) == 60
    assert known["flow"].shape == known["forcing"].mass.shape == (4, 1826)
    stored = known["cells"][:, -1].sum(axis=1)
    np.testing.assert_allclose(known["into"], known["out"] + stored, rtol=1e-4)


def test_every_architecture_has_an_example() -> None:
    named = re.findall(r'^architecture = "(\w+)"$', TRAININGS.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(ARCHITECTURES)


@pytest.mark.extended
def test_each_example_of_a_training_trains(ingested: Freshet, tmp_path: Path) -> None:
    for number, text in enumerate(block.code for block in blocks(TRAININGS, "toml")):
        file = tmp_path / f"training-{number}.toml"
        file.write_text(text)
        few = FEW_STEPS["staircase" in text]
        trained = ingested("train", "--config", str(file), *PERIODS, *WINDOWS, *few, "--members", "1", "--json")
        assert trained.code == 0, trained.err
        config = ingested("models", "show", trained.json["version"], "--json").json["config"]
        assert f'architecture = "{config["network"]["architecture"]}"' in text
        assert f'loss = "{config["loss"]}"' in text or config["loss"] == "nse*"


@pytest.mark.extended
def test_a_shipped_ensemble_holds_in_its_cells_what_the_service_stores(
    camels: Path,
    tmp_path: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for part in camels.iterdir():
        (tmp_path / part.name).symlink_to(part)
    data = {"FRESHET_DATA": str(tmp_path / "data")}
    follow(blocks(PYTHON, "sh"), environment | data, tmp_path)
    monkeypatch.setenv("FRESHET_DATA", data["FRESHET_DATA"])
    known: dict[str, Any] = {}
    block = blocks(PYTHON, "python")[2]
    exec(block.code, known)
    assert_as_printed(block, capsys.readouterr().out)
    cells = known["cells"]
    assert dict(cells.sizes) == {"member": 10, "time": 10_593, "cell": 32}
    database = Database(f"sqlite:///{tmp_path / 'data' / 'freshet.sqlite'}")
    with database.reading() as session:
        version = known["loaded"].version.id
        stored = states.page(session, version, "USGS-13235000", before=None, limit=1000)
    database.close()
    assert day("1997-04-01") in [state.day for state in stored]
    for state in stored:
        np.testing.assert_array_equal(state.arrays["c"], cells.sel(time=state.day).values)
