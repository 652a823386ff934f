"""Members that are trained side by side on a GPU are those that are trained alone, whatever happens to the GPU."""

from pathlib import Path

import pytest

from jobspec.network import LATITUDE
from jobspec.training import FineTuningConfig, InputsConfig
from models.devices import GPULost, GPUTooSmall
from models.training import Progress
from operations.training.train import begin
from records.database.engine import Database
from records.versions import trainings, versions
from testing.country import BASINS, CLOCK, FIRST, configuration
from testing.records import list_trainings
from testing.training import train
from testing.work import work_of
from tests.extensions.gpu.fake_gpu import FakeGPU, fake_gpu

pytestmark = pytest.mark.extended

DEVICE = "cuda:0"
PERIODS = {"train_period": "2001-10-01..2003-09-30", "validation_period": "2003-10-01..2004-09-30"}


class StoppedHereError(Exception):
    """Stands for somebody who stops the training."""


def hash_of(database: Database, version: str) -> str:
    """Return the hash of a version's weights."""
    with database.reading() as session:
        return versions.get(session, version).weights_hash


def steps_of_checkpoints(database: Database, members: int) -> list[int | None]:
    """Return the step of each member's newest checkpoint."""
    with database.reading() as session:
        (running,) = list_trainings(session, status="running")
        found = [trainings.checkpoint(session, running.id, member) for member in range(members)]
    return [None if checkpoint is None else checkpoint.step for checkpoint in found]


@fake_gpu
def test_side_by_side_they_are_those_trained_alone(trained_store: Database, gpu: FakeGPU) -> None:
    del gpu
    steps: dict[int, list[int]] = {0: [], 1: []}
    done = train(
        work_of(trained_store, CLOCK),
        configuration(checkpoint_every=2),  # another request, the same weights
        BASINS,
        device=DEVICE,
        on_progress=lambda member, progress: steps[member].append(progress.step),
    )
    assert steps == {0: [2, 4, 6, 8], 1: [2, 4, 6, 8]}
    with trained_store.reading() as session:
        whole, version = versions.newest(session), versions.get(session, done.version_id)
        members = versions.members_of(session, done.version_id)
        first = next(one for one in versions.list_versions(session) if one.id != done.version_id)
    assert whole.id == version.id
    assert version.weights_hash == first.weights_hash
    assert [(member.label, member.seed, member.log["device"]) for member in members] == [(0, 0, DEVICE), (1, 1, DEVICE)]
    assert {len(member.log["validation"]) for member in members} == {2}


@fake_gpu
def test_members_that_do_not_fit_together_are_trained_in_smaller_groups(
    trained_store: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", FakeGPU.build(tmp_path / "gpu", members=2).path)
    sentences: list[str] = []
    changes = {"members": 5, "seed": 3}
    done = train(
        work_of(trained_store, CLOCK), configuration(**changes), BASINS, device=DEVICE, on_split=sentences.append
    )
    assert [sentence.partition(": ")[2] for sentence in sentences] == [
        "they are trained in groups of 3 and 2.",
        "they are trained in groups of 2 and 1.",
    ]
    assert "The memory of cuda:0 does not suffice for 5 members side by side" in sentences[0]
    whole = train(work_of(trained_store, CLOCK), configuration(checkpoint_every=2, **changes), BASINS)
    assert hash_of(trained_store, done.version_id) == hash_of(trained_store, whole.version_id)


@fake_gpu
def test_where_not_even_one_member_fits_the_cpu_can_train(
    trained_store: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", FakeGPU.build(tmp_path / "gpu", members=0).path)
    config = configuration(seed=3)
    with pytest.raises(GPUTooSmall, match="does not suffice for one member"):
        train(work_of(trained_store, CLOCK), config, BASINS, device=DEVICE)
    assert not train(work_of(trained_store, CLOCK), config, BASINS).already


@fake_gpu
@pytest.mark.parametrize("then", ["cpu", DEVICE])
@pytest.mark.parametrize("cause", ["the GPU is lost", "somebody stops it"])
def test_a_training_that_a_gpu_leaves_goes_on_to_the_same_weights(
    trained_store: Database, gpu: FakeGPU, cause: str, then: str
) -> None:
    config, expected = configuration(checkpoint_every=2), GPULost if cause == "the GPU is lost" else StoppedHereError

    def end(_member: int, progress: Progress) -> None:
        if progress.step == 4:
            if expected is StoppedHereError:
                raise StoppedHereError
            gpu.lose()

    with pytest.raises(expected):
        train(work_of(trained_store, CLOCK), config, BASINS, device=DEVICE, on_progress=end)
    assert steps_of_checkpoints(trained_store, 2) == [4, 4]
    (gpu.folder / "lost").unlink(missing_ok=True)

    seen: list[int] = []
    train(
        work_of(trained_store, CLOCK), config, BASINS, device=then, on_progress=lambda _member, at: seen.append(at.step)
    )
    assert min(seen) > 4
    with trained_store.reading() as session:
        first, second = versions.list_versions(session)
    assert first.weights_hash == second.weights_hash


@fake_gpu
def test_members_at_different_steps_go_on_together_with_those_at_theirs(trained_store: Database, gpu: FakeGPU) -> None:
    del gpu
    config = configuration(checkpoint_every=2)

    def stop(member: int, progress: Progress) -> None:
        if (member, progress.step) == (0, 5):
            raise StoppedHereError

    with pytest.raises(StoppedHereError):
        train(work_of(trained_store, CLOCK), config, BASINS, on_progress=stop)
    assert sorted(map(str, steps_of_checkpoints(trained_store, 2))) == ["5", "None"]
    train(work_of(trained_store, CLOCK), config, BASINS, device=DEVICE)
    with trained_store.reading() as session:
        first, second = versions.list_versions(session)
    assert first.weights_hash == second.weights_hash


@fake_gpu
@pytest.mark.parametrize("then", ["cpu", DEVICE])
def test_a_fine_tuning_on_a_gpu_starts_from_its_parent_too(trained_store: Database, gpu: FakeGPU, then: str) -> None:
    del gpu
    with trained_store.reading() as session:
        parent = versions.newest(session).id
    steps = {"kind": "cosine", "steps": 6}
    tunings = [
        FineTuningConfig.model_validate({"parent": parent, **PERIODS, "schedule": steps, "checkpoint_every": every})
        for every in (2, 3)
    ]
    on_gpu = train(work_of(trained_store, CLOCK), tunings[0], BASINS[:2], device=DEVICE)
    other = train(work_of(trained_store, CLOCK), tunings[1], BASINS[:2], device=then)
    assert on_gpu.version_id != other.version_id
    assert hash_of(trained_store, on_gpu.version_id) == hash_of(trained_store, other.version_id)
    assert hash_of(trained_store, on_gpu.version_id) != hash_of(trained_store, parent)


@fake_gpu
@pytest.mark.parametrize(
    ("network", "together"),
    [
        ({"architecture": "mclstm", "cells": 64}, True),
        ({"architecture": "mclstm", "cells": 65}, False),
        ({"architecture": "lstm", "cells": 65}, True),
        ({"architecture": "eins", "cells": 4}, True),
        ({"architecture": "mmrnn", "cells": 4}, True),
        ({"architecture": "buckets", "components": 1}, True),
    ],
)
def test_large_mc_lstms_are_trained_member_by_member(
    trained_store: Database, network: dict[str, object], together: bool
) -> None:
    seen = InputsConfig(product=FIRST, static=("p_mean", LATITUDE))
    started = begin(work_of(trained_store, CLOCK), configuration(network=network, inputs=seen), BASINS)
    assert started.trains_together() == started.trains_together(DEVICE) == together
    assert not started.trains_together("cpu")
