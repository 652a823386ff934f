"""Whole series of members, trained on one graphics card.

`python -m benchmarks.gpu.ensembles SECONDS SERIES ...`, series as of `benchmarks.regional`: members, twins, folds, the
networks of the comparison; one series after another. The data come from files of products (`benchmarks.gpu.data`).
What is reached after SECONDS stays in FRESHET_DATA, in the folder `ensembles`, and another call goes on from there;
`benchmarks.gpu.finished` ships what is finished.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.gpu import data as stored
from extensions.gpu.members_training import MembersTraining
from models import checkpoint
from models.devices import cores_in_use
from models.forcing import Scaler
from models.training import Progress, TrainedMember
from operations.versions.processes import machine
from runtime.settings import Settings
from runtime.stored_files import replace_file

DEVICE = "cuda"


class _OutOfTimeError(Exception):
    """Ends a training at its next checkpoint."""


def folder() -> Path:
    """Return where finished members and checkpoints lie."""
    return Settings.load().data / "ensembles"


def finished(name: str) -> Path:
    """Return the file of a series' finished members."""
    return folder() / f"{name}.safetensors"


def train(seconds: float, names: list[str]) -> None:
    """Train series in their order, for some seconds at most."""
    end = time.monotonic() + seconds
    for name in [name for name in names if not finished(name).exists()]:
        training = _opened(name)
        try:
            _write(name, training.run(_save(name), _report(name, end)))
        except _OutOfTimeError:
            print(f"{name}: out of time at step {training.step}", flush=True)
            return


def _opened(name: str) -> MembersTraining:
    config, data = stored.read(name)
    seeds = [config.seed + member for member in range(config.members)]
    training = MembersTraining(config, data, Scaler.fit(data.forcing.over(config.train_period)), seeds, DEVICE)
    saved = {seed: path.read_bytes() for seed in seeds if (path := _checkpoint(name, seed)).exists()}
    if saved:
        training.resume(saved)
    return training


def _save(name: str) -> Callable[[int, int, bytes], None]:
    return lambda seed, _step, blob: replace_file(_checkpoint(name, seed), blob)


def _report(name: str, end: float) -> Callable[[int, Progress], None]:
    def report(seed: int, progress: Progress) -> None:
        if progress.validation is not None:
            print(f"{name} {seed}: step {progress.step}, validation {progress.validation.value:.4f}", flush=True)
        if time.monotonic() > end:
            raise _OutOfTimeError

    return report


def _write(name: str, members: dict[int, TrainedMember]) -> None:
    """Write the weights of finished members, the best where years chose them, and how they were trained."""
    weights, efforts = checkpoint.Tensors(), {}
    for seed, member in members.items():
        weights |= checkpoint.prefixed(f"{seed}.", member.last if member.best is None else member.best)
        efforts[str(seed)] = {"validation": member.log, "seconds": member.seconds}
    memory = torch.cuda.get_device_properties(0).total_memory / 2**30
    card = f"{torch.cuda.get_device_name(0)}, {memory:.0f} GiB"
    header = {"members": efforts, "device": DEVICE, "machine": f"{card}; {machine()}", "threads": cores_in_use()}
    config, _ = stored.read(name)
    header["config"] = json.loads(config.model_dump_json())
    replace_file(finished(name), checkpoint.dump(weights, header))
    for seed in members:
        _checkpoint(name, seed).unlink(missing_ok=True)
    print(f"{name}: finished", flush=True)


def _checkpoint(name: str, seed: int) -> Path:
    return folder() / f"{name}-member-{seed}.safetensors"


if __name__ == "__main__":
    train(float(sys.argv[1]), sys.argv[2:])
