"""`freshet feeds`: added, asked, shown, removed, against a service of this machine."""

from collections.abc import Iterator

import pytest

from jobspec.feed_kinds import USUAL
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from testing.feed_services.server import serving
from testing.feed_services.world import World
from tests.freshet.conftest import Freshet
from tests.ingestion.feeds.conftest import COAST, MAINE, NOW, PLACES, gauge

Office = tuple[Freshet, World, dict[str, str]]


@pytest.fixture
def office(empty: Freshet) -> Iterator[Office]:
    database = Database(f"sqlite:///{empty.data / 'freshet.sqlite'}")
    with database.transaction() as session:
        for basin, (latitude, longitude) in PLACES.items():
            basins.upsert(session, Basin(basin, None, latitude, longitude))
    database.close()
    world = World({basin: gauge(basin) for basin in PLACES}, NOW)
    with serving(world) as url:
        settings = {
            "FRESHET_USGS_URL": f"{url}/ogcapi/v1",
            "FRESHET_USGS_RATINGS_URL": f"{url}/stac/v0",
            "FRESHET_NWPS_URL": f"{url}/nwps/v1",
            "FRESHET_OPEN_METEO_FORECAST_URL": url,
            "FRESHET_INGEST_HOSTS": url.removeprefix("http://"),
            "FRESHET_AS_OF": NOW.isoformat(),
        }
        yield empty, world, settings


def test_a_feed_is_added_asked_shown_and_removed(office: Office) -> None:
    freshet, _, settings = office
    added = freshet("feeds", "add", "flow", "--adapter", "usgs", "--json", **settings).json
    assert (added["name"], added["settings"]) == ("flow", {"adapter": "usgs"})
    fetched = freshet("feeds", "fetch", "flow", "--json", **settings)
    assert (fetched.code, fetched.json["counts"]) == (0, {"new": 3})
    assert freshet("feeds", "fetch", "flow", "--json", **settings).json["counts"] == {"unchanged": 3}
    shown = freshet("feeds", "show", "flow", "--json", **settings).json
    assert {one["basin"] for one in shown["basins"]} == set(PLACES)
    assert shown["last_success_at"] == NOW.isoformat().replace("+00:00", "Z")
    assert "2026-11-22 14:00:00Z" in freshet("feeds", "list", **settings).out
    assert freshet("feeds", "remove", "flow", **settings).code == 0
    assert freshet("feeds", "list", "--json", **settings).json == {"feeds": []}
    assert freshet("feeds", "fetch", "flow", **settings).code == 3


def test_some_basins_and_days_are_asked_for_alone(office: Office) -> None:
    freshet, _, settings = office
    freshet("feeds", "add", "flow", "--adapter", "usgs", "--basin", MAINE, "--basin", COAST[5:], **settings)
    done = freshet(
        "feeds", "fetch", "flow", "--basin", MAINE, "--period", "2026-05-01..2026-05-31", "--json", **settings
    )
    assert done.json["counts"] == {"new": 1}
    (one,) = [
        basin for basin in freshet("feeds", "show", "flow", "--json", **settings).json["basins"] if basin["new_days"]
    ]
    assert (one["basin"], one["new_days"]) == (MAINE, 31)
    assert freshet("feeds", "fetch", "flow", "--basin", "06409000", **settings).code == 2


def test_the_exit_code_reports_a_failure_for_some_or_all_basins(office: Office) -> None:
    freshet, world, settings = office
    freshet("feeds", "add", "flow", "--adapter", "usgs", **settings)
    world.gauges = {basin: one for basin, one in world.gauges.items() if basin != MAINE}
    partly = freshet("feeds", "fetch", "flow", **settings)
    assert (partly.code, "knows no daily mean discharge" in partly.err) == (6, True)
    world.faults = {world.today: ["usgs-403"]}
    assert freshet("feeds", "fetch", "flow", **settings).code == 4


def test_the_weight_of_a_fetch_is_reported(office: Office) -> None:
    freshet, _, settings = office
    added = ("--adapter", "open-meteo-forecast", "--model", "ecmwf_ifs", "--days-ahead", "5")
    assert freshet("feeds", "add", "ahead", *added, **settings).code == 0
    fetched = freshet("feeds", "fetch", "ahead", **settings)
    assert fetched.code == 0
    assert "The fetch weighs 3 calls by Open-Meteo's count." in fetched.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--adapter", "weather"], "The feed is not possible: 'adapter' must be one of 'usgs', 'ratings', "),
        (["--adapter", "usgs", "--model", "era5"], "model: there is no such field"),
        (["--adapter", "open-meteo-archive", "--model", "era5"], "product: it is needed"),
        (["--adapter", "usgs", "--series", "01031500"], "write it as BASIN=SERIES"),
        (["--adapter", "usgs", "--basin", "99999999"], "USGS-99999999: not stored here"),
    ],
)
def test_an_invalid_feed_is_reported(empty: Freshet, arguments: list[str], sentence: str) -> None:
    result = empty("feeds", "add", "some", *arguments, "--json")
    assert result.code == 2
    assert sentence in result.json["problem"]["detail"]
    assert empty("feeds", "list", "--json").json == {"feeds": []}


def test_a_key_is_shown_nowhere(office: Office) -> None:
    freshet, world, settings = office
    world.key, wrong = "the-right-key", "k3y-that-nobody-may-see"
    freshet("feeds", "add", "flow", "--adapter", "usgs", **settings)
    fetched = freshet("feeds", "fetch", "flow", **settings, FRESHET_USGS_KEY=wrong, FRESHET_LOG_LEVEL="debug")
    shown = freshet("feeds", "show", "flow", "--json", **settings)
    assert fetched.code == 4
    assert "FRESHET_USGS_KEY" in fetched.err
    assert wrong not in fetched.out + fetched.err + shown.out
    assert wrong.encode() not in (freshet.data / "freshet.sqlite").read_bytes()
    assert freshet("feeds", "fetch", "flow", **settings, FRESHET_USGS_KEY=world.key).code == 0


def test_the_usual_feeds_are_started_once_and_fetched_since_a_day(office: Office) -> None:
    freshet, world, settings = office
    settings |= {"FRESHET_OPEN_METEO_ARCHIVE_URL": settings["FRESHET_OPEN_METEO_FORECAST_URL"]}
    freshet("feeds", "add", "flow", "--adapter", "usgs", "--basin", MAINE, **settings)
    started = freshet("feeds", "start", "--since", "2026-10-01", "--json", **settings)
    assert started.code == 0
    counts = {name: result["counts"] for name, result in started.json["feeds"].items()}
    none = {name: {"unchanged": 3} for name in ("ratings", "categories")}
    assert counts == {"flow": {"new": 1}, "past": {"new": 3}, "ahead": {"new": 3}} | none  # the one there stays
    (flow,) = freshet("feeds", "show", "flow", "--json", **settings).json["basins"]
    assert flow["new_days"] == 52
    world.faults = {world.today: ["meteo-400"]}
    again = freshet("feeds", "start", "--since", "2026-10-01", "--json", **settings)
    assert (again.code, again.json["feeds"]["flow"]["counts"]) == (6, {"unchanged": 1})
    assert [feed["name"] for feed in freshet("feeds", "list", "--json", **settings).json["feeds"]] == [
        *("ahead", "categories", "flow", "past", "ratings"),
    ]


def test_usual_feeds_without_a_basin_are_reported_one_by_one(empty: Freshet) -> None:
    started = empty("feeds", "start", "--since", "2026-10-01", "--json")
    assert (started.code, sorted(started.json["problems"])) == (4, sorted(USUAL))
    assert "has no basin to fetch" in started.json["problems"]["flow"]
    assert empty("feeds", "start", "--since", "tomorrow").code == 2
