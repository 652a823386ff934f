"""A training that needs more memory than it may use is refused by a sentence that names what would fit."""

import re
from typing import Any

import pytest

from jobspec.jobs import training
from jobspec.network import ARCHITECTURES, CONFIGS, sized
from jobspec.training import TrainingConfig

GIB = 2**30
NETWORKS: list[dict[str, Any]] = [sized(name, 16) for name in ARCHITECTURES]


def config(network: dict[str, Any], spinup: int = 365, loss: int = 365, batch: int = 128) -> TrainingConfig:
    return TrainingConfig.model_validate(
        {
            "network": network,
            "inputs": {"product": "maurer_extended"},
            "train_period": "1999-10-01..2008-09-30",
            "windows": {"spinup_days": spinup, "loss_days": loss, "batch": batch},
        }
    )


@pytest.mark.parametrize(
    ("network", "windows", "mebibytes"),
    [  # what a process took in two steps, with 26 attributes and 5 series
        (sized("mclstm", 8), (365, 365, 128), 583),
        (sized("mclstm", 128), (365, 365, 128), 765),
        ({"architecture": "mclstm", "cells": 32, "embedding": 0, "basin_vector": 0}, (365, 365, 128), 457),
        ({"architecture": "mclstm", "cells": 256, "rank": 0}, (30, 30, 4), 1092),
        (sized("mclstm", 512), (200, 200, 32), 666),
        (sized("lstm", 64), (365, 365, 128), 851),
        (sized("lstm", 256), (365, 365, 128), 1846),
        (sized("ealstm", 128), (365, 365, 128), 1178),
        (sized("gru", 128), (365, 365, 128), 1094),
        (sized("eins", 128), (365, 365, 128), 1136),
        (sized("mmrnn", 128), (365, 365, 128), 2978),
        (sized("buckets", 4), (365, 365, 128), 635),
        (sized("buckets", 16), (365, 365, 128), 1010),
    ],
)
def test_the_estimate_is_within_a_factor_of_two_of_what_was_measured(
    network: dict[str, Any], windows: tuple[int, int, int], mebibytes: int
) -> None:
    estimate = training.bytes_needed(config(network, *windows)) / 2**20
    assert mebibytes / 2 < estimate < mebibytes * 2


def test_more_of_anything_needs_more_and_the_batch_that_is_named_fits() -> None:
    for network in NETWORKS:
        size = CONFIGS[network["architecture"]].size
        one = training.bytes_needed(config(network))
        for more in (
            config(network, spinup=730),
            config(network, loss=730),
            config(network, batch=256),
            config(network | {size: 32}),
        ):
            assert training.bytes_needed(more) > one
        for large in (
            config(network, batch=100_000),
            config(network, loss=36_525, batch=1000),
            config(network | {size: 64}, 1000, 1000, 2000),
        ):
            with pytest.raises(training.TrainingTooLarge, match=r"windows\.spinup_days") as refused:
                training.require_memory(large, 4 * GIB)
            assert f"network.{size}" in str(refused.value)
            batch = re.search("batch ([0-9]+) would fit", str(refused.value))
            assert batch is not None
            windows = large.windows.model_copy(update={"batch": int(batch[1])})
            training.require_memory(large.model_copy(update={"windows": windows}), 4 * GIB)


def test_the_largest_networks_in_long_windows_are_refused_and_the_defaults_are_not() -> None:
    for network in NETWORKS:
        training.require_memory(config({"architecture": network["architecture"]}, batch=32), 4 * GIB)
    for name in ("mclstm", "lstm", "eins", "mmrnn"):
        with pytest.raises(training.TrainingTooLarge):
            training.require_memory(config(sized(name, 512), 1000, 1000, 400), 4 * GIB)
    with pytest.raises(training.TrainingTooLarge, match="no batch fits"):
        training.require_memory(config({"architecture": "mclstm", "cells": 512, "rank": 0}, batch=1), 4 * GIB)
