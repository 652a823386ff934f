"""States that somebody hands in again."""

from typing import Any

import numpy as np
import pytest
import torch

from hydrology.base.calendar import Period, day
from models import checkpoint
from models.ensemble import ArrayMap, Ensemble
from models.forcing import Scaler
from models.networks import build
from models.saved_state import Owner, SavedState, UnusableState, dump, parse
from testing.networks import config, training_data

NOT_REACHED: Any = None
HEADER = {"form": 1, "weights": "0" * 64, "product": "daymet", "day": "2005-09-30", "spin_up_days": [400]}


@pytest.mark.parametrize("changes", [{"product": "day\x7fmet"}, {"basins": ["USGS-0101350\x1b[2J"]}])
def test_a_state_whose_names_cannot_be_shown_is_refused_without_them(changes: dict[str, object]) -> None:
    header = HEADER | {"basins": ["USGS-01013500"], "content": "0" * 64} | changes
    with pytest.raises(UnusableState, match="cannot be read") as refusal:
        parse(checkpoint.dump({}, header), Owner("0" * 64, "maurer"), NOT_REACHED)
    assert str(refusal.value).isprintable()


def an_ensemble(architecture: str) -> Ensemble:
    """Return an ensemble of one network."""
    settings = config(network={"architecture": architecture, "cells": 4})
    network = build(settings.network, settings.inputs, seed=0)
    forcing = training_data().forcing.over(Period.parse("2001-01-01..2002-12-31"))
    return Ensemble(settings, Scaler.fit(forcing), (0,), (network,), ())


def a_state(ensemble: Ensemble, value: float) -> SavedState:
    """Return a state of two basins, whose arrays hold one value."""
    empty = ensemble.networks[0].empty_state(2)
    arrays: ArrayMap = {name: np.full(values.shape, value, np.float32) for name, values in empty.items()}
    return SavedState(Owner("0" * 64, "synthetic"), ("a", "b"), day("2005-09-30"), (400, 400), [arrays])


def test_a_state_with_other_numbers_than_the_networks_is_refused() -> None:
    ensemble = an_ensemble("mclstm")
    state = a_state(ensemble, 1.0)
    assert parse(dump(state), state.owner, ensemble).basins == ("a", "b")
    tensors, header = checkpoint.parse(dump(state))
    for dtype in (torch.bfloat16, torch.float64):
        changed = checkpoint.dump({name: values.to(dtype) for name, values in tensors.items()}, header)
        with pytest.raises(UnusableState, match="does not fit the networks"):
            parse(changed, state.owner, ensemble)


def test_a_state_with_negative_water_is_refused_and_one_of_a_network_without_water_is_not() -> None:
    conserving, other = an_ensemble("mclstm"), an_ensemble("lstm")
    state = a_state(conserving, -1e-6)
    with pytest.raises(UnusableState, match="less than no water"):
        parse(dump(state), state.owner, conserving)
    state = a_state(other, -0.5)
    assert parse(dump(state), state.owner, other).basins == ("a", "b")
