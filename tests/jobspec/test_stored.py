"""A configuration that is stored with weights is read as it was written."""

import pytest
from pydantic import ValidationError

from benchmarks.regional.recipes import RECIPES
from jobspec.training import TrainingConfig
from models.pretrained import SHELF
from models.pretrained.form import read

ASKED = {"inputs": {"product": "any"}, "train_period": "2001-01-01..2002-12-31"}


def test_a_stored_configuration_is_read_as_it_was_written() -> None:
    new = TrainingConfig.model_validate(ASKED)
    assert TrainingConfig.model_validate(new.model_dump(mode="json")) == new


def test_the_shipped_ensemble_is_still_what_its_recipe_trains() -> None:
    shipped = read(SHELF / "mclstm-maurer-447").description
    assert shipped.config == RECIPES["members"].config(members=10)


@pytest.mark.parametrize("network", [None, 3, [], {"architecture": 3}, {"architecture": "mclstm", "cells": "many"}])
def test_what_is_not_a_configuration_is_refused(network: object) -> None:
    stored = TrainingConfig.model_validate(ASKED).model_dump(mode="json") | {"network": network}
    with pytest.raises(ValidationError):
        TrainingConfig.model_validate(stored)
