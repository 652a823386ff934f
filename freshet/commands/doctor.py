"""`freshet doctor`: check this machine and its settings."""

import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import freshet
from freshet.cli.context import cores
from freshet.cli.output import Json, answer, table
from freshet.own_modules import claimed_by_others
from hydrology.base.errors import Problem
from jobspec.training import InputsConfig, TrainingConfig
from models.devices import CPU, NEEDS_EXTENSION, available, gpu_programs, use_cores
from records.database.engine import Database
from records.upkeep.integrity import page_faults
from runtime import stored_files
from runtime.release import code_version
from runtime.settings import Settings
from workers.liveness import gpu_monitor

if TYPE_CHECKING:
    import numpy as np

    from models.contract import Network
    from models.ensemble import ArrayMap

NOT_WELL = 5

MARKS = {True: "ok", False: "PROBLEM", None: "NONE YET"}

Check = tuple[str, bool | None, str]
"""What was looked at, whether it is well (None: it is not there, and need not be), and a sentence."""


def doctor(as_json: Json = False) -> None:
    """Check settings, data folder, database, arithmetic and libraries, without changing anything."""
    settings = Settings.load()
    checks: list[Callable[[Settings], Iterator[Check]]] = [_folder, _roots, _database, _camels, _arithmetic, _libraries]
    found = [check for run in checks for check in run(settings)]
    rows = [(MARKS[ok], name, result) for name, ok, result in found]
    payload: dict[str, Any] = {"checks": [{"name": name, "ok": ok, "detail": result} for name, ok, result in found]}
    answer(payload, as_json, table(("", "what", ""), rows))
    if any(ok is False for _, ok, _ in found):
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
    if stored_files.is_open_to_others(settings.data):
        yield "rights", False, f"others can read {settings.data}: chmod 700 {settings.data}"


def _roots(settings: Settings) -> Iterator[Check]:
    """Report the folders that ingest jobs read from; only a configured one must exist."""
    chosen = "ingest_roots" in settings.model_fields_set
    for root in settings.ingest_roots:
        if root.is_dir():
            yield "ingest folder", True, str(root)
        elif chosen:
            yield "ingest folder", False, f"{root} is not a folder: create it, or change FRESHET_INGEST_ROOTS"
        else:
            yield "ingest folder", True, f"{root} does not exist yet: create it for data that jobs are to ingest"


def _database(settings: Settings) -> Iterator[Check]:
    try:
        database = Database(settings.database_url)
        condition = database.check()
    except Problem as problem:
        yield "database", False, str(problem)
        return
    if database.file is not None and stored_files.is_open_to_others(database.file):
        yield "rights", False, f"others can read {database.file}: chmod 600 {database.file}*"
    if missing := database.missing:
        yield "database", None, missing
        return
    sentence = condition.problem or f"{condition.database}: revision {condition.revision}"
    yield "database", condition.problem is None, sentence
    if database.file is not None:
        faults = page_faults(database, quick=True)
        yield "pages", not faults, " ".join(faults) or "all whole; `freshet check` looks at every row, too"


def _camels(settings: Settings) -> Iterator[Check]:
    if settings.camels is None:
        yield "CAMELS folder", True, "FRESHET_CAMELS is not set; only the tests on real data want it"
        return
    there = Path(settings.camels).is_dir()
    yield "CAMELS folder", there, str(settings.camels) if there else f"FRESHET_CAMELS={settings.camels} is not a folder"


def _arithmetic(settings: Settings) -> Iterator[Check]:
    """Check that batching and splitting a run change none of its bits on this machine, as replay requires."""
    from models.networks import ARCHITECTURES, build

    use_cores(cores(settings.cores))
    inputs = InputsConfig(product="any", auxiliary=("tmax", "tmin", "srad", "vp"), static=("a", "b", "gauge_lat"))
    differ = []
    for name in ARCHITECTURES:
        asked = {"network": {"architecture": name}, "inputs": inputs, "train_period": "2000-01-01..2000-12-31"}
        if not _same_bits(build(TrainingConfig.model_validate(asked).network, inputs, seed=0)):
            differ.append(name)
    result = "the same bits alone, in company and in two parts"
    if differ:
        result = f"runs of {', '.join(differ)} differ: their states cannot be replayed here"
    yield "arithmetic", not differ, result
    yield _recurrence()
    yield _device(settings)


def _device(settings: Settings) -> Check:
    """Report the device that trainings and simulations compute on, and whether this machine has it."""
    devices, programs = available(), gpu_programs()
    others = " or ".join(devices[1:]) or "none"
    if settings.device not in devices:
        why = NEEDS_EXTENSION if programs is None else f"CUDA devices here: {others}"
        return "device", False, f"FRESHET_DEVICE={settings.device} cannot be used; {why}"
    if settings.device == CPU:
        return "device", True, f"trainings and simulations compute on the CPU; CUDA devices here: {others}"
    monitor = gpu_monitor(settings.device)
    assert monitor is not None
    assert programs is not None
    gpu = monitor.state()
    if gpu.memory is None or gpu.memory_used is None or gpu.utilisation is None:
        return "device", gpu.fault is None, f"{gpu.device}, {gpu.name or 'its name unknown'}: {gpu.unread}"
    memory = f"{gpu.memory_used / 1e9:.1f} of {gpu.memory / 1e9:.1f} GB in use"
    slow = programs.lacking()
    program = "MC-LSTM runs by Triton kernels" if slow is None else f"MC-LSTM runs on torch, many times slower: {slow}"
    use = f"{memory}, computing {gpu.utilisation:.0%} of the time"
    return "device", slow is None, f"{gpu.device}, {gpu.name}: {use}; {program}"


def _recurrence() -> Check:
    """Report which program runs the days of MC-LSTM here, and why that one."""
    from models.nets.compiled import loader

    try:
        variant = loader.choose()
        loader.load(variant)
    except loader.NoLibraryError as problem:
        return "recurrence", False, f"runs on torch, several times slower: {problem}"
    lacking = [f"{name} needs {', '.join(names)}" for name, names in loader.passed_over().items()]
    why = f"the fastest that this processor runs ({'; '.join(lacking)})" if lacking else "the fastest there is"
    unit = loader.half_unit()
    half = f"in bfloat16 by its {unit}" if unit else "too: it has no unit for bfloat16"
    return "recurrence", True, f"library {variant.name}, {why}; trains in float32, a network of rank 0 {half}"


def _same_bits(network: "Network") -> bool:
    """Return whether a basin's run is the same alone, in company and in two parts."""
    import numpy as np
    import torch

    from models.contract import Inputs
    from models.ensemble import simulate
    from models.nets.layers import BLOCK

    generator = torch.Generator().manual_seed(0)
    samples = 2 * BLOCK
    rain = torch.rand(30, samples, 1, generator=generator) * 20
    weather, static = torch.randn(30, samples, 4, generator=generator), torch.randn(samples, 3, generator=generator)
    drive = Inputs(rain, weather, static, temperature=10 * weather[..., 0], pet=weather[..., 1].square())
    one = drive.of_samples([5])

    def discharge(inputs: Inputs, state: "ArrayMap | None" = None) -> "tuple[np.ndarray[Any, Any], ArrayMap]":
        outputs, last = simulate(network, inputs, state, ("discharge",))
        return outputs["discharge"], last

    whole, alone = discharge(drive)[0], discharge(one)[0]
    first, state = discharge(drive.between(0, 11))
    second, _ = discharge(drive.between(11, 30), state)
    return np.array_equal(alone[0], whole[5]) and np.array_equal(np.concatenate([first, second], axis=1), whole)


def _libraries(_settings: Settings) -> Iterator[Check]:
    claims = claimed_by_others(metadata.packages_distributions())
    yield "packages", not claims, "; ".join(claims) or f"those of Freshet, at {Path(freshet.__path__[0]).parent}"
    names = ("torch", "numpy", "sqlalchemy", "fastapi")
    versions = {"freshet": code_version()} | {name: metadata.version(name) for name in names}
    yield "versions", True, ", ".join(f"{name} {version}" for name, version in versions.items())
