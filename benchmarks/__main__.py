"""`python -m benchmarks NAME [--json]`: run one measurement and print it."""

import argparse
import importlib
import json
import platform
from importlib import metadata
from typing import Any

from operations.versions.processes import machine
from runtime.process import log_to_stderr
from runtime.release import DISTRIBUTION

MEASUREMENTS = {
    "alerts-replay": "benchmarks.replays.alerts",
    "api": "benchmarks.speed.api",
    "api-processes": "benchmarks.speed.api_processes",
    "archive": "benchmarks.speed.archive",
    "assimilation": "benchmarks.forecasts.assimilation",
    "backup": "benchmarks.faults.backup",
    "beside-replay": "benchmarks.replays.beside",
    "bridge": "benchmarks.weather.bridge",
    "busy": "benchmarks.speed.busy",
    "camels-means": "benchmarks.camels_means",
    "change-ledger": "benchmarks.replays.change_ledger",
    "closure": "benchmarks.water.closure",
    "code-size": "benchmarks.code_size",
    "command-line": "benchmarks.speed.command_line",
    "daily-cycle": "benchmarks.speed.daily_cycle",
    "exactness": "benchmarks.water.exactness",
    "fleet": "benchmarks.service.fleet",
    "division": "benchmarks.cycles.division",
    "flood-frequency": "benchmarks.flood_frequency",
    "forecast-weather": "benchmarks.forecasts.forecast_weather",
    "gpu": "benchmarks.gpu.measured",
    "grid": "benchmarks.weather.grid",
    "growth": "benchmarks.years.growth",
    "faults": "benchmarks.faults.drill",
    "ingest": "benchmarks.speed.ingest",
    "kills": "benchmarks.cycles.kills",
    "load": "benchmarks.service.simultaneous",
    "live-replay": "benchmarks.replays.live",
    "missing-inputs": "benchmarks.forecasts.missing_inputs",
    "missing-product": "benchmarks.forecasts.missing_product",
    "messages-replay": "benchmarks.replays.messages",
    "mutation": "benchmarks.mutation.measured",
    "mclstm-step": "benchmarks.speed.mclstm_step",
    "outages-replay": "benchmarks.replays.outages",
    "outlook-replay": "benchmarks.replays.outlook",
    "origin": "benchmarks.water.origin",
    "own-gauges": "benchmarks.regional.own_gauges.measured",
    "pages": "benchmarks.pages.opened",
    "pages-large": "benchmarks.pages.large",
    "network-step": "benchmarks.speed.network_step",
    "train-to-skill": "benchmarks.speed.train_to_skill",
    "receipts": "benchmarks.replays.receipts",
    "soak": "benchmarks.soak.measured",
    "spread": "benchmarks.forecasts.variance_sources",
    "rain-margin": "benchmarks.forecasts.rain_margin",
    "rain-products": "benchmarks.weather.rain_products",
    "story": "benchmarks.forecasts.one_year",
    "synthetic-truth": "benchmarks.water.synthetic_truth",
    "series-read": "benchmarks.speed.series_read",
    "whole-machine": "benchmarks.speed.whole_machine",
    "years": "benchmarks.years.measured",
    "warm-forecast": "benchmarks.speed.warm_forecast",
    "within-day": "benchmarks.forecasts.within_day",
    "weather-models": "benchmarks.forecasts.weather_models",
    "weather-traces": "benchmarks.speed.weather_traces",
    "calibrated-forecast": "benchmarks.speed.calibrated_forecast",
}


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted(MEASUREMENTS))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--basins", type=int, help="number of basins, where the measurement offers a choice")
    parser.add_argument("--days", type=int, help="number of days, where the measurement offers a choice")
    parser.add_argument("--minutes", type=float, help="duration, where the measurement offers a choice")
    parser.add_argument("--years", help="the years to judge: validation or test, where the measurement offers a choice")
    parser.add_argument("--only", help="parts of the measurement, with commas between them, where it offers a choice")
    parser.add_argument("--spare", help="the part of a service to leave alone, where the measurement harms it")
    parser.add_argument(
        "--short", action="store_const", const=True, help="a few seconds, where the measurement offers a choice"
    )
    arguments = parser.parse_args()
    log_to_stderr("warning")
    options = vars(arguments).items()
    chosen = {name: value for name, value in options if name not in ("name", "json") and value is not None}
    result: dict[str, Any] = importlib.import_module(MEASUREMENTS[arguments.name]).measure(**chosen)
    report = {"benchmark": arguments.name, **result, "machine": _machine(), "versions": _versions()}
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    for name, value in report.items():
        print(f"{name}: {value}")


def _machine() -> dict[str, Any]:
    return {"cpu": machine(), "system": platform.platform(), "python": platform.python_version()}


def _versions() -> dict[str, str]:
    """Return the versions of what is installed: a machine with a card may have the sources alone."""
    there = {distribution.name: distribution.version for distribution in metadata.distributions()}
    names = (DISTRIBUTION, "torch", "triton", "numpy", "neuralhydrology")
    return {name: there[name] for name in names if name in there}


if __name__ == "__main__":
    main()
