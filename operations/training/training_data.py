"""What a training starts from: its basins and arrays; and of a fine-tuning its parent's network, scaler and weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent, first_texts
from hydrology.base.calendar import Period
from hydrology.base.digests import inputs_sha256
from hydrology.base.errors import DataProblem, InvalidInput, counted
from hydrology.base.reasons import Reason
from jobspec.network import BucketsConfig, MCLSTMConfig
from jobspec.training import FineTuningConfig, TrainingConfig
from models.checkpoint import Tensors
from models.contract import with_room
from models.devices import gpu_programs
from models.forcing import Array, Scaler, days_of, places
from models.learning import TrainingData, days_learnt_or_judged, days_of_training
from operations.basin_data.dataset import BasinForcing, load_discharge, load_forcing, stacked
from operations.versions.learnt_days import attribute_ranges
from operations.versions.load_networks import weights_of
from records.versions import versions
from records.versions.version_properties import Tuning, VersionProperties
from records.versions.versions import Version


class NoBasinLeft(DataProblem):
    """No basin can serve for this training."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The data of a training, and the basins that it cannot use."""

    basins: tuple[str, ...]
    data: TrainingData
    left_out: dict[str, Absent]

    @property
    def data_hash(self) -> str:
        """The fingerprint of all numbers of the training data."""
        forcing = self.data.forcing
        return inputs_sha256(forcing.mass, forcing.auxiliary, forcing.static, self.data.discharge)


def prepare(session: Session, config: TrainingConfig, basins: Sequence[str]) -> Prepared:
    """Read a training's data; return which basins cannot be used and why, and refuse where none can."""
    training, validation = config.train_period, config.validation_period or config.train_period
    wanted = days_learnt_or_judged(config)
    forcings: dict[str, BasinForcing] = {}
    left_out: dict[str, Absent] = {}
    for basin in basins:
        loaded = load_forcing(session, basin, config)
        found = loaded if isinstance(loaded, Absent) else loaded.covering(wanted)
        if isinstance(found, Absent):
            left_out[basin] = found
        else:
            forcings[basin] = found
    period = days_of_training(config, [one.period.first for one in forcings.values()])
    stored: dict[str, Array] = {}
    for basin in forcings:
        flow = load_discharge(session, basin, [config.inputs.product], period)
        if isinstance(flow, Absent):
            left_out[basin] = flow
            continue
        if config.held_out_period is not None:
            flow[days_of(period, config.held_out_period)] = np.nan
        if reason := _unfit(basin, flow[days_of(period, training)], training):
            left_out[basin] = reason
        else:
            stored[basin] = flow
    if not stored:
        raise NoBasinLeft(
            f"None of the {counted(len(basins), 'basin')} can serve for this training. {first_texts(left_out)}"
        )
    if all(np.isnan(flow[days_of(period, validation)]).all() for flow in stored.values()):
        raise NoBasinLeft(f"No basin has observed discharge in the validation period {validation}: choose another.")
    forcing = stacked([forcings[basin].forcing.over(period) for basin in stored])
    return Prepared(tuple(stored), TrainingData(forcing, np.stack(list(stored.values()))), left_out)


def _unfit(basin: str, discharge: Array, training: Period) -> Absent | None:
    known = discharge[~np.isnan(discharge)]
    if len(known) == 0:
        return absent(Reason.NO_DISCHARGE_IN_TRAINING, basin=basin, period=str(training))
    if (known == known[0]).all():
        return absent(Reason.CONSTANT_DISCHARGE, basin=basin, flow=float(known[0]), period=str(training))
    return None


VECTORS = "vectors.table"


def whole(session: Session, tuning: FineTuningConfig) -> tuple[Version, TrainingConfig]:
    """Return the parent of a fine-tuning, and the full configuration to train."""
    parent = versions.get(session, tuning.parent)
    parent.require_members("Fine-tuning")
    if tuning.product not in (None, parent.product):
        raise InvalidInput(
            f"Version {parent.id} takes the forcing product {parent.product}, not {tuning.product}: fine-tune it with "
            f"{parent.product}, or choose a parent that takes {tuning.product}."
        )
    if (tuning.members or 0) > len(parent.members):
        raise InvalidInput(
            f"Version {parent.id} has {counted(len(parent.members), 'member')}, so {tuning.members} "
            "cannot start from them: ask "
            "for no more."
        )
    network = parent.training.network
    learns_vectors = isinstance(network, MCLSTMConfig | BucketsConfig) and network.basin_vector > 0
    if tuning.fitted == "basin_vectors" and not learns_vectors:
        raise InvalidInput(
            f"Version {parent.id} learns no vectors of basins, so only its whole network can be fitted: do so (fitted: "
            "network), or choose a parent with `basin_vector` above 0."
        )
    return parent, tuning.training(parent.training, len(parent.members))


@dataclass(frozen=True, slots=True)
class StartedTraining:
    """A training that is under way (its version is None) or finished.

    Attributes:
        twin: the training of the version that will be scored for this one's.
        shares: the weights of the version, by basin, in one that combines it with others; None where it stands alone.
        combined: the combined version that the parent is part of.
    """

    training_id: str
    config: TrainingConfig
    prepared: Prepared
    version_id: str | None
    parent: versions.Version | None
    twin: str | None = None
    owner: str | None = None
    shares: Mapping[str, float] | None = None
    combined: str | None = None

    def trains_together(self, device: str | None = None) -> bool:
        """Return whether its members can be trained side by side on a device; None: on any GPU."""
        gpu = gpu_programs()
        return gpu is not None and gpu.trains_together(self.config, device)

    @property
    def scaler(self) -> Scaler:
        """The scaler of its inputs; of a fine-tuning its parent's, for the weights are meaningless under another."""
        if self.parent is not None:
            return Scaler.from_json(self.parent.scaler)
        return Scaler.fit(self.prepared.data.forcing.over(self.config.train_period))

    @property
    def learnt_from(self) -> tuple[str, ...]:
        """The basins that it or an ancestor learns from: the parent's, then its own."""
        return tuple(dict.fromkeys([*(self.parent.basins if self.parent else ()), *self.prepared.basins]))

    @property
    def properties(self) -> VersionProperties:
        """The origin of its version: the ranges of the attributes that it or an ancestor learns from, and a tuning."""
        own = attribute_ranges(self.config.inputs.static, self.prepared.data.forcing.static)
        if self.parent is None:
            return VersionProperties(attribute_ranges=own)
        ranges = self.parent.properties.attribute_ranges
        widened = ranges and {
            name: (min(own[name][0], minimum), max(own[name][1], greatest))
            for name, (minimum, greatest) in ranges.items()
        }
        tuning = Tuning(basins=self.prepared.basins, earlier_periods=self.parent.used_periods)
        return VersionProperties(attribute_ranges=widened, tuning=tuning)

    def seed(self, member: int) -> int:
        return self.config.seed + member

    def first_weights(self, session: Session, members: Sequence[int]) -> dict[int, Tensors]:
        """Return initial weights: those that the parent uses for its member in the same place; from scratch none."""
        if self.parent is None:
            return {}
        of_parent, starts = versions.members_of(session, self.parent.id), {}
        for member in members:
            weights = weights_of(self.parent, of_parent[member])
            if VECTORS in weights:
                before = torch.as_tensor(places(sorted(self.parent.basins), self.learnt_from))
                weights[VECTORS] = with_room(weights[VECTORS], before, len(self.learnt_from))
            starts[member] = weights
        return starts


def best_nse(log_rows: Sequence[dict[str, float]]) -> float | None:
    return max((row["validation_nse"] for row in log_rows), default=None)
