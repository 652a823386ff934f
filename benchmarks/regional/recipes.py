"""The recipes that were tried, by name: what each changes of the defaults of a training."""

from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.regional.data import FUSED, PRODUCT, PRODUCTS, TRAINING, basins
from benchmarks.regional.sources import fused
from jobspec.network import LATITUDE, sized
from jobspec.training import SEEN_ATTRIBUTES, STATIC_ATTRIBUTES, TrainingConfig, sequence_to_one

SUBSET = 11  # every 11th basin is in the 40 of the comparison with sequence-to-one


@dataclass(frozen=True, slots=True)
class Recipe:
    """A training of one member.

    Attributes:
        settings: what is not as by default.
        every: the step between the basins that it takes of the 447.
        hours: of a core for its steps, after which it stops.
        product: the forcing product; its basins and its validation period come with it.
        attributes: of the basins, that it sees.
        auxiliary: series that it sees besides precipitation.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    every: int = 1
    hours: float | None = None
    product: str = PRODUCT
    attributes: tuple[str, ...] = STATIC_ATTRIBUTES
    auxiliary: tuple[str, ...] = fused.OTHERS

    @property
    def basins(self) -> list[str]:
        """The basins that it learns from."""
        return basins(self.product)[self.every - 1 :: self.every]

    def config(self, **changes: Any) -> TrainingConfig:
        """Return the configuration of its training."""
        fixed = {
            "inputs": {"product": self.product, "static": self.attributes, "auxiliary": self.auxiliary},
            "train_period": TRAINING,
            "validation_period": PRODUCTS[self.product].validation,
            "validate_every": 250,
            "checkpoint_every": 50,
        }
        return TrainingConfig.model_validate(fixed | self.settings | changes)


BEFORE = {"rank": 0, "basin_vector": 0, "antecedent_days": ()}
"""The network before R was factorised, basins had vectors and the gates saw the past weather."""


def _network(cells: int, **fields: Any) -> dict[str, Any]:
    return {"architecture": "mclstm", "cells": cells, **BEFORE, **fields}


def _mclstm(cells: int, steps: int, **network: Any) -> dict[str, Any]:
    return {
        "network": _network(cells, **network),
        "schedule": {"kind": "cosine", "steps": steps},
        "weight_decay": 0.0,
        "expectile": 0.58,
    }


def _sequence_to_one(cells: int) -> dict[str, Any]:
    changes = {"network": _network(cells), "weight_decay": 0.0, "expectile": 0.58, "validate_every": 100}
    return sequence_to_one() | changes


def _members(steps: int = 3000, **fields: Any) -> dict[str, Any]:
    """Return a training by the defaults of today."""
    return {"schedule": {"kind": "cosine", "steps": steps}} | fields


def _buckets(**network: Any) -> dict[str, Any]:
    return _members(network={"architecture": "buckets", **network})


COMPARED = {"lstm": 10, "eins": 5, "mmrnn": 5}
"""The networks of the comparison, and the members of their ensembles."""
CELLS = {"lstm": 256, "eins": 128, "mmrnn": 64}
"""Of the networks of the comparison: the LSTM's as published [K19], the others' by default."""
PEAK_RATES = {"slow": 0.003, "fast": 0.01}
"""What was tried of each with its default cells."""
CHOSEN_RATES = {"lstm": "fast", "eins": "fast", "mmrnn": "slow"}
"""The better in the validation years; of mmRNN the lower, for at the higher one some seeds diverge."""


def _at_rate(rate: float, steps: int, **fields: Any) -> Recipe:
    """Return a recipe for a network of the comparison at a peak rate."""
    return Recipe(_members(schedule={"kind": "cosine", "steps": steps, "peak_learning_rate": rate}, **fields))


VECTORS = {"rank": 16, "basin_vector": 32}

UNSEEN_IN_TURN = ((), ("past_weather",), ("embedding",))
"""What the gates of the members of an ensemble do without, in turn, so that their errors differ."""

RECIPES = {
    # The parts of `freshet-us`: members of two networks on two products, without the basin's area.
    "us-maurer": Recipe(_members(unseen=UNSEEN_IN_TURN), attributes=SEEN_ATTRIBUTES),
    "us-daymet": Recipe(_members(unseen=UNSEEN_IN_TURN), product="daymet", attributes=SEEN_ATTRIBUTES),
    "us-maurer-buckets": Recipe(_buckets(), attributes=(*SEEN_ATTRIBUTES, LATITUDE)),
    "us-daymet-buckets": Recipe(_buckets(), product="daymet", attributes=(*SEEN_ATTRIBUTES, LATITUDE)),
    # The same on the mean of both.
    "us-fused-buckets": Recipe(_buckets(), product=FUSED, attributes=(*SEEN_ATTRIBUTES, LATITUDE)),
    # One network on both products: its rain is their mean.
    **{
        f"{name}-{shift}": Recipe(settings, product=f"fused-{shift}", attributes=attributes, auxiliary=auxiliary)
        for shift in fused.SHIFTS
        for name, settings, attributes, auxiliary in (
            ("fused", _members(unseen=UNSEEN_IN_TURN), SEEN_ATTRIBUTES, fused.BOTH_RAINS),
            ("fused-buckets", _buckets(), (*SEEN_ATTRIBUTES, LATITUDE), fused.BOTH),
        )
    },
    # Buckets with half of the loss on the logarithm of flow, for low flows; that see the means of both products alone;
    # that see their basins' vectors less.
    **{
        f"fused-buckets-{name}": Recipe(
            settings, product="fused-unshifted", attributes=(*SEEN_ATTRIBUTES, LATITUDE), auxiliary=auxiliary
        )
        for name, settings, auxiliary in (
            ("log", _buckets() | {"log_share": 0.5}, fused.BOTH),
            ("means", _buckets(), fused.OTHERS),
            ("drop", _buckets(vector_dropout=0.5), fused.BOTH),
        )
    },
    # An LSTM on the same, which may make and lose water.
    "fused-lstm": replace(
        _at_rate(PEAK_RATES["fast"], 3000, network={"architecture": "lstm"}, validate_every=500),
        product="fused-unshifted",
        attributes=SEEN_ATTRIBUTES,
        auxiliary=fused.BOTH_RAINS,
    ),
    "fused-means": Recipe(
        _members(unseen=UNSEEN_IN_TURN), product="fused-unshifted", attributes=SEEN_ATTRIBUTES, auxiliary=fused.OTHERS
    ),
    # What the members of the shipped ensemble are trained by. Frozen before they are scored in the test years.
    "members": Recipe(_members(unseen=UNSEEN_IN_TURN)),
    # The same on another product's weather, in the basins that it covers.
    "daymet": Recipe(_members(), product="daymet"),
    # Buckets, alone, without the basin's area and with it.
    "buckets": Recipe(_buckets(), attributes=(*SEEN_ATTRIBUTES, LATITUDE)),
    "buckets-with-area": Recipe(_buckets(), attributes=(*STATIC_ATTRIBUTES, LATITUDE)),
    "static-buckets": Recipe(_buckets(embedding=0), attributes=(*SEEN_ATTRIBUTES, LATITUDE)),
    # Towards networks that pass the examination in physics.
    "no-area": Recipe(_members(), attributes=SEEN_ATTRIBUTES),
    "linear": Recipe(_members(unseen=(("rain", "water"),))),
    "monotone": Recipe(_members(unseen=(("rain", "water"),), network={"wetness": True})),
    # What those of the ensembles before were.
    "first-members": Recipe(_mclstm(64, 3000)),
    "second-members": Recipe(_members(expectile=0.58)),
    "no-past-weather": Recipe(_members(expectile=0.58, unseen=(("past_weather",),))),
    "no-embedding": Recipe(_members(expectile=0.58, unseen=(("embedding",),))),
    "no-decay": Recipe(_members(expectile=0.58, weight_decay=0.0)),
    "expectile-50": Recipe(_members(expectile=0.5)),
    # The networks of the comparison, and the trials that chose their rates.
    **{
        f"{architecture}-{name}": _at_rate(rate, 1500, network={"architecture": architecture})
        for architecture in COMPARED
        for name, rate in PEAK_RATES.items()
    },
    # On a graphics card all members are validated at once, so less often.
    **{
        architecture: _at_rate(
            PEAK_RATES[rate], 3000, network=sized(architecture, CELLS[architecture]), validate_every=500
        )
        for architecture, rate in CHOSEN_RATES.items()
    },
    "vectors-64": Recipe(_mclstm(64, 3000, **VECTORS)),
    "vectors-32": Recipe(_mclstm(32, 3000, **VECTORS)),
    "vectors-decay-32": Recipe(_mclstm(32, 3000, **VECTORS) | {"weight_decay": 0.1}),
    "antecedent-60-days-32": Recipe(_members(expectile=0.58, network={"antecedent_days": (3.0, 15.0, 60.0)})),
    "antecedent-embedding-32": Recipe(_members(expectile=0.58, network={"embedding": 32})),
    "published-gates-32": Recipe(_mclstm(32, 3000, embedding=0)),
    "published-gates-64": Recipe(_mclstm(64, 3000, embedding=0)),
    "embedding-32": Recipe(_mclstm(32, 3000)),
    "expectile-50-32": Recipe(_mclstm(32, 3000) | {"expectile": 0.5}),
    # Ten members of it were scored beside the stored ones.
    "expectile-52": Recipe(_mclstm(64, 3000) | {"expectile": 0.52}),
    "expectile-66-32": Recipe(_mclstm(32, 3000) | {"expectile": 0.66}),
    "subset-windows-32": Recipe(_mclstm(32, 3000), every=SUBSET),
    "subset-sequence-to-one-32": Recipe(_sequence_to_one(32), every=SUBSET, hours=0.3),
}
