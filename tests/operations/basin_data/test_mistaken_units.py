"""Discharge and areas in another unit than labelled are warned of wherever they enter."""

from pathlib import Path

import numpy as np
import pytest

from hydrology.base.calendar import Period
from hydrology.base.outline import BadOutline
from hydrology.base.units import M3_PER_FT3
from ingestion.sources.tables import TablesSource
from jobspec.feed_kinds import NewFeed, read_settings
from jobspec.new_data import AddedBasin
from operations.basin_data.ingest import IngestResult, ingest
from operations.basin_data.sources import Intake
from operations.feeds.add_gauge import add
from operations.feeds.fetch import fetch
from records.database.engine import Database
from records.feeds import feeds
from records.series import revisions
from runtime.settings import Settings
from testing.country import CLOCK
from testing.records import NOW
from testing.work import work_of
from tests.weather_lies import latitude, right

BASIN, KM2 = "OWN-mill", 300.0
YEARS = Period.parse("2000-10-01..2003-09-30")
OUTLINE = {"type": "Polygon", "coordinates": [[[-70, 45], [-69.8, 45], [-69.8, 45.17], [-70, 45.17], [-70, 45]]]}


def write_tables(
    folder: Path, basin: str = BASIN, *, label: str = "m3_per_s", size: float = 1.0, km2: float = KM2
) -> tuple[Path, Path]:
    """Write an own basin and its days, with flow in a unit of some m3/s under a label."""
    days, values = right(YEARS)
    flow = 0.4 * np.convolve(values["precipitation"], np.full(30, 1 / 30))[: len(days)] * KM2 / 86.4 / size
    basins, observations = folder / "basins.csv", folder / "days.csv"
    basins.write_text(f"id,latitude,longitude,area_km2\n{basin},{latitude()},-70,{km2}\n")
    columns = [values[name] for name in ("precipitation", "tmax", "tmin")]
    rows = zip(days, *columns, flow, strict=True)
    lines = [f"{basin},{day},{rain:.2f},{warm:.2f},{cold:.2f},{flow:.5f}" for day, rain, warm, cold, flow in rows]
    header = f"basin,date,precipitation_mm_per_day,tmax_degC,tmin_degC,discharge_{label}"
    observations.write_text("\n".join([header, *lines, ""]))
    return basins, observations


def ingested(database: Database, tables: tuple[Path, Path]) -> IngestResult:
    (outcome,) = ingest(work_of(database, CLOCK), TablesSource(*tables, "own"))
    return outcome


def test_a_table_in_another_unit_is_stored_with_a_warning(database: Database, tmp_path: Path) -> None:
    cases = (
        ("m3_per_s", M3_PER_FT3, KM2, "labelled m3/s, looks like cubic feet per second (35.31 times"),
        ("cfs", 1.0, KM2, "labelled cfs, looks like cubic metres per second"),
        ("m3_per_s", 1e-3, KM2, "litres per second"),
        ("m3_per_s", 1.0, 247.1 * KM2, "acres"),
    )
    for number, (label, size, km2, words) in enumerate(cases):
        basin = f"OWN-{number}"
        outcome = ingested(database, write_tables(tmp_path, basin, label=label, size=size, km2=km2))
        assert any(words in sentence for sentence in outcome.input_warnings), (words, outcome)
        right_size = 1.0 if label == "m3_per_s" else M3_PER_FT3
        mended = ingested(database, write_tables(tmp_path, basin, label=label, size=right_size))
        assert (mended.status, mended.input_warnings) == ("changed", ())


def test_a_feed_of_files_warns_of_a_unit(database: Database, tmp_path: Path) -> None:
    basins, observations = write_tables(tmp_path, size=M3_PER_FT3)
    (outcome,) = ingest(work_of(database, CLOCK), TablesSource(basins, None, "own"))
    assert outcome.input_warnings == ()
    with database.transaction() as session:
        named = {"adapter": "files", "from": [str(observations)], "product": "own"}
        feeds.create(session, NewFeed(name="laid", settings=read_settings(named)), None, NOW)
    intake = Intake(tmp_path / "downloads", (), (tmp_path,), lambda *_: None, lambda _: None)
    (done,) = fetch(work_of(database, CLOCK, Settings(data=tmp_path)), intake, "laid", period=YEARS)
    assert any("cubic feet per second" in sentence for sentence in done.warnings), done


def test_an_area_is_held_against_the_outline(database: Database, tmp_path: Path) -> None:
    place = {"basin": BASIN, "latitude": 45.0, "longitude": -69.9}
    for km2, unit in ((115.0, "square miles"), (73_500.0, "acres"), (29_700.0, "hectares")):
        request = AddedBasin.model_validate(place | {"area_km2": km2, "outline": OUTLINE})
        with pytest.raises(BadOutline, match=f"which looks like {unit}: correct"):
            add(work_of(database, CLOCK, Settings(data=tmp_path)), request)
        accepted = request.model_copy(update={"accept_outline_area": True})
        (warning,) = add(work_of(database, CLOCK, Settings(data=tmp_path)), accepted).warnings
        assert f"looks like {unit}: the area outline is" in warning
    right_one = AddedBasin.model_validate(place | {"area_km2": 298.0})
    assert add(work_of(database, CLOCK, Settings(data=tmp_path)), right_one).warnings == ()
    with database.reading() as session:
        assert revisions.findings_of(session, BASIN) == {"basin": []}
