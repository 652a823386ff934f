"""Training curves are what the training recorded, in every form in which they can be read."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from records.database.engine import Database
from records.versions import versions
from tests.app.conftest import serving
from tests.freshet.conftest import PERIODS, SMALL, Freshet

COLUMNS = ("loss", "learning_rate", "gradient_norm", "validation_nse")


def stored(freshet: Freshet, version: str) -> dict[int, dict[str, Any]]:
    """Return what the training of each member recorded."""
    database = Database(f"sqlite:///{freshet.data / 'freshet.sqlite'}")
    with database.reading() as session:
        logs = {label: log for label, (_, log) in versions.seeds_and_logs(session, version).items()}
    database.close()
    return logs


def read_events(folder: Path, member: int, version: str) -> dict[str, list[tuple[int, float]]]:
    """Return the curves of a member's event file by TensorBoard's own reader."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = EventAccumulator(str(folder / f"{version}-member-{member}")).Reload()
    return {tag: [(one.step, one.value) for one in run.Scalars(tag)] for tag in run.Tags()["scalars"]}


def single(values: Iterable[float]) -> list[float]:
    """Return values in single precision, as event files have them."""
    return [float(np.float32(value)) for value in values]


def test_pandas_and_tensorboard_read_what_the_training_recorded(worked: Freshet, tmp_path: Path) -> None:
    (version,) = (one["id"] for one in worked("models", "list", "--json").json["models"])
    logs = stored(worked, version)
    table = pd.read_csv(io.StringIO(worked("models", "curves", version, "--csv").out))
    table.columns = [name.partition(" ")[0] for name in table.columns]
    with serving(f"sqlite:///{worked.data / 'freshet.sqlite'}") as client:
        answer = client.get(f"/v1/models/{version}/curves", params={"format": "parquet"})
        page = client.get(f"/models/{version}").text
    parquet = pd.read_parquet(io.BytesIO(answer.content))
    pd.testing.assert_frame_equal(parquet[list(table.columns)], table, check_dtype=False)
    # Trained before: the same command writes the curves all the same, in place of those written before.
    train = ("train", *PERIODS, *SMALL, "--members", "2", "--tensorboard", str(tmp_path / "runs"))
    for _ in range(2):
        assert worked(*train).code == 0
    assert len(list((tmp_path / "runs").rglob("*tfevents*"))) == len(logs) == 2
    for member, log in logs.items():
        curve = log["curve"]
        assert curve["step"] == [1, 2, 3, 4, 5, 6]
        assert all(np.isfinite(curve[name]).all() for name in COLUMNS[:3])
        assert len(set(curve["loss"])) == 6
        rows = table[table.member == member]
        for name in COLUMNS[:3]:
            assert rows[name].tolist() == pytest.approx(curve[name], rel=1e-6)
        scores = {row["step"]: row["validation_nse"] for row in log["validation"]}
        assert rows.set_index("step")["validation_nse"].dropna().to_dict() == pytest.approx(scores, rel=1e-6)
        events = read_events(tmp_path / "runs", member, version)
        for name in COLUMNS[:3]:
            assert events[name] == [*zip(curve["step"], single(curve[name]), strict=True)]
        assert events["validation_nse"] == [*zip(scores, single(scores.values()), strict=True)]
    assert page.count("<polyline") == 2 * 3  # a single validation is not a curve
    assert "Loss nse*, 6 steps" in page


def test_the_folder_is_refused_before_the_training(ingested: Freshet, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = ingested("train", *PERIODS, *SMALL, "--tensorboard", str(tmp_path / "file" / "runs"))
    assert (result.code, "cannot be written" in result.err) == (2, True)
    assert ingested("models", "list", "--json").json["models"] == []
