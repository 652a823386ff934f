"""Runs of the General Adapter on a synthetic country: their flow is the forecast's, and states go on."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import rtctools.data.netcdf
import rtctools.data.pi
import rtctools.data.rtc

from extensions.fews.adapter import Done, NothingComputed, _quantities, prepared, run
from extensions.fews.simulation import SimulatedFlow
from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput, Problem
from hydrology.base.units import Area, area_by, mm_per_day_to_m3s
from hydrology.weather.climate import daylength
from ingestion.base import SourceError
from jobspec.jobs.forecasting import ForecastParams
from models import checkpoint, saved_state
from models.saved_state import Owner, UnusableState
from operations.forecasting.forecast import forecast
from operations.versions.load_networks import load_version
from records.basins import basins
from records.database.engine import Database
from records.runs import run_arrays, runs
from records.runs.runs import RunRequest
from records.versions import promotions, versions
from testing.country import BASINS, CLOCK, FIRST, SECOND, combined
from testing.files.fews import (
    NAMES,
    STATE,
    Members,
    moment,
    pi_xml,
    placed,
    run_xml,
    stamped,
    state_xml,
    weather,
    write_netcdf,
)
from testing.work import work_of
from tests.weather_lies import LIES

pytestmark = pytest.mark.extended

RECORD = Period.parse("2000-10-01..2005-09-30")
T0, END = "2005-05-01", "2005-05-11"
WHOLE = {"start": stamped("2000-10-01"), "time0": moment(day("2005-05-02")), "end": moment(day("2005-05-12"))}
NAMESPACE = {"pi": "http://www.wldelft.nl/fews/PI"}
HEADER = (
    *("type", "moduleInstanceId", "locationId", "parameterId", "qualifierId", "ensembleId", "ensembleMemberIndex"),
    *("ensembleMemberId", "timeStep", "startDate", "endDate", "forecastDate", "missVal", "longName", "stationName"),
    *("lat", "lon", "x", "y", "z", "units"),
)


def forcing_of(database: Database, period: Period, *names: str) -> Members:
    """Return the stored weather of basins, without a member."""
    return {None: {name: weather(database, name, period) for name in names or BASINS}}


def ran(database: Database, file: Path) -> Done:
    """Run."""
    with prepared(file) as (opened, diagnostics):
        return run(database, opened, diagnostics)


def lines(file: Path) -> list[tuple[int, str]]:
    """Return the levels and descriptions of the diagnostics of a run file."""
    root = ElementTree.parse(file.parent / "log" / "diag.xml").getroot()
    assert root.tag == "{http://www.wldelft.nl/fews/PI}Diag"
    return [(int(line.attrib["level"]), line.attrib["description"]) for line in root]


def read_back(file: Path, parameter: str = "discharge", locations: tuple[str, ...] = BASINS) -> Any:
    """Return what rtc-tools reads of an output, its series named by their locations."""
    config = "".join(
        f'<timeSeries id="{location}.{name}"><PITimeSeries><locationId>{location}</locationId>'
        f"<parameterId>{name}</parameterId></PITimeSeries></timeSeries>"
        for location in locations
        for name in (parameter, *({"discharge", "loss", "storage"} - {parameter}))
    )
    (file.parent / "rtcDataConfig.xml").write_text(
        f'<rtcDataConfig xmlns="http://www.wldelft.nl/fews">{config}</rtcDataConfig>'
    )
    names = rtctools.data.rtc.DataConfig(str(file.parent))
    return rtctools.data.pi.Timeseries(names, str(file.parent), file.stem, binary=False, pi_validate_times=True)


def flow_of(database: Database, basin: str, of_version: str | None = None) -> np.ndarray:
    """Return the mean of a hindcast's members, in m3/s."""
    params = ForecastParams(basins=[basin], t0=day(T0), horizon=10, version=of_version)
    (issued,) = forecast(work_of(database, CLOCK), RunRequest(params))
    with database.reading() as session:
        result = runs.series_of(session, issued.id, basin)
        version = versions.get(session, issued.version_id)
        area = area_by(basins.get(session, basin).areas, version.area_products)
    assert area is not None
    return mm_per_day_to_m3s(run_arrays.mean_of_members(result), area=area)


def test_a_run_without_a_state_gives_the_flow_of_a_forecast_in_the_documented_form(
    trained_store: Database, tmp_path: Path
) -> None:
    file = placed(tmp_path, run_xml(**WHOLE), in_forcing=pi_xml(forcing_of(trained_store, RECORD), RECORD.first))
    done = ran(trained_store, file)
    assert (done.failures, done.locations, str(done.days.t0)) == ({}, BASINS, T0)

    out = tmp_path / "out" / "flow.xml"
    shown = read_back(out)
    assert shown.times[0].isoformat() == "2000-10-02T00:00:00"
    assert shown.times[-1].isoformat() == "2005-05-12T00:00:00"
    assert (shown.forecast_datetime.isoformat(), shown.timezone) == ("2005-05-02T00:00:00", 0.0)
    for basin in BASINS:
        discharge = shown.get(f"{basin}.discharge")
        assert len(discharge) == len(Period.parse(f"2000-10-01..{END}"))
        assert np.array_equal(discharge[-10:], flow_of(trained_store, basin))
        storage, loss = (shown.get(f"{basin}.{name}") for name in ("storage", "loss"))
        area = _area(trained_store, basin)
        rain = weather(trained_store, basin, Period.parse(f"2000-10-01..{END}"))["precipitation"].sum(dtype=np.float64)
        balance = rain - discharge.sum() * 86.4e6 / area - loss.sum() - storage[-1]
        assert abs(balance) < 1e-5 * rain

    root = ElementTree.parse(out).getroot()
    assert root[0].tag.endswith("timeZone")
    for header in root.findall("pi:series/pi:header", NAMESPACE):
        tags = [element.tag.partition("}")[2] for element in header]
        assert tags == [name for name in HEADER if name in tags]
        assert {"type", "locationId", "parameterId", "timeStep", "startDate", "endDate", "missVal", "units"} <= set(
            tags
        )
    kinds = {
        header.findtext("pi:parameterId", None, NAMESPACE): header.findtext("pi:type", None, NAMESPACE)
        for header in root.findall("pi:series/pi:header", NAMESPACE)
    }
    assert kinds == {"discharge": "mean", "loss": "accumulative", "storage": "instantaneous"}
    assert [level for level, _ in lines(file)] == [3]


def test_each_part_of_a_combined_version_runs_on_its_own_product(trained_store: Database, tmp_path: Path) -> None:
    both, one = combined(trained_store, CLOCK), BASINS[0]
    with trained_store.transaction() as session:
        promotions.promote(session, both.id, BASINS, reason="both", by="someone", at=CLOCK.now())
    whole = {
        **weather(trained_store, one, RECORD),
        f"precipitation.{SECOND}": weather(trained_store, one, RECORD, SECOND)["precipitation"],
    }
    from_empty = run_xml(**WHOLE, state=STATE)
    forcing = pi_xml({None: {one: whole}}, RECORD.first)
    done = ran(
        trained_store, placed(tmp_path, from_empty, in_forcing=forcing, state_state=state_xml(day("2000-10-01")))
    )
    assert (done.version, done.failures, done.locations) == (both.id, {}, (one,))
    expected = flow_of(trained_store, one)
    flow = read_back(tmp_path / "out" / "flow.xml", locations=(one,)).get(f"{one}.discharge")[-10:]
    np.testing.assert_allclose(flow, expected, rtol=1e-9)

    (tmp_path / "state" / "out.safetensors").rename(tmp_path / "state" / "in.safetensors")
    days = Period.parse(f"2005-05-02..{END}")
    at = {"start": stamped("2005-05-02"), "time0": stamped("2005-05-05"), "end": WHOLE["end"]}
    later = {name: values[-len(Period.parse("2005-05-02..2005-09-30")) :] for name, values in whole.items()}
    forcing = pi_xml({None: {one: {name: of[: len(days)] for name, of in later.items()}}}, days.first)
    description = state_xml(day("2005-05-02"))
    ran(trained_store, placed(tmp_path, run_xml(**at, state=STATE), in_forcing=forcing, state_state=description))
    shown = read_back(tmp_path / "out" / "flow.xml", locations=(one,)).get(f"{one}.discharge")
    np.testing.assert_allclose(shown, flow, rtol=1e-12)

    state = tmp_path / "state" / "in.safetensors"
    of_parts, _ = checkpoint.parse(state.read_bytes())
    state.write_bytes(next(iter(of_parts.values())).numpy().tobytes())
    file = placed(tmp_path, run_xml(**at, state=STATE), in_forcing=forcing, state_state=description)
    with pytest.raises(UnusableState, match="belongs to another model"):
        ran(trained_store, file)

    alone = {name: of for name, of in whole.items() if not name.startswith("precipitation")}
    alone[f"precipitation.{FIRST}"] = whole["precipitation"]
    file = placed(tmp_path, run_xml(**WHOLE), in_forcing=pi_xml({None: {one: alone}}, RECORD.first))
    assert ran(trained_store, file).failures == {}
    shown = read_back(tmp_path / "out" / "flow.xml", locations=(one,)).get(f"{one}.discharge")[-10:]
    assert np.array_equal(shown, flow_of(trained_store, one, both.parts[0].version))
    (warning,) = [sentence for level, sentence in lines(file) if level == 2]
    assert warning.startswith(f"{one}: without {SECOND}: precipitation is missing on 2000-10-01")


def test_water_that_a_location_lacks_is_in_no_output() -> None:
    """Where one location was computed by all parts, and one by those alone that state all of their water."""
    days = np.ones((1, 3))
    known = SimulatedFlow({"discharge": days, "loss": days, "storage": days}, (), None)
    less = replace(known, means={"discharge": days})
    for computed in ([known, less], [less, known]):
        assert [one.parameter for one in _quantities(computed, [Area("basin", 1e6)] * len(computed))] == ["discharge"]


def _area(database: Database, basin: str) -> float:
    with database.reading() as session:
        return next(iter(basins.get(session, basin).areas.values()))


def test_a_state_of_time0_goes_on_in_the_next_run(trained_store: Database, tmp_path: Path) -> None:
    first = placed(
        tmp_path,
        run_xml(**WHOLE, state=STATE),
        in_forcing=pi_xml(forcing_of(trained_store, RECORD), RECORD.first),
        state_state=state_xml(day("2000-10-01")),
    )
    ran(trained_store, first)
    assert any("There is no initial state" in sentence for level, sentence in lines(first) if level == 2)
    whole = read_back(tmp_path / "out" / "flow.xml")
    expected = {basin: whole.get(f"{basin}.discharge")[-10:] for basin in BASINS}
    description = ElementTree.parse(tmp_path / "state" / "out.safetensors.xml").getroot()
    at = description.find("pi:dateTime", NAMESPACE)
    assert at is not None
    assert at.attrib == {"date": "2005-05-02", "time": "00:00:00"}
    assert description.findtext("pi:stateLoc/pi:readLocation", None, NAMESPACE) == str(
        tmp_path / "state" / "out.safetensors"
    )

    days = Period.parse(f"2005-05-02..{END}")
    (tmp_path / "state" / "out.safetensors").rename(tmp_path / "state" / "in.safetensors")
    following = {"start": stamped("2005-05-02"), "time0": stamped("2005-05-05"), "end": WHOLE["end"]}
    second = placed(
        tmp_path,
        run_xml(**following, state=STATE),
        in_forcing=pi_xml(forcing_of(trained_store, days), days.first),
        state_state=state_xml(day("2005-05-02")),
    )
    ran(trained_store, second)
    shown = read_back(tmp_path / "out" / "flow.xml")
    for basin in BASINS:
        assert np.array_equal(shown.get(f"{basin}.discharge"), expected[basin])

    at_t0 = {**following, "time0": stamped("2005-05-02")}  # from the state on, nothing was observed
    ran(trained_store, placed(tmp_path, run_xml(**at_t0, state=STATE)))
    assert (tmp_path / "state" / "in.safetensors").read_bytes() == (tmp_path / "state" / "out.safetensors").read_bytes()
    shown = read_back(tmp_path / "out" / "flow.xml")
    assert np.array_equal(shown.get(f"{BASINS[1]}.discharge"), expected[BASINS[1]])


def test_a_state_of_another_version_day_or_basin_is_refused(trained_store: Database, tmp_path: Path) -> None:
    one = BASINS[0]
    update = {**WHOLE, "end": WHOLE["time0"]}
    forcing = pi_xml(forcing_of(trained_store, RECORD, one), RECORD.first)
    arguments = {"in_forcing": forcing, "state_state": state_xml(day("2000-10-01"))}
    ran(trained_store, placed(tmp_path, run_xml(**update, state=STATE), **arguments))
    state = tmp_path / "state" / "in.safetensors"
    (tmp_path / "state" / "out.safetensors").rename(state)

    days = {"start": stamped("2005-05-02"), "time0": stamped("2005-05-05"), "end": WHOLE["end"]}
    late = placed(tmp_path, run_xml(**{**days, "start": stamped("2005-05-03")}, state=STATE))
    with pytest.raises(InvalidInput, match="end of 2005-05-01, and the run begins with 2005-05-03"):
        ran(trained_store, late)

    both = pi_xml(forcing_of(trained_store, RECORD, *BASINS[:2]), RECORD.first)
    done = ran(trained_store, placed(tmp_path, run_xml(**days, state=STATE), in_forcing=both))
    assert done.locations == (one,)
    assert f"does not contain {BASINS[1]}" in done.failures[BASINS[1]]
    assert [sentence for level, sentence in lines(late) if level == 1] == [f"{BASINS[1]}: {done.failures[BASINS[1]]}"]

    state.write_bytes(state.read_bytes()[:-3])
    with pytest.raises(UnusableState, match="cannot be read"):
        ran(trained_store, placed(tmp_path, run_xml(**days, state=STATE)))
    assert lines(late)[-1][0] == 0


def test_a_location_whose_ledger_does_not_close_is_withheld(trained_store: Database, tmp_path: Path) -> None:
    update = {**WHOLE, "end": WHOLE["time0"]}
    forcing = pi_xml(forcing_of(trained_store, RECORD), RECORD.first)
    arguments = {"in_forcing": forcing, "state_state": state_xml(day("2000-10-01"))}
    done = ran(trained_store, placed(tmp_path, run_xml(**update, state=STATE), **arguments))
    with trained_store.reading() as session:
        loaded = load_version(session, done.version)
    owner = Owner(loaded.version.weights_hash, loaded.version.product)
    state = saved_state.parse((tmp_path / "state" / "out.safetensors").read_bytes(), owner, loaded.ensemble)
    state.members[1]["c"][0] = np.finfo(np.float32).max  # more water than its sum can be
    (tmp_path / "state" / "in.safetensors").write_bytes(saved_state.dump(state))

    days = {"start": stamped("2005-05-02"), "time0": stamped("2005-05-05"), "end": WHOLE["end"]}
    file = placed(tmp_path, run_xml(**days, state=STATE))
    done = ran(trained_store, file)
    assert done.locations == BASINS[1:]
    assert done.failures[BASINS[0]].startswith("Withheld: the ledger of member 1 ")
    assert any(level == 1 and "Withheld" in sentence for level, sentence in lines(file))


def ensemble(database: Database, basin: str, period: Period, t0: str) -> dict[str | None, dict[str, Any]]:
    """Return three members, which have more rain, one than the other, after T0."""
    trained_store = weather(database, basin, period)
    after = period.days > day(t0)
    return {
        str(number): {
            basin: {
                **trained_store,
                "precipitation": np.where(
                    after, trained_store["precipitation"] + 5 * number, trained_store["precipitation"]
                ),
            }
        }
        for number in range(3)
    }


def test_members_of_the_weather_are_members_of_the_flow(trained_store: Database, tmp_path: Path) -> None:
    one = BASINS[0]
    members = ensemble(trained_store, one, RECORD, T0)
    history: Members = {
        None: {one: {name: values for name, values in members["0"][one].items() if name != "precipitation"}},
        **{label: {one: {"precipitation": by[one]["precipitation"]}} for label, by in members.items()},
    }
    ran(trained_store, placed(tmp_path, run_xml(**WHOLE), in_forcing=pi_xml(history, RECORD.first)))
    shown = read_back(tmp_path / "out" / "flow.xml", locations=(one,))
    assert shown.ensemble_size == 3
    flow = [shown.get(f"{one}.discharge", member) for member in range(3)]
    assert np.array_equal(flow[0][:-10], flow[2][:-10])
    assert flow[2][-10:].sum() > flow[1][-10:].sum() > flow[0][-10:].sum()
    assert np.array_equal(flow[0][-10:], flow_of(trained_store, one))
    header = ElementTree.parse(tmp_path / "out" / "flow.xml").getroot().find("pi:series/pi:header", NAMESPACE)
    assert header is not None
    assert header.findtext("pi:ensembleId", None, NAMESPACE) == "GEFS"

    netcdf = "<inputNetcdfFile>in/forcing.nc</inputNetcdfFile>"
    output = "<outputNetcdfFile>out/flow.nc</outputNetcdfFile>"
    write_netcdf(tmp_path / "in" / "forcing.nc", members, RECORD.first)
    ran(trained_store, placed(tmp_path, run_xml(**WHOLE, forcing=(netcdf,), output=output)))
    dataset = rtctools.data.netcdf.ImportDataset(str(tmp_path / "out"), "flow")
    assert dataset.ensemble_size == 3
    assert list(dataset.read_station_data().station_ids) == [one]
    assert dataset.read_import_times()[-1].isoformat() == "2005-05-12T00:00:00"
    assert set(dataset.find_timeseries_variables()) == {"discharge", "loss", "storage"}
    for member in range(3):
        values = dataset.read_timeseries_values(0, "discharge", member)
        assert np.allclose(values, flow[member], rtol=1e-6)


@pytest.mark.parametrize(
    ("hours", "start", "time0", "end", "last"),
    [
        ("0.0", "07:00:00", "12:00:00", "10:00:00", "2005-05-12T07:00:00"),
        ("-7.0", "00:00:00", "05:00:00", "03:00:00", "2005-05-12T00:00:00"),
    ],
)
def test_days_end_where_the_events_do(
    trained_store: Database, tmp_path: Path, hours: str, start: str, time0: str, end: str, last: str
) -> None:
    """Local midnight of America/Denver is 07:00 in UTC, in which the forcing is; time0 is an hour of a day."""
    one = BASINS[0]
    at = {"start": moment(day("2000-10-01"), start), "time0": moment(day("2005-05-02"), time0)}
    file = run_xml(**at, end=moment(day("2005-05-12"), end), hours=hours)
    forcing = pi_xml(forcing_of(trained_store, RECORD, one), RECORD.first, "07:00:00")
    done = ran(trained_store, placed(tmp_path, file, in_forcing=forcing))
    assert (str(done.days.period), str(done.days.t0)) == (f"2000-10-01..{END}", T0)
    shown = read_back(tmp_path / "out" / "flow.xml", locations=(one,))
    assert (shown.times[-1].isoformat(), shown.timezone) == (last, float(hours))
    assert np.array_equal(shown.get(f"{one}.discharge")[-10:], flow_of(trained_store, one))


def test_gaps_and_flags(trained_store: Database, tmp_path: Path) -> None:
    one, two, three = BASINS
    forcing = {name: dict(by) for name, by in forcing_of(trained_store, RECORD)[None].items()}
    vapour = forcing[one]["vp"].copy()
    vapour[100:103] = np.nan
    forcing[one]["vp"] = vapour
    rain = forcing[two]["precipitation"].copy()
    rain[200] = np.nan
    forcing[two]["precipitation"] = rain
    flags = {("tmax", day("2003-02-01")): 6, ("tmin", day("2003-02-02")): 3}
    file = placed(tmp_path, run_xml(**WHOLE), in_forcing=pi_xml({None: forcing}, RECORD.first, flags=flags))
    done = ran(trained_store, file)
    assert done.locations == (one, three)
    assert done.failures == {two: "precipitation is missing on 2001-04-19: correct the forcing."}
    warned = [sentence for level, sentence in lines(file) if level == 2]
    assert f"{one}: 3 days of vp were interpolated." in warned
    assert f"{three}: 1 values are flagged unreliable, and were not used." in warned
    assert f"{three}: 1 values are flagged doubtful, and were used." in warned


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"units": "K"}, "tmax of SYNTH-01 is in K, not in degC: let Delft-FEWS"),
        ({"kind": "instantaneous"}, "is instantaneous: aggregate it"),
        (
            {"tmax": 290.0},
            "tmax is not possible in degC (290, outside -100 to 70) (the values look like kelvin) on 2000-10-01",
        ),
        ({"location": "Crow Creek"}, "'Crow Creek' is not a basin identifier"),
        ({"location": "USGS-99999999"}, "No basin 'USGS-99999999' is stored here"),
        ({"start": stamped("2004-09-01")}, "243 days from empty at time0"),
        ({"time0": stamped("2000-01-01")}, "time0 is not between startDateTime and endDateTime"),
        ({"properties": '<properties><string key="model_version" value="v9"/></properties>'}, "No model version 'v9'"),
        ({"output": ""}, "names no output"),
        ({"forcing": ()}, "names no forcing"),
    ],
)
def test_an_impossible_run_is_reported_in_the_diagnostics(
    trained_store: Database, tmp_path: Path, changed: Mapping[str, Any], sentence: str
) -> None:
    one = BASINS[0]
    values = dict(weather(trained_store, one, RECORD))
    if "tmax" in changed:
        values["tmax"] = values["tmax"] * 0 + changed["tmax"]
    forcing = pi_xml({None: {changed.get("location", one): values}}, RECORD.first)
    if "units" in changed:
        forcing = forcing.replace("°C", changed["units"])
    if "kind" in changed:
        forcing = forcing.replace("accumulative", changed["kind"])
    of_run = {name: changed[name] for name in ("start", "time0", "properties", "output", "forcing") if name in changed}
    file = placed(tmp_path, run_xml(**(WHOLE | of_run)), in_forcing=forcing)
    with pytest.raises(Problem, match=re.escape(sentence)):
        ran(trained_store, file)
    assert lines(file)[-1][0] == 0
    assert sentence in " ".join(result for _, result in lines(file))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("lie", ["hPa", "kPa", "swapped", "fahrenheit", "metres", "accumulated", "megajoules"])
def test_forcing_in_another_unit_than_declared_is_refused_for_its_location(
    trained_store: Database, tmp_path: Path, lie: str
) -> None:
    wrong, right = BASINS[1], BASINS[0]
    change, sentence = LIES[lie]
    values = {name: of_days.astype(np.float64) for name, of_days in weather(trained_store, wrong, RECORD).items()}
    light = daylength(RECORD.days, 45.0)[:, 0]
    result = {name: of_days for name, of_days in change(values | {"daylength": light}).items() if name in NAMES}
    if lie == "accumulated":  # it begins anew each year, so that it stays possible
        years = np.arange(len(RECORD)) // 365
        totals = [np.cumsum(values["precipitation"][years == year]) for year in np.unique(years)]
        result["precipitation"] = np.concatenate(totals)
    forcing = pi_xml({None: {wrong: result, right: weather(trained_store, right, RECORD)}}, RECORD.first)
    file = placed(tmp_path, run_xml(**WHOLE), in_forcing=forcing)
    done = ran(trained_store, file)
    assert done.locations == (right,)
    assert sentence in done.failures[wrong]
    assert any(level == 1 and sentence in line for level, line in lines(file))


def test_odd_forcing_is_used_and_reported_in_the_diagnostics(trained_store: Database, tmp_path: Path) -> None:
    values = dict(weather(trained_store, BASINS[0], RECORD))
    values["tmin"] = values["tmin"].copy()
    values["tmin"][40] = values["tmax"][40] + 1
    forcing = pi_xml({None: {BASINS[0]: values}}, RECORD.first)
    file = placed(tmp_path, run_xml(**WHOLE), in_forcing=forcing)
    assert ran(trained_store, file).locations == (BASINS[0],)
    sentence = f"tmin of the forcing is above tmax on 1 of {len(Period.parse(f'2000-10-01..{END}'))} days"
    assert any(level == 2 and sentence in line for level, line in lines(file))


def without_events(forcing: str) -> str:
    return re.sub("<event [^>]*/>", "", forcing)


@pytest.mark.parametrize(
    ("edited", "sentence"),
    [
        (
            lambda text: text.replace("<units>mm<", "<units>mm/h<"),
            "precipitation of SYNTH-01 is in mm/h, not in mm/day",
        ),
        (lambda text: text.replace("<units>mm</units>", ""), "precipitation of SYNTH-01 is without a unit, not in mm"),
        (lambda text: re.sub('value="[^"]*"', 'value="INF"', text, count=1), "is not possible in"),
        (lambda text: text.replace("<timeZone>0.0<", "<timeZone>GMT<"), "a timeZone that is not a number of hours"),
        (without_events, "The forcing has no events of precipitation, .* export the events as text"),
    ],
    ids=["mm/h", "no unit", "INF", "time zone by name", "no events"],
)
def test_forcing_as_others_have_exported_it_is_refused_with_the_cause(
    trained_store: Database, tmp_path: Path, edited: Callable[[str], str], sentence: str
) -> None:
    forcing = edited(pi_xml(forcing_of(trained_store, RECORD, BASINS[0]), RECORD.first))
    with pytest.raises(Problem, match=sentence):
        ran(trained_store, placed(tmp_path, run_xml(**WHOLE), in_forcing=forcing))


def test_binary_events_are_refused_with_what_to_export(trained_store: Database, tmp_path: Path) -> None:
    forcing = pi_xml(forcing_of(trained_store, RECORD, BASINS[0]), RECORD.first)
    values = np.array(re.findall('value="([^"]*)"', forcing), np.float32)
    file = placed(tmp_path, run_xml(**WHOLE), in_forcing=without_events(forcing))
    (tmp_path / "in" / "forcing.bin").write_bytes(values.tobytes())
    with pytest.raises(SourceError, match=r"forcing\.xml: holds binary events \(in forcing\.bin\); export the events"):
        ran(trained_store, file)
    assert "holds binary events" in lines(file)[-1][1]


def test_missing_values_as_nan_and_a_time_zone_with_a_sign_change_nothing(
    trained_store: Database, tmp_path: Path
) -> None:
    (basin, *_) = BASINS
    plain = pi_xml(forcing_of(trained_store, RECORD, basin), RECORD.first)
    ran(trained_store, placed(tmp_path, run_xml(**WHOLE), in_forcing=plain))
    expected = read_back(tmp_path / "out" / "flow.xml", locations=(basin,)).get(f"{basin}.discharge")
    edited = plain.replace("<missVal>-999.0<", "<missVal>NaN<").replace("<timeZone>0.0<", "<timeZone>+0.0<")
    ran(trained_store, placed(tmp_path, run_xml(**WHOLE), in_forcing=edited))
    shown = read_back(tmp_path / "out" / "flow.xml", locations=(basin,)).get(f"{basin}.discharge")
    np.testing.assert_array_equal(shown, expected)


def test_members_that_differ_before_time0_are_refused(trained_store: Database, tmp_path: Path) -> None:
    forcing = pi_xml(ensemble(trained_store, BASINS[0], RECORD, "2005-04-20"), RECORD.first)
    with pytest.raises(
        NothingComputed, match="SYNTH-01: precipitation differs between members before time0 on 2005-04-21"
    ):
        ran(trained_store, placed(tmp_path, run_xml(**WHOLE), in_forcing=forcing))


def test_every_variable_of_the_forcing_is_needed(trained_store: Database, tmp_path: Path) -> None:
    values = {name: series for name, series in weather(trained_store, BASINS[0], RECORD).items() if name != NAMES[-1]}
    forcing = pi_xml({None: {BASINS[0]: values}}, RECORD.first)
    with pytest.raises(NothingComputed, match="vp is missing on 2000-10-01"):
        ran(trained_store, placed(tmp_path, run_xml(**WHOLE), in_forcing=forcing))
