"""Any gauge is added, described, and served by a version that never saw it, and assumptions are reported."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, day
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.outline import BadOutline
from hydrology.weather.climate import CLIMATE
from jobspec.jobs.forecasting import ForecastParams
from jobspec.new_data import AddedBasin
from models.pretrained.land import shipped_land
from operations.basin_data.climate import compute
from operations.basin_data.dataset import load_forcing
from operations.feeds.add_gauge import add
from operations.forecasting.forecast import forecast
from operations.forecasting.plans import NothingToForecast
from operations.verification.evaluate import evaluate
from operations.versions.learnt_days import attribute_means
from records.access import keys
from records.basins import basins, ownership
from records.basins.ownership import ATTRIBUTES, AgencysName, Basin, Unofficial
from records.basins.ownership import BASINS as BASIN_ROWS
from records.database.engine import Database
from records.runs import runs, states
from records.runs.run_summary import RunSummary
from records.runs.runs import RunRequest
from records.series import series_writer
from records.verification import scores
from records.versions import promotions, versions
from runtime.settings import Settings
from testing.country import BASINS, CLOCK
from testing.feed_services.server import replacing_services, serving
from testing.feed_services.world import World
from testing.records import a_reason, a_source, a_version, daily
from testing.work import work_of
from tests.ingestion.feeds.conftest import DAKOTA, MAINE, NOW, gauge

AREA_KM2 = 769.0
OUTLINE = {
    "type": "Polygon",
    "coordinates": [[[-69.6, 45.1], [-69.2, 45.1], [-69.2, 45.32], [-69.6, 45.32], [-69.6, 45.1]]],
}
BASIN = BASINS[2]
YEARS = Period.parse("2000-10-01..2003-09-30")
LAND = ("elev_mean", "soil_porosity")


@pytest.fixture
def world() -> World:
    """One gauge."""
    return World({MAINE: gauge(MAINE)}, NOW)


@pytest.fixture
def settings(tmp_path: Path, world: World) -> Iterator[Settings]:
    """Settings under which USGS is a local server that knows the world's gauge."""
    with serving(world) as url, replacing_services(url):
        allowed = (("127.0.0.1", int(url.rpartition(":")[2])),)
        yield Settings(data=tmp_path, ingest_hosts=allowed)


def added(database: Database, settings: Settings, basin: str = MAINE, **result: object) -> Basin:
    add(work_of(database, CLOCK, settings), AddedBasin.model_validate({"basin": basin} | result), pause=lambda _: None)
    with database.reading() as session:
        return basins.get(session, basin)


def test_usgs_reports_where_a_gauge_is_and_what_drains_to_it(database: Database, settings: Settings) -> None:
    basin = added(database, settings)
    assert (basin.latitude, basin.longitude) == (45.17, -69.31)
    assert basin.name
    assert basin.texts == {"time_zone": "America/New_York"}
    assert basin.areas == {"usgs": pytest.approx(AREA_KM2 * 1e6)}  # which USGS gives in square miles
    assert basin.attributes == pytest.approx({"area_gages2": AREA_KM2, "area_km2": AREA_KM2})
    assert (basin.weather_points, basin.assume_attributes) == (None, None)


def test_given_values_override_those_of_usgs(database: Database, settings: Settings) -> None:
    basin = added(database, settings, name="Mine", area_km2=800.0, outline=OUTLINE, attributes={"elev_mean": 300.0})
    assert basin.name == "Mine"
    assert basin.areas["given"] == 800e6
    assert basin.attributes == {"area_gages2": 800.0, "area_km2": 800.0, "elev_mean": 300.0}
    assert basin.weather_points is not None
    assert all(45.1 < latitude < 45.32 and -69.6 < longitude < -69.2 for latitude, longitude in basin.weather_points)
    again = added(database, settings, assume_attributes=True)
    assert (again.name, again.areas, again.weather_points) == ("Mine", basin.areas, basin.weather_points)
    assert again.assume_attributes is True


def box(east: float, west: float = -69.6) -> dict[str, object]:
    ring = [[west, 45.1], [east, 45.1], [east, 45.32], [west, 45.32], [west, 45.1]]
    return {"type": "Polygon", "coordinates": [ring]}


def test_an_outline_of_another_area_is_refused_unless_it_is_accepted(database: Database, settings: Settings) -> None:
    own = {"latitude": 45.17, "longitude": -69.31}
    for outline, sentence in (
        (box(-69.0), r"The outline has 1152.* km2, 50% more than the basin's 769 km2 \(given\): correct .* accept"),
        (box(-69.4), r"50% less than the basin's 769 km2"),
    ):
        with pytest.raises(BadOutline, match=sentence):
            added(database, settings, "OWN-mill", **own, area_km2=769.0, outline=outline)
    with database.reading() as session:
        assert basins.list_basins(session) == []
    taken = added(database, settings, "OWN-mill", **own, area_km2=769.0, outline=box(-69.0), accept_outline_area=True)
    assert taken.areas == {"given": 769e6, "outline": pytest.approx(1152e6, rel=1e-3)}
    assert taken.texts["outline_area"].endswith("km2 (given); the difference was accepted.")

    right = added(database, settings, "OWN-mill", outline=box(-69.22))
    assert right.areas["outline"] == pytest.approx(730e6, rel=1e-3)
    assert right.texts["outline_area"] == "The outline has 729.88 km2, 5% less than the basin's 769 km2 (given)."
    with pytest.raises(BadOutline, match=r"64% less than the basin's 2000 km2"):  # of the stored outline
        added(database, settings, "OWN-mill", area_km2=2000.0)
    assert added(database, settings, "OWN-mill", name="The mill").texts == right.texts


def test_an_outline_is_compared_with_what_usgs_reports_or_a_product(database: Database, settings: Settings) -> None:
    with pytest.raises(BadOutline, match=r"the basin's 769 km2 \(usgs\)"):
        added(database, settings, outline=box(-69.0))
    with database.transaction() as session:
        basins.upsert(session, Basin("CARAVAN-x_1", "Old", 45.2, -69.3, None, {"era5_land": 4e8}))
    with pytest.raises(BadOutline, match=r"the basin's 400 km2 \(era5_land\)"):
        add(work_of(database, CLOCK, settings), AddedBasin.model_construct(basin="CARAVAN-x_1", outline=box(-69.2)))


@pytest.mark.parametrize(
    ("longitude", "written"),
    [(179.95, [(179.8, 180), (-180, -179.9)]), (-179.95, [(179.8, 180.1)])],
    ids=["Fiji, split", "the Aleutians' side, written on"],
)
def test_a_gauge_beside_the_180th_meridian_has_points_on_both_sides(
    database: Database, settings: Settings, longitude: float, written: list[tuple[float, float]]
) -> None:
    boxes = [[[[w, -17], [e, -17], [e, -16.6], [w, -16.6], [w, -17]]] for w, e in written]
    outline = {"type": "MultiPolygon", "coordinates": boxes}
    place = {"latitude": -16.8, "longitude": longitude}
    basin = added(database, settings, "OWN-vunda", **place, area_km2=1400.0, outline=outline)
    assert basin.areas["outline"] == pytest.approx(1415.6e6, rel=1e-4)
    assert {np.sign(lon) for _, lon in basin.weather_points or ()} == {-1, 1}
    assert all(abs(lon) >= 179.8 and abs(lon) <= 180 for _, lon in basin.weather_points or ())
    with database.reading() as session:
        assert basins.chosen(session, box=(170.0, -20.0, -170.0, -10.0)) == ["OWN-vunda"]


def test_a_basin_retains_the_area_that_versions_learn_with(database: Database, settings: Settings) -> None:
    with database.transaction() as session:
        known = {"area_gages2": 772.0}
        basins.upsert(session, Basin(MAINE, "Old", 45.0, -69.0, None, {"maurer_extended": 7.7e8}, known))
    basin = added(database, settings, area_km2=900.0)
    assert basin.areas == {"maurer_extended": 7.7e8, "given": 9e8}
    assert basin.attributes["area_gages2"] == 772.0
    assert basin.name == "Old"


def test_the_area_of_usgs_stays_where_a_version_learnt_with_it(database: Database, settings: Settings) -> None:
    areas = added(database, settings).areas
    with database.transaction() as session:
        a_version(session, basins=(MAINE,), product="open_meteo_ifs")
    with pytest.raises(InvalidInput, match="learnt from USGS-01031500 with an area of 769 km2, which stays"):
        added(database, settings, area_km2=900.0)
    assert added(database, settings, name="Mine").areas == areas


def test_a_gauge_that_usgs_does_not_know_is_refused_and_nothing_is_stored(
    database: Database, settings: Settings
) -> None:
    with pytest.raises(InvalidInput, match=f"USGS knows no monitoring location {DAKOTA}"):
        added(database, settings, DAKOTA)
    with pytest.raises(InvalidInput, match="The location of OWN-mill is not known"):
        added(database, settings, "OWN-mill", area_km2=5.0)
    with pytest.raises(InvalidInput, match="The drainage area of OWN-mill is not known"):
        added(database, settings, "OWN-mill", latitude=44.0, longitude=-70.0)
    with pytest.raises(InvalidInput, match="and its gauge at"):
        added(database, settings, "OWN-mill", latitude=-44.0, longitude=-70.0, area_km2=5.0, outline=OUTLINE)
    with database.reading() as session:
        assert basins.list_basins(session) == []


def test_two_who_add_the_same_basin_at_once_do_not_mix(database: Database, settings: Settings, world: World) -> None:
    def meanwhile(_seconds: float) -> None:
        added(database, settings, name="Theirs")

    world.faults = {world.today: ("usgs-429",)}
    with pytest.raises(InvalidInput, match=f"{MAINE} was added by another request"):
        add(work_of(database, CLOCK, settings), AddedBasin(basin=MAINE, name="Mine"), pause=meanwhile)
    with database.reading() as session:
        assert basins.get(session, MAINE).name == "Theirs"


def test_a_gauge_that_an_operator_registered_first_is_adopted_bare_or_refused(
    database: Database, settings: Settings
) -> None:
    with database.transaction() as session:
        operator = keys.make(session, "squatter", "operator", None, NOW)[0].id
        basins.register(session, MAINE, operator)  # as before identifiers of agencies were refused
        basins.upsert(session, Basin(MAINE, name="Mine", latitude=1.0, longitude=1.0, areas={"given": 1.0}))
    for key in (None, "admin"):
        with database.transaction() as session:
            key = key and keys.make(session, "chief", "admin", None, NOW)[0].id
        with pytest.raises(Unofficial, match=f"{MAINE} is unofficial: registered with the key of squatter"):
            add(work_of(database, CLOCK, settings), AddedBasin(basin=MAINE), key=key)
    with pytest.raises(AgencysName):
        add(
            work_of(database, CLOCK, settings),
            AddedBasin(basin=DAKOTA, latitude=1.0, longitude=1.0, area_km2=5.0),
            key=operator,
        )
    basin = added(database, settings, adopt=True)
    assert basin.name not in (None, "Mine")
    assert (basin.latitude, list(basin.areas)) == (45.17, ["usgs"])
    with database.reading() as session:
        assert ownership.official(session, basins.chosen(session)) == [MAINE]


@pytest.fixture
def lacking(trained_store: Database) -> Database:
    """The country, where nothing is known of one basin's land, nor of its climate."""
    with trained_store.transaction() as session:
        unknown = ATTRIBUTES.c.basin_id == BASIN, ATTRIBUTES.c.name.in_((*LAND, *CLIMATE))
        session.execute(ATTRIBUTES.delete().where(*unknown))
        states.invalidate_all(session, BASIN, a_reason("a test"), NOW)
        (version,) = versions.list_versions(session)
        promotions.promote(session, version.id, [BASIN], reason="a test", by="a test", at=NOW)
    return trained_store


def issued(database: Database) -> tuple[str, RunSummary]:
    (run,) = forecast(
        work_of(database, CLOCK), RunRequest(ForecastParams(basins=[BASIN], t0=day("2005-03-01"), horizon=3))
    )
    with database.reading() as session:
        return run.id, runs.basin_of(session, run.id, BASIN).summary


def test_nothing_is_assumed_without_permission(lacking: Database) -> None:
    with pytest.raises(NothingToForecast) as refused:
        issued(lacking)
    sentence = str(refused.value)
    assert f"freshet basins climate {BASIN}" in sentence
    assert "elev_mean" in sentence
    assert "--assume-attributes" in sentence


def test_climate_is_never_assumed_but_computed(lacking: Database) -> None:
    with lacking.transaction() as session:
        basins.upsert(session, Basin(BASIN, assume_attributes=True))
    with pytest.raises(NothingToForecast, match="compute p_mean, pet_mean"):
        issued(lacking)
    climate = compute(work_of(lacking, CLOCK), BASIN, "synthetic", YEARS)
    assert (
        climate.source == "synthetic 2000-10-01..2003-09-30, 3 years, evapotranspiration by Priestley and Taylor at 0 m"
    )
    with lacking.reading() as session:
        basin = basins.get(session, BASIN)
    assert basin.texts[basins.CLIMATE_SOURCE] == climate.source
    assert basin.attributes["p_mean"] == climate.indices.p_mean

    _, summary = issued(lacking)
    assert summary.attributes_assumed == LAND
    assert summary.training_note is not None
    assert "Not known here and assumed" in summary.training_note


@pytest.mark.parametrize(("place", "is_around"), [((45.2, -69.3), True), ((52.0, 13.0), False), ((None, None), False)])
def test_land_is_assumed_as_around_or_at_the_mean(
    lacking: Database, place: tuple[float | None, float | None], is_around: bool
) -> None:
    with lacking.transaction() as session:
        (version,) = versions.list_versions(session)
        names, means = version.training.inputs.static, attribute_means(version)
        others = {name: means[name] for name in names if name not in LAND}
        basins.upsert(session, Basin(BASIN, attributes=others, assume_attributes=True))
        session.execute(BASIN_ROWS.update().values(latitude=place[0], longitude=place[1]).filter_by(id=BASIN))
        forcing = load_forcing(session, BASIN, version.training, means)
    assert not isinstance(forcing, Absent)
    assumed = dict(zip(names, forcing.forcing.static[0].tolist(), strict=True))
    around = shipped_land().at(45.2, -69.3)
    assert all(around[name] != pytest.approx(means[name], rel=0.01) for name in LAND)
    expected = around if is_around else means
    assert {name: assumed[name] for name in LAND} == pytest.approx({name: expected[name] for name in LAND}, rel=1e-6)


def test_a_run_and_its_scores_store_what_was_assumed(lacking: Database) -> None:
    with lacking.transaction() as session:
        basins.upsert(session, Basin(BASIN, assume_attributes=True))
        (version,) = versions.list_versions(session)
    compute(work_of(lacking, CLOCK), BASIN, "synthetic", YEARS)
    run, before = issued(lacking)
    evaluate(work_of(lacking, CLOCK), version.id, Period.parse("2004-10-01..2005-09-30"), [BASIN])
    with lacking.reading() as session:
        (score,) = scores.scores(session, basins=[BASIN], metrics=["nse"])
        means = dict(zip(version.config["inputs"]["static"], version.scaler["static_mean"], strict=True))
    assert score.attributes_assumed == list(LAND)

    with lacking.transaction() as session:
        changes = basins.upsert(session, Basin(BASIN, attributes={name: means[name] * 3 for name in LAND}))
        assert basins.attributes_revised(session, BASIN, changes)  # what had been assumed is in its states
        states.invalidate_all(session, BASIN, a_reason("an attribute was revised"), NOW)
    _, after = issued(lacking)
    assert after.attributes_assumed == ()
    assert after.storage_mm != before.storage_mm
    with lacking.reading() as session:
        assert runs.basin_of(session, run, BASIN).summary == before


def test_climate_needs_whole_years_without_a_gap_and_replaces_no_published_one(lacking: Database) -> None:
    with pytest.raises(InvalidInput, match="of whole years"):
        compute(work_of(lacking, CLOCK), BASIN, "synthetic", Period.parse("2000-10-01..2003-09-29"))
    with pytest.raises(DataProblem, match="has no precipitation of synthetic on 365 of the 1826 days"):
        compute(work_of(lacking, CLOCK), BASIN, "synthetic", Period.parse("2001-10-01..2006-09-30"))
    with pytest.raises(DataProblem, match="has no precipitation of maurer"):
        compute(work_of(lacking, CLOCK), BASIN, "maurer", YEARS)
    with pytest.raises(DataProblem, match=f"{BASINS[0]} has p_mean, .* from its source"):
        compute(work_of(lacking, CLOCK), BASINS[0], "synthetic", YEARS)
    assert compute(work_of(lacking, CLOCK), BASIN, "synthetic", YEARS).years == 3
    assert compute(work_of(lacking, CLOCK), BASIN, "synthetic", Period.parse("2001-10-01..2003-09-30")).years == 2


def test_climate_is_of_the_only_product_and_all_whole_calendar_years_where_none_are_named(lacking: Database) -> None:
    climate = compute(work_of(lacking, CLOCK), BASIN)
    assert climate.source.startswith("synthetic 2001-01-01..2004-12-31, 4 years, ")
    with lacking.transaction() as session:
        source = a_source(session)
        for variable in ("precipitation", "tmin", "tmax"):
            short = daily("2003-06-01", *[1.0] * 500, unit="mm/day" if variable == "precipitation" else "degC")
            series_writer.write(session, BASIN, "own", variable, short, source, NOW)
    with pytest.raises(InvalidInput, match=f"{BASIN} has weather of own, synthetic: name one"):
        compute(work_of(lacking, CLOCK), BASIN)
    with pytest.raises(DataProblem, match="whole calendar year"):
        compute(work_of(lacking, CLOCK), BASIN, "own", None)


def test_climate_that_an_operator_gives_stands_and_is_called_computed_no_more(
    lacking: Database,
) -> None:
    compute(work_of(lacking, CLOCK), BASIN, "synthetic", YEARS)
    with lacking.transaction() as session:
        basins.upsert(session, Basin(BASIN, name="Renamed"))
        assert basins.CLIMATE_SOURCE in basins.get(session, BASIN).texts
        basins.upsert(session, Basin(BASIN, attributes={"p_mean": 2.5}))
        assert basins.CLIMATE_SOURCE not in basins.get(session, BASIN).texts
    with pytest.raises(DataProblem, match=f"{BASIN} has p_mean, .* from its source or an operator"):
        compute(work_of(lacking, CLOCK), BASIN, "synthetic", YEARS)
