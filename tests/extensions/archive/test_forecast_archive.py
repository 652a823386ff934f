"""The archive of forecasts: whole issues, whatever interrupts its growth, as xarray reads it."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from extensions.archive import layout
from extensions.archive.forecast_archive import BasinIssue, Contents, Issue, UnusableArchive, append, contents
from hydrology.base.calendar import day
from hydrology.uncertainty.error_model import LEVELS
from records.basins.basins import Site
from records.runs.run_types import QUANTILES
from runtime.child_processes import spawn_context

SITES = {f"B-{number}": Site(f"Bäck {number}", 40.0 + number, -70.0 - number) for number in range(600)}
WITH_MEMBERS = Contents(members=True)


def an_issue(number: int, basins: Mapping[str, int], leads: int = 3, members: int = 2) -> Issue:
    """Return an issue whose values name its number and the basin's, given for each."""
    t0 = day("2008-04-01") + np.timedelta64(number, "D")

    def flow(of_basin: int) -> dict[str, Any]:
        widths = {layout.CALIBRATED: len(LEVELS), layout.DISCHARGE: len(QUANTILES), layout.MEMBERS: members}
        return {
            name: number + of_basin / 1024 + np.arange(leads * width).reshape(leads, width)
            for name, width in widths.items()
        }

    of_basins = {basin: BasinIssue(1, 2.5e9, flow(value)) for basin, value in basins.items()}
    at = datetime(2008, 4, 1, 14, tzinfo=UTC)
    return Issue(
        issue=f"run-{number:03}",
        t0=t0,
        issued_at=at,
        version="version",
        purpose="operational",
        forcing_kind="supplied",
        weather="a/b",
        leads=leads,
        basins=of_basins,
    )


def read(folder: Path) -> xarray.Dataset:
    with xarray.open_zarr(folder, consolidated=True, chunks=None) as dataset:
        loaded: xarray.Dataset = dataset.load()
        return loaded


def check(dataset: xarray.Dataset, issues: list[Issue]) -> None:
    """Hold the archive against its issues: each value of each, and the fill everywhere else."""
    assert dataset["issue"].values.tolist() == [issue.issue for issue in issues]
    for row, issue in enumerate(issues):
        assert dataset["t0"].values[row] == issue.t0
        assert (np.diff(dataset["time"].values[row]) == np.timedelta64(1, "D")).all()
        assert dataset["time"].values[row, 0] == issue.t0 + 1
        for place, basin in enumerate(dataset["basin"].values):
            part = issue.basins.get(basin)
            assert dataset["status"].values[row, place] == (part.status if part else 0)
            for name in (layout.CALIBRATED, layout.DISCHARGE, layout.MEMBERS):
                expected = np.full(dataset[name].shape[2:], np.nan, np.float32)
                if part is not None:
                    flow = part.flow[name]
                    expected[: flow.shape[0], : flow.shape[1]] = flow
                np.testing.assert_array_equal(dataset[name].values[row, place], expected)


def test_issues_are_read_back_as_basins_leads_and_members_grow(tmp_path: Path) -> None:
    issues = [
        an_issue(0, {"B-1": 1, "B-0": 0}),
        an_issue(1, {"B-0": 0}, leads=20),
        an_issue(2, {f"B-{number}": number for number in range(20)}, members=70),
        an_issue(2, {"B-3": 5}),
    ]
    issues[3] = replace(issues[3], issue="a-correction-of-the-same-day")
    for issue in issues:
        assert append(tmp_path / "a.zarr", issue, SITES, WITH_MEMBERS)
        assert not append(tmp_path / "a.zarr", issue, SITES, WITH_MEMBERS)
    dataset = read(tmp_path / "a.zarr")
    check(dataset, issues)
    assert dataset["basin"].values[:3].tolist() == ["B-1", "B-0", "B-2"]
    assert dataset["latitude"].values[:3].tolist() == [41.0, 40.0, 42.0]
    assert dataset["calibrated_quantile"].values.tolist() == list(LEVELS)


def test_the_archive_is_copied_to_netcdf(tmp_path: Path) -> None:
    for name, new in (("all", Contents()), ("members", WITH_MEMBERS), ("chosen", Contents(chosen=["B-0", "B-1"]))):
        folder, file = tmp_path / f"{name}.zarr", tmp_path / f"{name}.nc"
        append(folder, an_issue(0, {"B-0": 0, "B-1": 1}), SITES, new)
        archive = read(folder)
        archive.to_netcdf(file)
        with xarray.open_dataset(file) as copied:
            xarray.testing.assert_equal(copied.load(), archive)
            assert copied.attrs.keys() == archive.attrs.keys()
        stored = contents(folder)
        assert stored is not None
        assert (stored.chosen, stored.members) == (new.chosen, new.members)


def test_an_archive_of_an_earlier_freshet_goes_on_and_can_be_copied(tmp_path: Path) -> None:
    folder = tmp_path / "a.zarr"
    append(folder, an_issue(0, {"B-0": 0}), SITES, WITH_MEMBERS)
    root = json.loads((folder / "zarr.json").read_text())
    root["attributes"] |= {"freshet_basins": None, "freshet_members": True}
    (folder / "zarr.json").write_text(json.dumps(root))
    stored = contents(folder)
    assert stored is not None
    assert (stored.chosen, stored.members) == (None, True)
    append(folder, an_issue(1, {"B-0": 0}), SITES, Contents())
    read(folder).to_netcdf(tmp_path / "a.nc")


def test_the_archive_describes_itself_by_the_conventions(tmp_path: Path) -> None:
    append(tmp_path / "a.zarr", an_issue(0, {"B-0": 0}), SITES, Contents(chosen=["B-0"]))
    dataset = read(tmp_path / "a.zarr")
    assert dataset.attrs["Conventions"] == "CF-1.8"
    assert "members" not in dataset
    names = {str(name): variable.attrs.get("standard_name") for name, variable in dataset.variables.items()}
    assert names["calibrated"] == names["discharge"] == "water_volume_transport_in_river_channel"
    assert dataset["calibrated"].attrs["units"] == "m3 s-1"
    assert (names["t0"], names["time"], names["lead_days"]) == ("forecast_reference_time", "time", "forecast_period")
    assert {"time", "t0", "latitude", "longitude"} <= set(dataset["calibrated"].coords)
    assert contents(tmp_path / "a.zarr") == Contents(["run-000"], ["B-0"], 3, ["B-0"])
    (tmp_path / "b.zarr").mkdir()
    (tmp_path / "b.zarr" / "zarr.json").write_text("{}")
    with pytest.raises(UnusableArchive):
        append(tmp_path / "b.zarr", an_issue(0, {"B-0": 0}), SITES, Contents())


@pytest.mark.parametrize("name", ["issue/c/0", "basin/c/0", "version/c/0", "time/c/0/0"])
def test_a_truncated_chunk_is_reported(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "a.zarr"
    append(folder, an_issue(0, {"B-0": 0}), SITES, Contents())
    (folder / name).write_bytes((folder / name).read_bytes()[:-7])
    with pytest.raises(UnusableArchive, match="damaged"):
        append(folder, an_issue(1, {"B-0": 0, "B-1": 1}), SITES, Contents())
    if name.startswith(("issue", "basin")):
        with pytest.raises(UnusableArchive, match="damaged"):
            contents(folder)


class Killed(Exception):  # noqa: N818 - it ends the work as a death would
    """The process ends here."""


@pytest.mark.extended
def test_an_append_that_ends_between_any_two_writes_is_never_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive holds an issue; the next one fails at each write in turn, and another one follows."""
    first, failing = an_issue(0, {"B-0": 0}), an_issue(1, {f"B-{number}": number for number in range(3)}, leads=17)
    after = an_issue(2, {"B-2": 2})
    monkeypatch.setattr(os, "fsync", lambda _file: None)
    append(tmp_path / "first.zarr", first, SITES, WITH_MEMBERS)
    ended = False
    for step in range(1000):
        folder = Path(shutil.copytree(tmp_path / "first.zarr", tmp_path / f"{step}.zarr"))
        left = iter(range(step))

        def killed(_file: int, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Killed

        with monkeypatch.context() as dying, suppress(Killed):
            dying.setattr(os, "fsync", killed)
            ended = append(folder, failing, SITES, WITH_MEMBERS)
        held = contents(folder)
        assert held is not None
        appended = len(held.issues) == 2
        check(read(folder), [first, failing] if appended else [first])
        if step % 8 == 0 or ended:
            append(folder, after, SITES, WITH_MEMBERS)
            check(read(folder), [first, failing, after] if appended else [first, after])
        if ended:
            assert step > 20
            return


def test_a_creation_that_ends_between_two_writes_leaves_no_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    issue = an_issue(0, {"B-0": 0})
    written: list[int] = []
    monkeypatch.setattr(os, "fsync", written.append)
    append(tmp_path / "whole.zarr", issue, SITES, WITH_MEMBERS)
    for step in range(0, len(written), 8):
        left = iter(range(step))

        def killed(_file: int, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Killed

        with monkeypatch.context() as dying, suppress(Killed):
            dying.setattr(os, "fsync", killed)
            append(tmp_path / "a.zarr", issue, SITES, WITH_MEMBERS)
        if contents(tmp_path / "a.zarr") is not None:
            break
    append(tmp_path / "a.zarr", issue, SITES, WITH_MEMBERS)
    check(read(tmp_path / "a.zarr"), [issue])


def _watch(folder: str, last: int, found: "Queue[int]") -> None:
    """Open the archive again and again, until it has its last issue; give the number of issues seen each time."""
    seen = 0
    while seen < last:
        if Path(folder, "zarr.json").exists():
            dataset = read(Path(folder))
            numbers = {basin: int(basin[2:]) for basin in dataset["basin"].values}
            check(dataset, [an_issue(number, numbers) for number in range(len(dataset["issue"]))])
            seen = len(dataset["issue"])
            found.put(seen)


@pytest.mark.extended
def test_a_reader_in_another_process_sees_whole_issues_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _file: None)
    context, basins = spawn_context(), {f"B-{number}": number for number in range(3)}
    found: Queue[int] = context.Queue()
    reader = context.Process(target=_watch, args=(str(tmp_path / "a.zarr"), 10, found))
    append(tmp_path / "a.zarr", an_issue(0, basins), SITES, WITH_MEMBERS)
    reader.start()
    seen = [found.get(timeout=60)]
    for number in range(1, 10):
        append(tmp_path / "a.zarr", an_issue(number, basins), SITES, WITH_MEMBERS)
    while seen[-1] < 10:
        seen.append(found.get(timeout=60))
    reader.join(60)
    assert reader.exitcode == 0
    assert seen == sorted(seen)
