"""The streams follow the task, and a training that is stopped goes on to the same end."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.papers.plan import Checkpoint
from benchmarks.papers.xor import Parity, Size, Streams, Training, streams

pytestmark = pytest.mark.extended

TINY = Size(bits=5, streams=600, held_out=100, tests=200, epochs=6, stop_at=2.0, patience=1, seeds=1)


def streams_of(events: bool, seed: int = 0, bits: int = 32) -> Streams:
    return streams(300, bits, events=events, random=np.random.default_rng(seed))


def decoded(stream: Streams, row: int, bits: int) -> list[int]:
    """Return the bits that an event-coded stream stands for: before each step, as many of the last bit as passed."""
    values: list[int] = []
    for x, elapsed in zip(stream.x[row].tolist(), stream.elapsed[row].tolist(), strict=True):
        passed = round(elapsed * bits)
        if passed:
            values += [int(values[-1])] * (passed - 1) if values else []
            values.append(int(x))
    return values


@given(bits=st.integers(3, 40), seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_both_codings_stand_for_the_same_bits(bits: int, seed: int) -> None:
    dense, coded = streams_of(False, seed, bits), streams_of(True, seed, bits)
    assert torch.equal(dense.odd, coded.odd)
    for row in range(50):
        values = dense.x[row, : dense.bits[row]].int().tolist()
        assert decoded(coded, row, bits) == values
        assert sum(values) % 2 == dense.odd[row]


def test_lengths_bits_and_classes_are_fair() -> None:
    many = streams(20_000, 32, events=False, random=np.random.default_rng(1))
    counts = torch.bincount(many.bits)
    assert counts[:2].sum() == 0
    assert len(counts) == 32
    assert counts[2:].min() > 500
    assert float(many.odd.float().mean()) == pytest.approx(0.5, abs=0.02)
    assert float(many.x.sum() / many.bits.sum()) == pytest.approx(0.5, abs=0.01)


def test_a_dense_step_is_a_bit_and_an_event_is_a_change_or_an_end() -> None:
    dense, coded = streams_of(False), streams_of(True)
    assert torch.equal(dense.steps, dense.bits)
    assert (dense.elapsed[dense.x.new_tensor(range(32)).lt(dense.steps.unsqueeze(1))] == 1 / 32).all()
    for row in range(50):
        steps = int(coded.steps[row])
        x = coded.x[row, :steps].tolist()
        assert all(one != other for one, other in pairwise(x[:-1]))
        assert coded.elapsed[row, 0] == 1 / 32
        assert float(coded.elapsed[row].sum()) * 32 == pytest.approx(int(coded.bits[row]))


def test_the_answer_does_not_hang_on_the_padding() -> None:
    torch.manual_seed(0)
    network, batch = Parity(), streams_of(True)
    shortest = torch.argsort(batch.steps)[:1]
    with torch.no_grad():
        alone = network(batch.take(shortest))
        among = network(batch)[shortest]
    torch.testing.assert_close(alone, among, rtol=1e-4, atol=1e-5)


def test_batches_hold_every_chosen_stream_once() -> None:
    all_streams = streams(2000, 32, events=True, random=np.random.default_rng(2))
    chosen = torch.arange(0, 2000, 2)
    batches = all_streams.batches(chosen)
    assert sum(len(batch.odd) for batch in batches) == 1000
    assert sum(int(batch.odd.sum()) for batch in batches) == int(all_streams.odd[chosen].sum())
    assert all(batch.x.shape[1] == int(batch.steps.max()) for batch in batches)


def test_it_goes_on_from_a_checkpoint_to_the_same_end(tmp_path: Path) -> None:
    straight, first, second = (Training(TINY, 3, events=True) for _ in range(3))
    while not straight.finished:
        straight.epoch()
    for _ in range(2):
        first.epoch()
    first.save(Checkpoint(tmp_path / "checkpoint"))
    second.restore(Checkpoint(tmp_path / "checkpoint"))
    while not second.finished:
        second.epoch()
    for one, other in zip(straight.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(one, other)
    assert straight.test() == second.test()
    assert (straight.progress.updates, straight.progress.longest) == (second.progress.updates, second.progress.longest)


def test_parity_of_short_streams_is_learnt() -> None:
    size = Size(bits=5, streams=2000, held_out=200, tests=500, epochs=80, stop_at=0.999, patience=1, seeds=1)
    training = Training(size, 0, events=False)
    while not training.finished:
        training.epoch()
    assert training.test() >= 0.99
