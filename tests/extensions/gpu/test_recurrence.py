"""The Triton kernels follow the equations, forward, backward and with tags."""

import pytest
import torch

from models.contract import Inputs
from models.nets.mclstm import MCLSTM
from testing.networks import inputs, kill_columns, network
from tests.models.nets.test_mclstm import worst_residual
from tests.models.nets.test_tags import run, tagged

pytestmark = pytest.mark.extended

SHAPES = [  # cells, rank, wetness, dead sources
    (2, 0, False, 0),
    (5, 3, False, 2),
    (5, 0, True, 1),
    (16, 17, True, 0),
    (40, 8, True, 2),  # whose U does not fit in the registers
]


def pair(cells: int, rank: int, wetness: bool, dead: int, dtype: torch.dtype = torch.float64) -> list[MCLSTM]:
    """Return the same network twice: by the kernels, and by the plain equations."""
    nets = [
        network(cells, dtype=dtype, recurrence=program, rank=rank, wetness=wetness, antecedent_days=(3.0, 60.0))
        for program in ("triton", "plain")
    ]
    for net in nets:
        kill_columns(net, list(range(dead)))
    return nets


@pytest.mark.parametrize(("cells", "rank", "wetness", "dead"), SHAPES)
def test_the_kernels_equal_the_equations_forwards_and_backwards(
    cells: int, rank: int, wetness: bool, dead: int
) -> None:
    found = []
    for net in pair(cells, rank, wetness, dead):
        drive = inputs(4, 2)
        weights = torch.linspace(0.1, 9, 2 * cells, dtype=torch.float64).reshape(2, cells).requires_grad_()
        outputs, last = net(drive, net.empty_state(2) | {"c": weights})
        loss = outputs["discharge"].square().sum() + outputs["loss"].pow(3).sum() + last["c"].sin().sum()
        gradients = torch.autograd.grad(loss, [*net.parameters(), weights])
        found.append({**outputs, **last, **{str(at): gradient for at, gradient in enumerate(gradients)}})
    for name, wanted in found[1].items():
        atol = 1e-10 * float(wanted.detach().abs().max())
        torch.testing.assert_close(found[0][name], wanted, rtol=1e-10, atol=atol)


@pytest.mark.parametrize(("cells", "rank", "wetness", "dead"), SHAPES[1:4])
def test_float32_is_within_its_rounding_of_the_equations(cells: int, rank: int, wetness: bool, dead: int) -> None:
    kernels, plain = pair(cells, rank, wetness, dead, torch.float32)
    plain = plain.double()
    drive, exact = inputs(12, 2, dtype=torch.float32), inputs(12, 2)
    gradients = []
    for net, given in ((kernels, drive), (plain, exact)):
        outputs, _ = net(given)
        net.zero_grad()
        outputs["discharge"].square().mean().backward()
        gradients.append([outputs["discharge"], *(weights.grad for weights in net.parameters())])
    for one, other in zip(*gradients, strict=True):
        assert (one - other).abs().max() <= 2e-6 * other.abs().max()


def test_gradcheck() -> None:
    net = network(2, seed=3, recurrence="triton", embedding=0, rank=1, wetness=True)
    kill_columns(net, [1])
    drive = inputs(2, 1, seed=4)
    start = torch.rand(1, 2, dtype=torch.float64) * 5 + 0.5
    names = [name for name, _ in net.named_parameters()]

    def run_days(c: torch.Tensor, *weights: torch.Tensor) -> list[torch.Tensor]:
        given = (Inputs(drive.mass, drive.auxiliary, drive.static), {"c": c})
        outputs, last = torch.func.functional_call(net, dict(zip(names, weights, strict=True)), given)
        return [outputs["discharge"], outputs["loss"], last["c"]]

    leaves = [start, *(weights.detach() for weights in net.parameters())]
    # In one direction at random: the equations, to which the kernels are equal, are checked in each.
    assert torch.autograd.gradcheck(run_days, [leaf.requires_grad_() for leaf in leaves], fast_mode=True)


@pytest.mark.parametrize(("cells", "rank", "dead"), [(5, 3, 2), (5, 0, 5), (16, 17, 0)])
def test_water_is_conserved_in_float32(cells: int, rank: int, dead: int) -> None:
    net, _ = pair(cells, rank, True, dead, torch.float32)
    assert worst_residual(net, inputs(60, 2, dtype=torch.float32), torch.rand(2, cells) * 100) <= 1e-6


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the interpreter, where a card is silent
@pytest.mark.parametrize("saturated", [-1e4, 1e4])
def test_extreme_gates_stay_finite(saturated: float) -> None:
    net, _ = pair(6, 3, True, 0, torch.float32)
    with torch.no_grad():
        net.input_gate.bias.fill_(saturated)
        net.output_gate.bias.fill_(saturated)
    assert worst_residual(net, inputs(20, 1, dtype=torch.float32), torch.ones(1, 6)) <= 1e-5


@pytest.mark.parametrize(("cells", "rank", "wetness", "dead"), SHAPES)
def test_tags_are_routed_by_the_equations(cells: int, rank: int, wetness: bool, dead: int) -> None:
    kernels, plain = pair(cells, rank, wetness, dead)
    drive, state = tagged(plain, 4, 2)
    state |= {"weather": plain.empty_state(2)["weather"]}
    (outputs, last), (wanted, wanted_last) = run(kernels, drive, state), run(plain, drive, state)
    for name in ("discharge_by_tag", "loss_by_tag"):
        torch.testing.assert_close(outputs[name], wanted[name], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(last["tags"], wanted_last["tags"], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(outputs["discharge_by_tag"].sum(-1), outputs["discharge"], rtol=1e-13, atol=0)
