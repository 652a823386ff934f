"""Ingested data are stored whole; a broken basin leaves the stored data as they were, and the others go on."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select

from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput
from hydrology.base.units import Area, to_mm_per_day
from ingestion.sources.camels import CamelsSource
from jobspec.jobs.forecasting import ForecastParams
from jobspec.levels import NewThreshold
from operations.basin_data.basins import chosen_to_learn_from
from operations.basin_data.ingest import IngestResult, first_affected, ingest
from operations.forecasting.forecast import forecast
from records.access import keys
from records.basins import basins, ownership
from records.basins.ownership import Basin
from records.database.engine import Database
from records.job_permissions import permissions
from records.levels import basin_levels
from records.runs import states
from records.runs.runs import RunRequest
from records.schema import Base
from records.series import revisions, series, series_writer
from records.versions import versions
from testing import series_history
from testing.country import BASINS, CLOCK
from testing.work import work_of

FORCING = "basin_mean_forcing/synthetic/00/SYNTH-02_lump_synthetic_forcing_leap.txt"
FLOW = "usgs_streamflow/00/SYNTH-02_streamflow_qc.txt"


@pytest.fixture
def copy(country: Path, tmp_path: Path) -> Path:
    """A copy of the country's files, to be changed."""
    return Path(shutil.copytree(country, tmp_path / "copy"))


def run(database: Database, folder: Path) -> dict[str, IngestResult]:
    return {outcome.basin: outcome for outcome in ingest(work_of(database, CLOCK), CamelsSource([folder]))}


def content(database: Database) -> dict[str, list[str]]:
    """Return every row of every table, each as text, sorted."""
    with database.reading() as session:
        return {
            table.name: sorted(repr(tuple(row)) for row in session.execute(select(table)))
            for table in Base.metadata.sorted_tables
        }


def data_of(database: Database) -> dict[str, list[str]]:
    """Return all content but the list of files that were read."""
    return {table: rows for table, rows in content(database).items() if table != "sources"}


def test_a_country_is_stored_as_in_its_files_and_repeating_changes_nothing(database: Database, country: Path) -> None:
    first = run(database, country)
    assert {outcome.status for outcome in first.values()} == {"new"}
    before = content(database)
    assert sum(map(len, before.values())) > 100

    again = run(database, country)
    assert {(o.status, o.new_days, o.changed_days) for o in again.values()} == {("unchanged", 0, 0)}
    assert content(database) == before

    rows = (country / FORCING).read_text().splitlines()[4:]
    rain = np.array([float(row.split()[5]) for row in rows])
    with database.reading() as session:
        stored = series.read(session, "SYNTH-02", "synthetic", "precipitation")
        findings = revisions.findings_of(session, "SYNTH-02")
    assert stored is not None
    assert str(stored.period) == "2000-10-01..2005-09-30"
    np.testing.assert_allclose(stored.values, rain, rtol=1e-6)
    assert any(finding["code"] == "gaps" for finding in findings["synth"])


def cut_row(path: Path) -> int:
    lines = path.read_text().splitlines()
    lines[99] = lines[99][:12]
    path.write_text("\n".join(lines) + "\n")
    return 100


def text_in_number(path: Path) -> int:
    lines = path.read_text().splitlines()
    fields = lines[49].split()
    lines[49] = lines[49].replace(fields[4], "1.2.5", 1)
    path.write_text("\n".join(lines) + "\n")
    return 50


def empty(path: Path) -> None:
    path.write_text("")


def of_another_basin(path: Path) -> int:
    path.write_text((path.parent / path.name.replace("02", "01", 1)).read_text())
    return 1


def negative_rain(path: Path) -> int:
    lines = path.read_text().splitlines()
    fields = lines[29].split("\t")
    fields[5] = "-1.0"
    lines[29] = "\t".join(fields)
    path.write_text("\n".join(lines) + "\n")
    return 30


def other_columns(path: Path) -> None:
    path.write_text(path.read_text().replace("prcp(mm/day)", "rain(inch)"))


def test_a_negative_flow_and_a_code_are_two_missing_days_and_one_warning(trained_store: Database, copy: Path) -> None:
    lines = (copy / FLOW).read_text().splitlines()
    for at, written in ((49, "-0.1"), (60, "Whale")):
        lines[at] = lines[at].replace(lines[at].split()[4], written, 1)
    (copy / FLOW).write_text("\n".join(lines) + "\n")
    outcome = run(trained_store, copy)["SYNTH-02"]
    assert (outcome.status, outcome.changed_days) == ("changed", 2)
    (reported,) = (sentence for sentence in outcome.warnings if "not taken" in sentence)
    (printed,) = outcome.input_warnings
    assert printed.startswith(f"{copy / FLOW}: discharge of synth: values not taken (negative")
    for warning in (reported, printed):
        assert f"so missing: 2, the first on {'-'.join(lines[49].split()[1:4])}" in warning


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        (FORCING, cut_row),
        (FORCING, text_in_number),
        (FORCING, other_columns),
        (FORCING, empty),
        (FORCING, negative_rain),
        (FLOW, cut_row),
        (FLOW, text_in_number),
        (FLOW, empty),
        (FLOW, of_another_basin),
    ],
)
def test_a_broken_file_leaves_its_basin_as_it_was_and_the_others_go_on(
    trained_store: Database, copy: Path, file: str, damage: Callable[[Path], int | None]
) -> None:
    before = data_of(trained_store)
    line = damage(copy / file)
    outcomes = run(trained_store, copy)
    failed = outcomes.pop("SYNTH-02")
    assert failed.status == "failed"
    assert failed.error is not None
    assert Path(file).name in failed.error
    assert line is None or f"line {line}" in failed.error
    assert {outcome.status for outcome in outcomes.values()} == {"unchanged"}
    assert data_of(trained_store) == before


def test_a_basin_that_the_source_lacks_is_refused(trained_store: Database, country: Path) -> None:
    with pytest.raises(InvalidInput, match="does not hold USGS-01013500"):
        ingest(work_of(trained_store, CLOCK), CamelsSource([country]), ["USGS-01013500"])


def test_a_revised_value_is_logged_and_invalidates_the_states_that_consumed_it(
    trained_store: Database, copy: Path
) -> None:
    forecast(work_of(trained_store, CLOCK), RunRequest(ForecastParams(basins=list(BASINS), t0=day("2004-05-01"))))
    lines = (copy / FORCING).read_text().splitlines()
    at = next(
        index
        for index, row in enumerate(lines)
        if row.split()[:3] == ["2003", "01", "15"] or row.startswith("2003\t1\t15")
    )
    fields = lines[at].split("\t")
    old, fields[5] = float(fields[5]), "77.5"
    lines[at] = "\t".join(fields)
    (copy / FORCING).write_text("\n".join(lines) + "\n")

    outcome = run(trained_store, copy)["SYNTH-02"]
    assert (outcome.status, outcome.new_days, outcome.changed_days) == ("changed", 0, 1)
    assert outcome.invalidated_states == 2  # 2003-09-30 and 2004-05-01; those before stand
    with trained_store.reading() as session:
        (revision,) = series_history.revisions(session, "SYNTH-02", "synthetic", "precipitation")
        version = versions.newest(session).id
        left = states.newest_valid(session, version, "SYNTH-02", day("2005-01-01"))
        other = states.newest_valid(session, version, "SYNTH-01", day("2005-01-01"))
    assert revision.old_value == pytest.approx(old)
    assert revision.day == day("2003-01-15")
    assert left is not None
    assert left.day == day("2002-09-30")
    assert other is not None
    assert other.day == day("2004-05-01")


def test_real_basins_store_their_means(database: Database, camels: Path) -> None:
    """Sums in float64 straight from the files, against the stored values."""
    folder = camels / "basin_dataset_public_v1p2"
    source = CamelsSource([camels / "maurer_extended.zip", folder, camels / "camels_attributes_v2.0"])
    ids = ["USGS-01022500", "USGS-13235000", "USGS-09081600"]
    ingest(work_of(database, CLOCK), source, ids)
    period = Period.parse("1999-10-01..2008-09-30")
    for basin in ids:
        data = source.read(basin)
        for one in data.series:
            with database.reading() as session:
                stored = series.read(session, basin, one.product, one.variable, period)
            assert stored is not None
            expected = np.nanmean(one.series.over(period).values, dtype=np.float64)
            assert np.nanmean(stored.values, dtype=np.float64) == pytest.approx(expected, rel=1e-6)
        area = Area("maurer_extended", data.areas["maurer_extended"])
        path = next(folder.glob(f"*/*/{basin[5:]}_streamflow_qc.txt"))
        rows = [row.split() for row in path.read_text().splitlines()]
        cfs = [float(r[4]) for r in rows if "1999-10-01" <= f"{r[1]}-{int(r[2]):02}-{int(r[3]):02}" <= "2008-09-30"]
        with database.reading() as session:
            flow = series.read(session, basin, "usgs", "discharge", period)
        assert flow is not None
        depth = to_mm_per_day(flow.values, unit="cfs", area=area).mean()
        assert depth == pytest.approx(np.mean(cfs) * 0.028316846592 * 86400e3 / area.m2, rel=1e-6)


PAST = Period.parse("2001-01-01..2005-12-31")


@pytest.mark.parametrize(
    ("changed", "new", "expected"),
    [
        ("2003-05-10", None, "2003-05-05"),
        (None, "2003-05-10", "2003-05-05"),  # fills a gap, which may have been interpolated
        ("2004-05-10", "2003-05-10", "2003-05-05"),
        (None, "2000-06-01", "2000-05-27"),  # before the record: its first state began elsewhere
        (None, "2006-01-01", None),  # after the record: no state has seen it
        (None, None, None),
    ],
)
def test_the_states_that_a_write_can_change(changed: str | None, new: str | None, expected: str | None) -> None:
    written = series_writer.Written(
        first_new=day(new) if new else None, first_changed=day(changed) if changed else None
    )
    assert first_affected(written, PAST) == (day(expected) if expected else None)


def test_the_first_write_of_a_series_touches_no_state() -> None:
    assert first_affected(series_writer.Written(first_new=day("2001-01-01")), None) is None


def test_a_basin_that_an_operator_registered_first_is_adopted_bare_or_refused(
    database: Database, country: Path
) -> None:
    source, mine = CamelsSource([country]), "SYNTH-02"
    with database.transaction() as session:
        operator = permissions.of_key(keys.make(session, "squatter", "operator", None, CLOCK.wall())[0])
    (new,) = ingest(work_of(database, CLOCK), source, [mine], grant=operator)
    assert (new.status, "names an agency" in str(new.error)) == ("failed", True)
    with database.transaction() as session:
        basins.register(session, mine, operator.key_id)  # as before identifiers of agencies were refused
        basins.upsert(session, Basin(mine, name="Mine"))
        basin_levels.put(session, mine, NewThreshold(name="low", discharge=0.01, direction="rising"), CLOCK.now())
    assert ingest(work_of(database, CLOCK), source, [mine], grant=operator)[0].status == "changed"
    (refused,) = ingest(work_of(database, CLOCK), source, [mine])
    for words in ("squatter", "levels low", "--adopt"):
        assert words in str(refused.error), words
    (adopted,) = ingest(work_of(database, CLOCK), source, [mine], adopt=True)
    assert (adopted.status, adopted.adopted) == (
        "changed",
        "from the key of squatter (levels low), dropped",
    )
    with database.reading() as session:
        assert (ownership.official(session, basins.chosen(session)), basin_levels.of_basin(session, mine)) == (
            [mine],
            [],
        )
        assert basins.get(session, mine).name != "Mine"
    assert ingest(work_of(database, CLOCK), source, [mine], grant=operator)[0].status == "failed"
    assert ingest(work_of(database, CLOCK), source, [mine])[0].status == "unchanged"


def test_a_version_of_the_service_learns_from_official_basins_unless_an_admin_names_others(database: Database) -> None:
    with database.transaction() as session:
        operator = keys.make(session, "mill", "operator", None, CLOCK.wall())[0].id
        basins.register(session, "OWN-mill", operator)
        basins.register(session, "OWN-office", None)
        assert chosen_to_learn_from(session, [], None) == ["OWN-office"]
        assert chosen_to_learn_from(session, ["OWN-mill"], None) == ["OWN-mill"]
        assert chosen_to_learn_from(session, [], operator) == ["OWN-mill", "OWN-office"]
