"""NaN where a number should stand costs the place or the gauge that it is of, and is never a value."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

from extensions.openmeteo.archive import OpenMeteoArchive
from extensions.openmeteo.forecast import OpenMeteoForecast
from extensions.usgs.feed import UsgsFeed
from hydrology.base.calendar import day
from ingestion.feeds.http import Broken, NotANumber, parsed
from jobspec.levels import InvalidCategories, read_categories
from testing.feed_services import meteo, usgs
from testing.feed_services.reply import Reply
from tests.ingestion.feeds.conftest import COAST, DAKOTA, MAINE, Live, forecast, observed, why

SPELLINGS = ("-nan", "nan", "NaN", "inf", "-inf", "Infinity", "+Infinity", "-nan(ind)", "1.#QNAN", "-1.#IND")


def test_every_spelling_is_no_number_and_texts_stay() -> None:
    for spelling in SPELLINGS:
        result = parsed(f'{{"nan": [{spelling}, 1], "-inf": "is \\" nan, not {spelling}"}}'.encode())
        assert result["nan"][1] == 1
        assert isinstance(result["nan"][0], NotANumber)
        assert result["-inf"] == f'is " nan, not {spelling}'
    for broken in (b'{"a": banana}', b'["nan', b'"' + b'\\"' * 500_000, b"nan " * 500_000, b"[" * 99_999 + b"nan"):
        with pytest.raises(Broken, match="not whole JSON"):
            parsed(broken)


def spoilt(
    live: Live, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, spoil: Callable[[bytes], bytes]
) -> Live:
    """Let a simulated service answer other bytes."""
    right = getattr(module, name)

    def answer(*asked: Any) -> Reply:
        reply = right(*asked)
        return Reply(reply.status, spoil(reply.body), reply.headers)

    monkeypatch.setattr(module, name, answer)
    return live


def in_second(field: bytes, spelling: str) -> Callable[[bytes], bytes]:
    """Replace the first value of a field of the second place of Open-Meteo's answer."""

    def spoil(body: bytes) -> bytes:
        first, second, *others = body.split(b'{"latitude"')[1:]
        start = second.index(field) + len(field)
        end = min(at for mark in b",]}" if (at := second.find(bytes([mark]), start)) >= 0)
        second = second[:start] + spelling.encode() + second[end:]
        return b'[{"latitude"' + b'{"latitude"'.join([first, second, *others])

    return spoil


def test_one_bare_nan_costs_one_place_of_open_meteo(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    for spelling in SPELLINGS:
        with monkeypatch.context() as patch:
            spoilt(live, patch, meteo, "answer", in_second(b'"precipitation_sum": [', spelling))
            given = live.fetch(OpenMeteoArchive(live.service(), "era5"))
        assert why(given[DAKOTA]).startswith(f"precipitation_sum of {DAKOTA} on 2026-11-01 is not a number (")
        assert observed(given[MAINE]).variables.keys() == observed(given[COAST]).variables.keys() != set()
    with monkeypatch.context() as patch:  # valid JSON, and infinite where it is read
        spoilt(live, patch, meteo, "answer", in_second(b'"temperature_2m_max": [', "1e999"))
        given = live.fetch(OpenMeteoForecast(live.service(), "/v1/forecast", "ecmwf_ifs", 10))
    assert f"temperature_2m_max of {DAKOTA}" in why(given[DAKOTA])
    assert forecast(given[MAINE]).traces == forecast(given[COAST]).traces
    with monkeypatch.context() as patch:  # numpy would read the text as NaN: missing
        spoilt(live, patch, meteo, "answer", in_second(b'"temperature_2m_max": [', '"nan"'))
        assert "is not of Open-Meteo's shape" in why(live.fetch(OpenMeteoArchive(live.service(), "era5"))[DAKOTA])


def test_nan_in_a_field_that_nothing_reads_costs_nothing(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt(live, monkeypatch, meteo, "answer", in_second(b'"generationtime_ms": ', "-nan"))
    spoilt(live, monkeypatch, usgs, "collection", lambda body: body.replace(b'"geometry": null', b'"geometry": nan'))
    assert all(observed(one).variables for one in live.fetch(OpenMeteoArchive(live.service(), "era5")).values())
    assert all(observed(one).variables for one in live.fetch(UsgsFeed(live.service("/ogcapi/v0"))).values())


def test_nan_costs_one_gauge_of_usgs(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    right, one = usgs._feature, day("2026-11-20")
    for field, value in (("value", nan), ("qualifier", [-inf]), ("approval_status", nan), ("last_modified", inf)):

        def feature(*asked: Any, field: str = field, value: object = value) -> dict[str, Any]:
            result = right(*asked)
            if asked[0].basin == DAKOTA and asked[1] == one:
                result["properties"] |= {field: value}
            return result

        monkeypatch.setattr(usgs, "_feature", feature)
        given = live.fetch(UsgsFeed(live.service("/ogcapi/v0")))
        assert why(given[DAKOTA]).startswith(f"The discharge of {DAKOTA} on {one} has a field that is not JSON (NaN")
        assert observed(given[MAINE]).variables.keys() == observed(given[COAST]).variables.keys() == {"discharge"}


def test_nan_in_official_categories_is_refused_where_it_is_read() -> None:
    document = b'{"flood": {"stageUnits": "ft", "flowUnits": "cfs", "categories": {"action": {"stage": 9, "flow": 5}}}'
    assert read_categories(parsed(document + b', "status": -nan}'))[1][0].flow is not None
    with pytest.raises(InvalidCategories, match=r"flood\.categories\.action\.flow"):
        read_categories(parsed((document + b"}").replace(b"5", b"-nan")))
