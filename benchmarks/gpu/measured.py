"""The shipped recipe on a graphics card: training of its ten members at once, and simulation, beside processors.

Parts (`--only`, with commas between them): `exact`, what a card's results differ in; `launches` of a step; `training`,
ten members from their first to their last step, validations included; `simulation` by the ten shipped members over the
whole record; `processors`, the same on 2 and on 16 cores, of fewer steps and days; `torch`, a step by torch's own
operations on the card; `networks`, a step of the other networks. The data come from one file (`benchmarks.gpu.data`).
"""

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import torch

from benchmarks.gpu import data as stored
from extensions.gpu.members_training import STEPS_AHEAD, MembersTraining
from hydrology.base.calendar import Period
from jobspec.network import sized
from jobspec.training import Cosine, TrainingConfig
from models.devices import use_cores
from models.ensemble import Ensemble
from models.forcing import Forcing, Scaler
from models.learning import TrainingData, Validation
from models.nets.mclstm import MCLSTM
from models.pretrained import DEFAULT, SHELF, form
from models.pretrained.form import load
from models.training import MemberTraining

DEVICE = "cuda"
PARTS = ("exact", "launches", "training", "simulation", "processors", "torch", "networks")
CORES = (2, 16)
TIMED_STEPS, TORCH_STEPS = 12, 2
CHECKED_STEPS, CHECKED_DAYS = 20, 730


def measure(only: str = ",".join(PARTS)) -> dict[str, Any]:
    """Return the chosen parts."""
    if not torch.cuda.is_available():
        raise SystemExit("This measurement needs a CUDA device: torch finds none.")
    config, data = stored.read()
    memory = torch.cuda.get_device_properties(0).total_memory / 2**30
    report: dict[str, Any] = {"card": f"{torch.cuda.get_device_name(0)}, {memory:.0f} GiB", "torch": torch.__version__}
    chosen = only.split(",")
    if unknown := set(chosen) - set(PARTS):
        raise SystemExit(f"No such parts: {', '.join(sorted(unknown))}. There are {', '.join(PARTS)}.")
    for part in chosen:
        report[part] = globals()[f"_{part}"](config, data)
        print(part, report[part], flush=True)
    return report


def _scaler(config: TrainingConfig, data: TrainingData) -> Scaler:
    return Scaler.fit(data.forcing.over(config.train_period))


def _of_steps(config: TrainingConfig, steps: int) -> TrainingConfig:
    """Return the configuration of a few first steps, without validations."""
    schedule = Cosine(steps=steps)
    return config.model_copy(update={"schedule": schedule, "validation_period": None, "checkpoint_every": 10**6})


def _seeds(config: TrainingConfig, members: int | None = None) -> list[int]:
    return [config.seed + member for member in range(members or config.members)]


def _exact(config: TrainingConfig, data: TrainingData) -> dict[str, Any]:
    """Compare the weights after some steps, and simulations, between programs and groupings."""
    short, scaler = _of_steps(config, CHECKED_STEPS), _scaler(config, data)
    together = MembersTraining(short, data, scaler, _seeds(config), DEVICE).run()
    alone = MembersTraining(short, data, scaler, [config.seed + 3], DEVICE).run()[config.seed + 3]
    processor = MemberTraining(short, data, scaler, config.seed + 3).run()
    of_three = together[config.seed + 3].last
    ours, forcing = _shipped(), _first_days(data, CHECKED_DAYS)
    some = np.array([5, 77, 400])
    on_card = _on_card(ours).simulate(forcing, None, ("discharge", "storage"))[0]
    few = _on_card(ours).simulate(forcing.basins(some), None, ("discharge", "storage"))[0]
    card = _on_card(ours)
    first, states = card.simulate(_first_days(data, 1), None, ("storage",))
    rest = forcing.over(Period(forcing.first + np.timedelta64(1, "D"), forcing.period.last))
    second = card.simulate(rest, states, ("storage",))[0]["storage"]
    on_cpu = ours.simulate(forcing, None, ("discharge", "storage"))[0]
    return {
        "alone_equals_among_ten": all(torch.equal(values, of_three[name]) for name, values in alone.last.items()),
        "weights_from_processor": _largest({n: v - of_three[n] for n, v in processor.last.items()}),
        "basins_alone_equal_among_all": all(np.array_equal(few[name], on_card[name][:, some]) for name in few),
        "a_day_and_the_rest_equal_the_whole": bool(
            np.array_equal(np.concatenate([first["storage"], second], axis=2), on_card["storage"])
        ),
        "discharge_from_processor_mm_day": float(np.abs(on_card["discharge"] - on_cpu["discharge"]).max()),
        "storage_from_processor_mm": float(np.abs(on_card["storage"] - on_cpu["storage"]).max()),
        "largest_storage_mm": float(on_cpu["storage"].max()),
    }


def _largest(differences: dict[str, torch.Tensor]) -> float:
    return max(float(values.abs().max()) for values in differences.values())


def _launches(config: TrainingConfig, data: TrainingData) -> dict[str, Any]:
    """Count the kernels of a step of all members, and their time."""
    training = MembersTraining(_of_steps(config, 10**6), data, _scaler(config, data), _seeds(config), DEVICE)
    training._advance(STEPS_AHEAD)
    seconds = _median(lambda: training._advance(STEPS_AHEAD), 3) / STEPS_AHEAD
    training._at.zero_()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        training._step()
        torch.cuda.synchronize()
    kernels = [event for event in profile.events() if event.device_type == torch.profiler.DeviceType.CUDA]
    totals: dict[str, float] = {}
    for event in kernels:
        totals[event.name[:60]] = totals.get(event.name[:60], 0.0) + event.device_time / 1000
    slowest = sorted(totals.items(), key=lambda one: -one[1])[:14]
    return {"kernels": len(kernels), "ms": seconds * 1000, "slowest_ms": {name: round(ms, 3) for name, ms in slowest}}


def _training(config: TrainingConfig, data: TrainingData) -> dict[str, Any]:
    """Train all members to the end."""
    started = time.perf_counter()
    training = MembersTraining(config, data, _scaler(config, data), _seeds(config), DEVICE)
    ready = time.perf_counter()
    done = training.run()
    ended = time.perf_counter()
    best = {seed: max(row["validation_nse"] for row in member.log) for seed, member in done.items()}
    members = {seed: member.best for seed, member in done.items() if member.best is not None}
    ensemble = Ensemble.load(config, _scaler(config, data), members, data.forcing.ids, DEVICE)
    return {
        "seconds": ended - started,
        "seconds_of_set_up": ready - started,
        "seconds_of_steps": sum(member.seconds for member in done.values()),
        "steps": training.steps,
        "memory_gib": torch.cuda.max_memory_allocated() / 2**30,
        "validation_nse_of_members": {seed: round(value, 4) for seed, value in best.items()},
        "validation_nse_of_mean": _mean_nse(config, data, ensemble),
        "validation_nse_of_shipped_mean": _mean_nse(config, data, _on_card(_shipped())),
    }


def _mean_nse(config: TrainingConfig, data: TrainingData, ensemble: Ensemble) -> float:
    assert config.validation_period is not None
    validation = Validation.of(data, config.validation_period)
    flow = ensemble.simulate(validation.forcing, None, ("discharge",))[0]["discharge"]
    return round(validation.score(flow.mean(axis=0)).value, 4)


def _shipped() -> Ensemble:
    return load(form.read(SHELF / DEFAULT))


def _on_card(ensemble: Ensemble) -> Ensemble:
    weights = {label: network.state_dict() for label, network in zip(ensemble.labels, ensemble.networks, strict=True)}
    return Ensemble.load(ensemble.config, ensemble.scaler, weights, ensemble.learnt_from, DEVICE)


def _first_days(data: TrainingData, days: int) -> Forcing:
    first = data.forcing.first
    return data.forcing.over(Period(first, first + np.timedelta64(days - 1, "D")))


def _simulation(_config: TrainingConfig, data: TrainingData) -> dict[str, Any]:
    """Simulate all basins over the whole record by the shipped ensemble."""
    ensemble = _on_card(_shipped())

    def simulate() -> None:
        ensemble.simulate(data.forcing, None, ("discharge",))

    first = _seconds(simulate)
    return {"days": data.forcing.mass.shape[1], "seconds_first": first, "seconds": _median(simulate, 3)}


def _processors(config: TrainingConfig, data: TrainingData) -> dict[str, Any]:
    """Time steps and simulations on cores of this machine; scaled to the whole training and the whole record."""
    steps, days = config.schedule.steps if isinstance(config.schedule, Cosine) else 0, data.forcing.mass.shape[1]
    ensemble, short = _shipped(), _first_days(data, CHECKED_DAYS)
    result = {}
    for cores in CORES:
        at_once = min(cores, config.members)
        with ProcessPoolExecutor(at_once, get_context("spawn")) as pool:
            of_steps = list(pool.map(_seconds_of_step, _seeds(config, at_once)))
        rounds = -(-config.members // at_once)
        use_cores(cores)
        seconds = _median(lambda: ensemble.simulate(short, None, ("discharge",)), 3)
        result[f"{cores}_cores"] = {
            "training_seconds": statistics.mean(of_steps) * steps * rounds,
            "simulation_seconds": seconds * days / CHECKED_DAYS,
        }
    use_cores(1)
    return result


def _seconds_of_step(seed: int) -> float:
    """Return the median time of a step of a member on one core, beside others."""
    torch.set_num_threads(1)
    config, data = stored.read()
    member = MemberTraining(_of_steps(config, 10**6), data, _scaler(config, data), seed)
    member._step()
    return statistics.median(_seconds(member._step) for _ in range(TIMED_STEPS))


def _torch(config: TrainingConfig, data: TrainingData) -> dict[str, Any]:
    """Time a step of one member by torch's own operations, a day at a time."""
    member = MemberTraining(_of_steps(config, 100), data, _scaler(config, data), config.seed, DEVICE)
    assert isinstance(member.network, MCLSTM)
    member.network.recurrence = "torch"
    return {"seconds_of_step": _step_seconds(member)}


def _networks(config: TrainingConfig, data: TrainingData) -> dict[str, Any]:
    """Time a step of one member of each of the other networks on the card."""
    seconds = {}
    for name in ("lstm", "eins", "mmrnn"):
        network = TrainingConfig.model_validate(
            {
                "network": sized(name, 128 if name != "mmrnn" else 64),
                "inputs": config.inputs,
                "train_period": config.train_period,
            }
        ).network
        changes = {"network": network, "unseen": (), "windows": config.windows}
        short = _of_steps(config, 100).model_copy(update=changes)
        seconds[name] = _step_seconds(MemberTraining(short, data, _scaler(config, data), config.seed, DEVICE))
    return {"seconds_of_step": seconds}


def _step_seconds(member: MemberTraining) -> float:
    member._step()
    return _median(lambda: [member._step() for _ in range(TORCH_STEPS)], 2) / TORCH_STEPS


def _median(work: Callable[[], object], times: int) -> float:
    return statistics.median(_seconds(work) for _ in range(times))


def _seconds(work: Callable[[], object]) -> float:
    torch.cuda.synchronize() if torch.cuda.is_available() else None
    started = time.perf_counter()
    work()
    torch.cuda.synchronize() if torch.cuda.is_available() else None
    return time.perf_counter() - started
