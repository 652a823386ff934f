"""`freshet doctor`: can this machine and these settings do the work?"""

import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import typer

from freshet.cli.output import Json, answer, table
from hydrology.errors import Problem
from records.engine import Database
from records.settings import Settings

NOT_WELL = 5

Check = tuple[str, bool, str]


def doctor(as_json: Json = False) -> None:
    """Check settings, data folder, database, arithmetic and libraries, without changing anything."""
    settings = Settings.load()
    checks: list[Callable[[Settings], Iterator[Check]]] = [_folder, _database, _camels, _arithmetic, _libraries]
    found = [check for run in checks for check in run(settings)]
    rows = [("ok" if ok else "PROBLEM", name, said) for name, ok, said in found]
    payload: dict[str, Any] = {"checks": [{"name": name, "ok": ok, "detail": said} for name, ok, said in found]}
    answer(payload, as_json, table(("", "what", ""), rows))
    if not all(ok for _, ok, _ in found):
        raise typer.Exit(NOT_WELL)


def _folder(settings: Settings) -> Iterator[Check]:
    folder = next(path for path in (settings.data, *settings.data.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield "data folder", False, f"{folder} cannot be written ({error.strerror}): choose another FRESHET_DATA"
    else:
        yield "data folder", True, str(settings.data)


def _database(settings: Settings) -> Iterator[Check]:
    try:
        database = Database(settings.database_url)
        condition = database.check()
        database.close()
    except Problem as problem:
        yield "database", False, str(problem)
        return
    fresh = database.file is not None and not database.file.exists()
    said = "none yet: the first command makes it" if fresh else condition.problem or f"revision {condition.revision}"
    yield "database", fresh or condition.problem is None, f"{condition.database}: {said}"


def _camels(settings: Settings) -> Iterator[Check]:
    if settings.camels is None:
        yield "CAMELS folder", True, "FRESHET_CAMELS is not set; only the tests on real data want it"
        return
    there = Path(settings.camels).is_dir()
    yield "CAMELS folder", there, str(settings.camels) if there else f"FRESHET_CAMELS={settings.camels} is no folder"


def _arithmetic(settings: Settings) -> Iterator[Check]:
    """Check on this machine what replay rests on: neighbours and cuts change no bit of a run."""
    import numpy as np
    import torch

    from models.contract import Inputs
    from models.inference import BLOCK, simulate
    from models.nets.mclstm import MCLSTM

    torch.set_num_threads(settings.threads)
    generator = torch.Generator().manual_seed(0)
    rain = torch.rand(30, BLOCK, 1, generator=generator) * 20
    drive = Inputs(rain, torch.randn(30, BLOCK, 4, generator=generator), torch.randn(BLOCK, 3, generator=generator))
    network = MCLSTM(auxiliary=4, static=3, cells=64)
    whole, _ = simulate(network, drive, None, ("discharge",))
    alone, _ = simulate(network, Inputs(rain[:, 5:6], drive.auxiliary[:, 5:6], drive.static[5:6]), None, ("discharge",))
    first, state = simulate(network, drive.between(0, 11), None, ("discharge",))
    second, _ = simulate(network, drive.between(11, 30), state, ("discharge",))
    split = np.concatenate([first["discharge"], second["discharge"]], axis=1)
    same = np.array_equal(alone["discharge"][0], whole["discharge"][5]) and np.array_equal(split, whole["discharge"])
    said = "the same bits alone, in company and in two parts" if same else "runs differ: states cannot be replayed here"
    yield "arithmetic", same, said
    cuda = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none; training runs on the CPU"
    yield "CUDA", True, cuda


def _libraries(_settings: Settings) -> Iterator[Check]:
    names = ("freshet", "torch", "numpy", "sqlalchemy", "fastapi")
    yield "versions", True, ", ".join(f"{name} {metadata.version(name)}" for name in names)
