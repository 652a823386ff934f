"""Settings stored by an older Freshet are read with their old meaning."""

import pytest
from pydantic import TypeAdapter, ValidationError

from benchmarks.regional.recipes import RECIPES
from jobspec.network import MCLSTMConfig
from jobspec.training import StoredTraining, TrainingConfig
from models.pretrained import SHELF
from models.pretrained.form import read

ASKED = {"inputs": {"product": "any"}, "train_period": "2001-01-01..2002-12-31"}


def test_a_new_training_and_one_from_before_differ_by_what_is_new() -> None:
    new = TrainingConfig.model_validate(ASKED)
    stored = new.model_dump(mode="json")
    assert TrainingConfig.from_stored(stored) == new
    network = {name: value for name, value in stored["network"].items() if name in ("architecture", "cells")}
    old = TrainingConfig.from_stored(
        {name: value for name, value in stored.items() if name != "weight_decay"} | {"network": network}
    )
    assert isinstance(old.network, MCLSTMConfig)
    assert (old.network.rank, old.network.basin_vector, old.network.antecedent_days) == (0, 0, ())
    assert (old.weight_decay, new.weight_decay) == (0.0, 0.1)


def test_an_old_training_validated_on_its_own_days_can_still_be_read() -> None:
    stored = TrainingConfig.model_validate(ASKED).model_dump(mode="json")
    stored["validation_period"] = ASKED["train_period"]
    config = TrainingConfig.from_stored(stored)
    assert config.validation_period == config.train_period
    assert TypeAdapter(StoredTraining).validate_python(stored) == config
    with pytest.raises(ValidationError, match="choose periods apart"):
        TrainingConfig.model_validate(stored)


def test_the_shipped_ensemble_is_still_what_its_recipe_trains() -> None:
    shipped = read(SHELF / "mclstm-maurer-447").description
    assert shipped.config == RECIPES["members"].config(members=10)


@pytest.mark.parametrize("network", [None, 3, [], {"architecture": 3}, {"architecture": "mclstm", "cells": "many"}])
def test_an_invalid_configuration_is_still_refused(network: object) -> None:
    stored = TrainingConfig.model_validate(ASKED).model_dump(mode="json") | {"network": network}
    with pytest.raises(ValidationError):
        TrainingConfig.from_stored(stored)
