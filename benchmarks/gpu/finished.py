"""The ensembles that `benchmarks.gpu.ensembles` has trained.

`python -m benchmarks.gpu.finished judge` scores all of them in the validation years, which choose the sizes of the
networks (`benchmarks/regional/results/trials/compared.json`); `... ship NAME` ships the chosen one of `lstm`, `eins` or
`mmrnn`. FRESHET_DATA and FRESHET_CAMELS as for `benchmarks.regional`.
"""

import json
import sys

from benchmarks.gpu.ensembles import finished, folder
from benchmarks.regional.data import VALIDATION, basins, opened, require_all
from benchmarks.regional.members import series
from benchmarks.regional.recipes import compared
from benchmarks.regional.score import quartiles, scores
from benchmarks.regional.simulations import observe, simulate
from benchmarks.regional.trials import RESULTS, lone_member
from hydrology.base.absent import texts
from hydrology.base.calendar import Period
from jobspec.training import TrainingConfig
from models import checkpoint
from models.ensemble import Ensemble
from operations.training.assemble import new_version
from operations.training.export import ship as ship_members
from operations.training.train import begin
from records.versions import versions
from runtime.clock import Clock

JUDGED = RESULTS / "compared.json"


def judge() -> None:
    """Score the mean of each ensemble, and its members, in the validation years."""
    known = json.loads(JUDGED.read_text()) if JUDGED.exists() else {}
    for name in [name for name in compared() if finished(name).exists() and name not in known]:
        config, tensors, header = _read(name)
        scaler = lone_member(config, basins(), config.seed).scaler
        members = {seed: checkpoint.under(f"{seed}.", tensors) for seed in map(int, header["members"])}
        ensemble = Ensemble.load(config, scaler, members, basins())
        period = Period.parse(VALIDATION)
        simulated, observed = simulate(ensemble, basins(), period.last).over(period), observe(basins(), VALIDATION)
        efforts = header["members"].values()
        known[name] = {
            "members": len(members),
            "parameters": sum(weights.numel() for weights in ensemble.networks[0].parameters()),
            "card_minutes": sum(member["seconds"] for member in efforts) / 60,
            "machine": header["machine"],
            "ensemble": quartiles(scores(simulated.mean(axis=0), observed)),
            "singles": [quartiles(scores(member, observed)) for member in simulated],
            "log": {seed: member["validation"] for seed, member in header["members"].items()},
        }
        JUDGED.write_text(json.dumps(known, indent=1) + "\n")
        print(name, known[name]["ensemble"]["nse"], [round(one["nse"][1], 4) for one in known[name]["singles"]])


def ship(name: str) -> None:
    """Ship an ensemble, with what its training took."""
    chosen, clock = series(name), Clock()
    config, tensors, header = _read(chosen.recipe)
    if config != chosen.config:
        raise SystemExit(f"{finished(chosen.recipe)} was trained by another configuration than the recipe's of today.")
    machine = {key: header[key] for key in ("device", "machine", "threads")}
    members = [
        versions.Member(
            label,
            int(seed),
            {"best": checkpoint.dump(checkpoint.under(f"{seed}.", tensors), {})},
            {"validation": effort["validation"], "seconds": effort["seconds"], **machine},
        )
        for label, (seed, effort) in enumerate(header["members"].items())
    ]
    database = opened(config.inputs.product)
    started = begin(database, clock, config, chosen.basins)
    require_all(texts(started.prepared.left_out))
    written = ship_members(chosen.folder, new_version(clock, started), members)
    database.close()
    print(f"{chosen.folder}: members {written.members}")


def _read(name: str) -> tuple[TrainingConfig, checkpoint.Tensors, dict[str, dict[str, dict[str, float]]]]:
    path = finished(name)
    if not path.exists():
        raise SystemExit(f"{folder()} lacks {path.name}: `python -m benchmarks.gpu.ensembles` makes it.")
    tensors, header = checkpoint.parse(path.read_bytes())
    return TrainingConfig.model_validate(header["config"]), tensors, header


if __name__ == "__main__":
    judge() if sys.argv[1] == "judge" else ship(sys.argv[2])
