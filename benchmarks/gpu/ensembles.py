"""The ensembles of the networks of the comparison, trained on one graphics card at the same time.

`python -m benchmarks.gpu.ensembles SECONDS RECIPE[,RECIPE ...] ...`: each argument is trained in its order, beside the
others. Their steps are many small launches, one after another, so that several at once use the card better. The data
come from one file (`benchmarks.gpu.data`). What is reached after SECONDS stays in FRESHET_DATA, in the folder
`ensembles`, and another call goes on from there; `benchmarks.gpu.finished` scores and ships what is finished.
"""

import json
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.gpu import data as stored
from models import checkpoint
from models.gpu.members_training import MembersTraining
from models.scaling import Scaler
from models.training import Progress, TrainedMember
from operations.versions.hardware import machine
from runtime.settings import Settings

DEVICE = "cuda"


class _OutOfTimeError(Exception):
    """Ends a training at its next checkpoint."""


def folder() -> Path:
    """Return where finished members and checkpoints lie."""
    return Settings.load().data / "ensembles"


def finished(name: str) -> Path:
    """Return the file of a recipe's finished members."""
    return folder() / f"{name}.safetensors"


def train(seconds: float, chains: list[list[str]]) -> None:
    """Train chains of recipes, each in a thread with a stream of its own, for some seconds at most."""
    end = time.monotonic() + seconds
    folder().mkdir(parents=True, exist_ok=True)
    # Recorded one after another: while a step is recorded, nothing else may use the card.
    trainings = {name: _prepared(name) for chain in chains for name in chain if not finished(name).exists()}
    torch.cuda.synchronize()
    threads = [threading.Thread(target=_run, args=(chain, trainings, end)) for chain in chains]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _prepared(name: str) -> MembersTraining:
    started = time.monotonic()
    config, data = stored.read(name)
    seeds = [config.seed + member for member in range(config.members)]
    training = MembersTraining(config, data, Scaler.fit(data.forcing.over(config.train_period)), seeds, DEVICE)
    saved = {seed: path.read_bytes() for seed in seeds if (path := _checkpoint(name, seed)).exists()}
    if saved:
        training.resume(saved)
    training.prepare()
    print(
        f"{name}: step {training.step} of {training.steps}, {time.monotonic() - started:.0f} s to prepare", flush=True
    )
    return training


def _run(chain: list[str], trainings: dict[str, MembersTraining], end: float) -> None:
    for name in chain:
        if name not in trainings:
            continue
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                done = trainings[name].run(_save(name), _report(name, end))
        except _OutOfTimeError:
            print(f"{name}: out of time at step {trainings[name].step}", flush=True)
            return
        except Exception:  # noqa: BLE001 - the other chains go on
            print(f"{name}: {traceback.format_exc()}", flush=True)
            return
        _write(name, done)


def _save(name: str) -> Callable[[int, int, bytes], None]:
    return lambda seed, _step, blob: _replace(_checkpoint(name, seed), blob)


def _report(name: str, end: float) -> Callable[[int, Progress], None]:
    last = [0, time.monotonic()]

    def report(seed: int, progress: Progress) -> None:
        if seed == 0:
            step, before = last
            last[:] = progress.step, time.monotonic()
            speed = 1000 * (last[1] - before) / (progress.step - step)
            if progress.step <= 100 or progress.validation is not None:
                print(f"{name}: step {progress.step}, {speed:.1f} ms a step since {step}", flush=True)
        if progress.validation is not None:
            print(f"{name} {seed}: step {progress.step}, validation {progress.validation.value:.4f}", flush=True)
        if seed == 0 and time.monotonic() > end:
            raise _OutOfTimeError

    return report


def _write(name: str, members: dict[int, TrainedMember]) -> None:
    """Write the best weights of finished members, and the description of their training."""
    weights, efforts = checkpoint.Tensors(), {}
    for seed, member in members.items():
        assert member.best is not None
        weights |= checkpoint.prefixed(f"{seed}.", member.best)
        efforts[str(seed)] = {"validation": member.log, "seconds": member.seconds}
    memory = torch.cuda.get_device_properties(0).total_memory / 2**30
    card = f"{torch.cuda.get_device_name(0)}, {memory:.0f} GiB"
    header = {"members": efforts, "device": DEVICE, "machine": f"{card}; {machine()}", "threads": 1}
    config, _ = stored.read(name)
    header["config"] = json.loads(config.model_dump_json())
    _replace(finished(name), checkpoint.dump(weights, header))
    for seed in members:
        _checkpoint(name, seed).unlink(missing_ok=True)
    print(f"{name}: finished", flush=True)


def _checkpoint(name: str, seed: int) -> Path:
    return folder() / f"{name}-member-{seed}.safetensors"


def _replace(path: Path, blob: bytes) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(blob)
    part.replace(path)


if __name__ == "__main__":
    train(float(sys.argv[1]), [chain.split(",") for chain in sys.argv[2:]])
