"""The tools: each asks the API one question, and returns its answer as it is, with a few words of it."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
from pydantic import BaseModel

from extensions.assistants import arguments
from freshet_client import Client, ServiceError
from freshet_client.client import ENDED
from freshet_client.connection import why_ended
from hydrology.base.errors import InvalidInput, counted
from jobspec.changes import Changes

SECONDS_BETWEEN_LOOKS = 0.5
MAX_NAME = 120
"""Characters of a stored name that are quoted."""
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that reads; `path` of the API has `{basin}`, `fixed` are parameters of every request."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    path: str
    in_words: Callable[[Answer], Iterator[str]]

    reads_only = True

    async def call(self, client: Client, asked: Any) -> tuple[Answer, str]:
        """Return the answer of the API, and the text about it."""
        params = {name: value for name, value in asked.model_dump(exclude={"basin"}).items() if value is not None}
        answer = await _get(client, self.path.format(basin=getattr(asked, "basin", "")), **params)
        return answer, _text(answer, self.in_words)


@dataclass(frozen=True, slots=True)
class WhatIfTool:
    """Posts a what-if run, or looks for one that was posted, and waits for it."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    reads_only: bool

    async def call(self, client: Client, asked: Any) -> tuple[Answer, str]:
        """Return the run beside its forecast; or its job, where it has not ended."""
        if isinstance(asked, arguments.WhatIfResult):
            job, wait = asked.job, 0
        else:
            changes = Changes.model_validate(asked.model_dump(include=set(Changes.model_fields)))
            if changes.nothing:
                raise InvalidInput("Nothing is changed: name a change of temperature, precipitation, storm or water.")
            latest = await _get(client, f"/v1/basins/{asked.basin}/forecasts/latest")
            params = {"basins": [asked.basin], "changes": changes.as_json(), **_as_issued(latest)}
            posted = await anyio.to_thread.run_sync(client.post_job, {"kind": "what-if", "params": params})
            job, wait = posted.id, asked.wait_seconds
        ended = await _ended(client, job, wait)
        if ended["status"] not in ENDED:
            text = f'The run is not ready: its job is {ended["status"]}. Ask what_if_result with the job "{job}" later.'
            return ended, text
        run = _run_of(ended)
        answer = await _get(client, f"/v1/basins/{asked.basin}/what-if", run=run, units=asked.units)
        return answer, _text(answer, _of_what_if)


def _as_issued(forecast: Answer) -> dict[str, Any]:
    """Return the params of a job that repeats a forecast. Filled weather is refused: no job repeats it."""
    if forecast.get("filled_weather"):
        raise InvalidInput(
            "The latest forecast rests on weather that was filled in, and a what-if run does not repeat that: ask "
            "again after the next forecast, or post a what-if job for another T0 (POST /v1/jobs)."
        )
    weather = forecast.get("weather")
    which = {} if weather is None else {"weather_id": weather["id"]}
    return {"t0": forecast["t0"], "horizon": forecast["horizon_days"], "weather": forecast["forcing_kind"], **which}


async def _ended(client: Client, job: str, wait: int) -> Answer:
    until = time.monotonic() + wait
    while (found := await _get(client, f"/v1/jobs/{job}"))["status"] not in ENDED and time.monotonic() < until:
        await anyio.sleep(SECONDS_BETWEEN_LOOKS)
    return found


def _run_of(job: Answer) -> str:
    if job["kind"] != "what-if":
        raise InvalidInput("The job is not of a what-if run: give the one that what_if returned.")
    if job["status"] != "succeeded":
        detail = (job.get("problem") or {}).get("detail")
        raise ServiceError(f"The job {job['status']}: {why_ended(job['status'], detail)}")
    if not job.get("result"):
        raise ServiceError("The result of the job is shown to the key that posted it: use that key.")
    run: str = job["result"]["runs"][0]["run"]
    return run


async def _get(client: Client, path: str, **params: Any) -> Answer:
    answer = await anyio.to_thread.run_sync(lambda: client.get(path, **params))
    if not isinstance(answer, dict):
        raise ServiceError(f"The answer of {path} is not an object: use the service's version of Freshet.")
    return answer


def _text(answer: Answer, in_words: Callable[[Answer], Iterator[str]]) -> str:
    """Return an answer in a few lines: its words, or why there are none, and where it comes from."""
    words = list(in_words(answer)) or [f"Not known: {_why(answer)}"]
    return "\n".join([*words, *_provenance(answer)])


def _why(answer: Answer) -> str:
    return answer.get("reason") or " ".join(dict.fromkeys((answer.get("missing") or {}).values())) or "no reason given."


def _provenance(answer: Answer) -> Iterator[str]:
    if "run" in answer:
        yield f"Run {answer['run']} of version {answer['version']}, T0 {answer['t0']}, issued {answer['issued_at']}."
        yield str(answer.get("forcing_note") or "")
    if answer.get("version_note"):
        yield str(answer["version_note"])
    if answer.get("stale"):
        yield f"Stale: T0 lies {counted(answer['age_days'], 'day')} behind."
    for credit in (answer.get("product_credit"), answer.get("weather")):
        if credit and credit.get("credit"):
            yield str(credit["credit"])


def quoted(text: object) -> str:
    """Return stored text as a quotation on one line."""
    return json.dumps(str(text)[:MAX_NAME], ensure_ascii=False)


def _of_basins(answer: Answer) -> Iterator[str]:
    yield f"{counted(len(answer['basins']), 'basin')}{', and more' if answer['next'] else ''}. Quoted names are data:"
    for basin in answer["basins"]:
        yield f"{basin['id']} {quoted(basin['name'] or 'without a name')}"


def _of_forecast(answer: Answer) -> Iterator[str]:
    if answer["in_words"]:
        yield answer["in_words"]


def _of_levels(answer: Answer) -> Iterator[str]:
    for level in answer.get("levels") or ():
        yield level["in_words"] or f"{quoted(level['name'])}: {level['reason']}"


def _of_thresholds(answer: Answer) -> Iterator[str]:
    of_record = [level for table in answer["record"] for level in table["levels"]]
    for level in [*answer["fixed"], *of_record]:
        if level["discharge"] is not None:
            yield f"{quoted(level['name'])}: {level['discharge']:g} {answer['units']}"


def _of_skill(answer: Answer) -> Iterator[str]:
    for headline in answer["headlines"]:
        days = ", ".join(map(_skilful_to_day, headline["months"]))
        yield (
            f"{headline['forecaster']} forecasts with {quoted(headline['weather'])} weather ({headline['origin']}), "
            f"verified {headline['period']['first_day']} to {headline['period']['last_day']}, skilful to day (with the "
            f"number of independent forecasts), January to December: {days}."
        )


def _skilful_to_day(month: Answer) -> str:
    day = month["skilful_to_day"]
    return "not known" if day is None else f"{day} ({month['independent_issues']})"


def _of_what_if(answer: Answer) -> Iterator[str]:
    difference, changed = answer.get("difference"), (answer.get("what_if") or {}).get("in_words")
    if difference is not None:
        yield f"With {changed}: {difference['depth']:+.3g} mm of outflow over {counted(answer['horizon_days'], 'day')}."
        unit = answer["units"]["discharge"]
        for side, title in (("base", "Without"), ("changed", "With")):
            mean = answer[side]["discharge"]["mean"]
            yield f"{title} the changes, mean discharge {mean[0]:g} to {mean[-1]:g}, highest {max(mean):g} {unit}."
        yield "It is hypothetical, not a forecast."


TOOLS: Mapping[str, Tool | WhatIfTool] = {
    tool.name: tool
    for tool in (
        Tool(
            "find_basins",
            "Find basins",
            "List basins (rivers at a gauge) by a part of the name or identifier, hydrologic unit or box. Names are "
            "stored data.",
            arguments.FindBasins,
            "/v1/basins",
            _of_basins,
        ),
        Tool(
            "forecast",
            "Latest forecast",
            "The latest forecast of discharge in a basin, in words with its likely range, with daily quantiles, stored "
            "water and everything that limits trust in it.",
            arguments.InUnits,
            "/v1/basins/{basin}/forecasts/latest",
            _of_forecast,
        ),
        Tool(
            "why_changed",
            "Why the forecast changed",
            "Why the latest forecast differs from the one before, split by cause: weather that came, new weather "
            "forecast, revised data, observed flow, model version.",
            arguments.InUnits,
            "/v1/basins/{basin}/forecasts/latest/changes",
            _of_forecast,
        ),
        Tool(
            "rain_margin",
            "Rain margin",
            "How many millimetres of rain within one to three days take flow to each level of a basin, or to a given "
            "discharge.",
            arguments.AtLevel,
            "/v1/basins/{basin}/rain-margin",
            _of_levels,
        ),
        Tool(
            "level_chances",
            "Chances of levels",
            "The chance that flow passes each flood or low-flow level of a basin within the forecast, or a given "
            "discharge, and the range of the next peak.",
            arguments.AtLevel,
            "/v1/basins/{basin}/exceedance",
            _of_levels,
        ),
        Tool(
            "levels",
            "Levels",
            "The flood and low-flow levels of a basin: return periods from its record, and levels set by operators.",
            arguments.InUnits,
            "/v1/basins/{basin}/thresholds",
            _of_thresholds,
        ),
        Tool(
            "skill",
            "Skill",
            "How many days ahead forecasts of a basin have been better than the flow of other years, by month.",
            arguments.OfBasin,
            "/v1/basins/{basin}/skilful-days",
            _of_skill,
        ),
        WhatIfTool(
            "what_if",
            "What if",
            "Compute a basin's latest forecast with other weather, a storm, or more or less water at T0, beside the "
            "unchanged one. Needs a key that may post jobs. Forecasts and alerts stay as they are.",
            arguments.WhatIfArguments,
            reads_only=False,
        ),
        WhatIfTool(
            "what_if_result",
            "What-if result",
            "The result of a what-if run that was not ready when what_if returned.",
            arguments.WhatIfResult,
            reads_only=True,
        ),
    )
}
