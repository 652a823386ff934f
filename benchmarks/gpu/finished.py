"""The ensembles that `benchmarks.gpu.ensembles` has trained.

`python -m benchmarks.gpu.finished NAME` ships a series; FRESHET_DATA and FRESHET_CAMELS as for `benchmarks.regional`.
"""

import sys
from typing import Any

from benchmarks.gpu.ensembles import finished, folder
from benchmarks.regional.data import opened, require_all
from benchmarks.regional.members import series, write_card
from extensions.shipping.export import ship as ship_members
from hydrology.base.absent import texts
from jobspec.training import TrainingConfig
from models import checkpoint
from operations.training.assemble import new_version
from operations.training.train import begin
from records.versions import versions
from runtime.clock import Clock
from testing.work import work_of


def ship(name: str) -> None:
    """Ship a series, with what its training took."""
    chosen, clock = series(name), Clock()
    config, tensors, header = _read(name)
    if config != chosen.config:
        raise SystemExit(f"{finished(name)} was trained by another configuration than the recipe's of today.")
    machine = {key: header[key] for key in ("device", "machine", "threads")}
    which: versions.Which = "best" if config.validation_period else "last"
    members = [
        versions.Member(
            label,
            int(seed),
            {which: checkpoint.dump(checkpoint.under(f"{seed}.", tensors), {})},
            {"validation": effort["validation"], "seconds": effort["seconds"], **machine},
        )
        for label, (seed, effort) in enumerate(header["members"].items())
    ]
    write_card(chosen, f"benchmarks.gpu.finished {name}")
    database = opened(config.inputs.product)
    started = begin(work_of(database, clock), config, chosen.basins)
    require_all(texts(started.prepared.left_out))
    written = ship_members(chosen.folder, new_version(clock, started), members, chosen.twin_ensemble)
    database.close()
    print(f"{chosen.folder}: members {written.members}")


def _read(name: str) -> tuple[TrainingConfig, checkpoint.Tensors, dict[str, Any]]:
    path = finished(name)
    if not path.exists():
        raise SystemExit(f"{folder()} lacks {path.name}: `python -m benchmarks.gpu.ensembles` makes it.")
    tensors, header = checkpoint.parse(path.read_bytes())
    return TrainingConfig.model_validate(header["config"]), tensors, header


if __name__ == "__main__":
    ship(sys.argv[1])
