"""The four networks on 40 real basins, one member each, as many seconds of training each on one thread.

`python -m benchmarks.four_networks ingest`; `... train NAME [--seconds N]` for each of mclstm, lstm, eins and mmrnn,
two at a time if the machine has two cores; then `... compare [--json]`, which is `freshet compare` on the test period.
FRESHET_CAMELS names the data, FRESHET_DATA the folder of the database. A training that was stopped goes on.
"""

import argparse
import itertools
import json
import os
from pathlib import Path
from typing import Any

from benchmarks.regional.data import PRODUCT, TEST, TRAINING, VALIDATION, basins, source
from hydrology.base.calendar import Period
from jobspec.training import TrainingConfig
from models.forcing import Scaler
from models.networks import ARCHITECTURES
from models.training import MemberTraining, Progress
from operations.basin_data.ingest import ingest
from operations.training.train import begin
from operations.training.training_data import Prepared, StartedTraining
from records.database.engine import Database
from records.versions import versions
from runtime.clock import Clock
from runtime.process import log_to_stderr
from runtime.settings import Settings
from testing.training import train
from testing.work import work_of

EVERY = 11  # of the list of 447, from the 11th: 40 basins
TRIAL = (3, 10)  # steps that warm up, steps that are timed


class _TimedEnoughError(Exception):
    """Ends the trial."""


def main() -> None:
    """Parse the command line, and train or compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.four_networks", description=__doc__)
    parser.add_argument("what", choices=["ingest", "train", "compare"])
    parser.add_argument("name", nargs="?", choices=sorted(ARCHITECTURES))
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    log_to_stderr("info")
    settings, clock = Settings.load(), Clock()
    chosen = basins()[EVERY - 1 :: EVERY]
    database = Database(settings.database_url)
    database.migrate()
    if arguments.what == "ingest":
        for outcome in ingest(work_of(database, clock), source(), chosen):
            print(outcome)
    elif arguments.what == "train":
        config = _within(arguments.seconds, arguments.name, database, clock, chosen, settings.data)
        print(train(work_of(database, clock), config, chosen, label=arguments.name))
    else:
        _compare(database, chosen, arguments.json)
    database.close()


def _configuration(architecture: str, steps: int) -> TrainingConfig:
    return TrainingConfig.model_validate(
        {
            "network": {"architecture": architecture},
            "inputs": {"product": PRODUCT},
            "train_period": TRAINING,
            "validation_period": VALIDATION,
            "schedule": {"kind": "cosine", "steps": steps},
            "validate_every": max(sum(TRIAL) + 1, steps // 10),
            "checkpoint_every": 20,
        }
    )


def _within(
    seconds: float, architecture: str, database: Database, clock: Clock, names: list[str], folder: Path
) -> TrainingConfig:
    """Return a training whose steps take about this many seconds here; their number is stored for a restart."""
    stored = folder / f"steps-{architecture}.json"
    if not stored.exists():
        started = begin(work_of(database, clock), _configuration(architecture, sum(TRIAL)), names)
        stored.write_text(json.dumps(int(seconds / _seconds_a_step(started))))
    return _configuration(architecture, json.loads(stored.read_text()))


def _seconds_a_step(started: StartedTraining) -> float:
    prepared: Prepared = started.prepared
    scaler = Scaler.fit(prepared.data.forcing.over(Period.parse(TRAINING)))
    trial = MemberTraining(started.config, prepared.data, scaler, seed=0)
    marks: list[float] = []

    def mark(progress: Progress) -> None:
        if progress.step in (TRIAL[0], sum(TRIAL)):
            marks.append(trial.seconds)
        if len(marks) == len(TRIAL):
            raise _TimedEnoughError

    try:
        trial.run(on_progress=mark)
    except _TimedEnoughError:
        return (marks[1] - marks[0]) / TRIAL[1]
    raise AssertionError("the trial is longer than its steps")


def _compare(database: Database, names: list[str], as_json: bool) -> None:
    """Report what `freshet compare` shows of the four versions."""
    with database.reading() as session:
        newest: dict[str, Any] = {one.architecture: one.id for one in reversed(versions.list_versions(session))}
    named = [["--version", newest[name]] for name in ("mclstm", "lstm", "eins", "mmrnn")]
    only = [["--basin", basin] for basin in names]
    command = ["freshet", "compare", "--period", TEST, *itertools.chain(*named, *only)]
    os.execvp(command[0], [*command, "--json"] if as_json else command)


if __name__ == "__main__":
    main()
