"""A configuration that is stored with weights is read as it was written."""

import pytest
from pydantic import ValidationError

from jobspec.training import TrainingConfig

ASKED = {"inputs": {"product": "any"}, "train_period": "2001-01-01..2002-12-31"}


def test_a_stored_configuration_is_read_as_it_was_written() -> None:
    new = TrainingConfig.model_validate(ASKED)
    assert TrainingConfig.model_validate(new.model_dump(mode="json")) == new


@pytest.mark.parametrize("network", [None, 3, [], {"architecture": 3}, {"architecture": "mclstm", "cells": "many"}])
def test_what_is_not_a_configuration_is_refused(network: object) -> None:
    stored = TrainingConfig.model_validate(ASKED).model_dump(mode="json") | {"network": network}
    with pytest.raises(ValidationError):
        TrainingConfig.model_validate(stored)
