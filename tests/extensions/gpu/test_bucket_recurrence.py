"""The Triton kernels of buckets follow the equations, forward and backward, for one member and for several at once."""

import pytest
import torch

from extensions.gpu.nets import bucket_recurrence
from models.contract import Outputs
from models.nets import bucket_scan
from models.nets.bucket_scan import STORES, UNDERWAY, Constants, Drivers, Flow
from models.nets.buckets import Buckets
from testing.networks import AUXILIARY, STATIC, inputs
from tests.models.nets.test_bucket_scan import Arguments, arguments, assert_the_equations, flooded

pytestmark = pytest.mark.extended


@pytest.mark.parametrize(("components", "samples"), [(1, 1), (3, 2), (2, 41)])
def test_the_kernels_days_and_gradients_are_those_of_the_equations(components: int, samples: int) -> None:
    assert_the_equations(arguments(14, components, samples, 1), 1, bucket_recurrence)


@pytest.mark.parametrize("seed", range(2))
def test_they_are_where_the_soil_holds_more_than_its_capacity(seed: int) -> None:
    assert_the_equations(flooded(arguments(6, 3, 3, seed)), seed, bucket_recurrence)


def test_discharge_alone_has_the_same_gradients() -> None:
    given = arguments(12, 3, 2, 4)
    found = []
    for program in (bucket_recurrence, bucket_scan):
        leaves = [values.clone().requires_grad_() for values in (*given[0], *given[1], *given[2:])]
        count = len(given[0])
        flow = program.scan(Drivers(*leaves[:count]), Constants(*leaves[count:-2]), *leaves[-2:])
        found.append(torch.autograd.grad(flow.discharge.square().sum(), leaves))
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-9)


def test_a_sample_has_the_same_bits_alone_and_among_others() -> None:
    drivers, constants, routing, cells = arguments(9, 3, 40, 5)
    whole = bucket_recurrence.scan(drivers, constants, routing, cells)
    of_one = (Drivers(*(values[..., 33:34] for values in drivers)), Constants(*(of[:, 33:34] for of in constants)))
    alone = bucket_recurrence.scan(*of_one, routing[..., 33:34], cells[:, 33:34])
    stores = slice(UNDERWAY, UNDERWAY + len(STORES) * 3)
    assert torch.equal(alone.storage[:, stores, 0], whole.storage[:, stores, 33])


def test_days_go_on_from_the_water_that_they_left() -> None:
    drivers, constants, routing, cells = arguments(16, 2, 3, 6)
    whole = bucket_recurrence.scan(drivers, constants, routing, cells)
    halves = [Drivers(*(values[some] for values in drivers)) for some in (slice(0, 7), slice(7, 16))]
    first = bucket_recurrence.scan(halves[0], constants, routing, cells)
    second = bucket_recurrence.scan(halves[1], constants, routing, first.storage[-1])
    for wanted, *parts in zip(whole, first, second, strict=True):
        torch.testing.assert_close(torch.cat(parts), wanted, rtol=1e-12, atol=1e-12)


def test_members_at_once_are_each_alone() -> None:
    members: list[Arguments] = [arguments(10, 2, 3, seed) for seed in range(3)]

    def run(drivers: tuple[torch.Tensor, ...], *given: object) -> Flow:
        constants, routing, cells = given
        return bucket_recurrence.scan(Drivers(*drivers), Constants(*constants), routing, cells)  # type: ignore[misc, arg-type]

    stacked = [
        tuple(torch.stack(of) for of in zip(*parts, strict=True)) if isinstance(parts[0], tuple) else torch.stack(parts)
        for parts in zip(*members, strict=True)
    ]
    together = torch.vmap(run)(*stacked)
    for member, given in enumerate(members):
        for one, other in zip(together, bucket_recurrence.scan(*given), strict=True):
            torch.testing.assert_close(one[member], other, rtol=1e-12, atol=1e-12)


def test_a_network_of_buckets_runs_by_them() -> None:
    drive, found = inputs(9, 3), list[Outputs]()
    for program in ("triton", "torch"):
        torch.manual_seed(2)
        network = Buckets(AUXILIARY, STATIC, 2, 8, 4, antecedent_days=(3.0,), recurrence=program).double()
        outputs, last = network(drive)
        found.append({**outputs, **last})
    for name, wanted in found[1].items():
        torch.testing.assert_close(found[0][name], wanted, rtol=1e-10, atol=1e-10)
