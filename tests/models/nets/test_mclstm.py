"""The network conserves its water, and follows its equations."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.contract import Inputs
from models.nets.mclstm import MCLSTM
from testing.networks import inputs, kill_columns, network

RANKS = [0, 3, 17]  # of R's factors: none, fewer than a vector holds, more
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def worst_residual(net: MCLSTM, given_inputs: Inputs, start: torch.Tensor) -> float:
    """Return the largest relative error of Theorem 1 over all days and samples, summed in float64."""
    with torch.no_grad():
        outputs, _ = net(given_inputs, net.empty_state(len(start)) | {"c": start})
    water = given_inputs.mass[..., 0].double().cumsum(0) + start.double().sum(-1)
    gone = outputs["outflow"].double().sum(-1).cumsum(0)
    residual = outputs["storage"].double().sum(-1) - (water - gone)
    return float((residual.abs() / water.clamp_min(1e-9)).max())


@given(
    cells=st.integers(2, 64),
    days=st.integers(1, 60),
    samples=st.integers(1, 5),
    dead=st.integers(0, 64),
    full=st.booleans(),
    single=st.booleans(),
    seed=st.integers(0, 1000),
    rank=st.sampled_from(RANKS),
    wetness=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_water_is_conserved_never_negative_and_bounded(
    cells: int, days: int, samples: int, dead: int, full: bool, single: bool, seed: int, rank: int, wetness: bool
) -> None:
    dtype = torch.float32 if single else torch.float64
    net = network(cells, seed, dtype, rank=rank, wetness=wetness)
    kill_columns(net, list(range(min(dead, cells))))
    drive = inputs(days, samples, seed, dtype)
    start = torch.rand(samples, cells, dtype=dtype) * 100 if full else torch.zeros(samples, cells, dtype=dtype)

    assert worst_residual(net, drive, start) <= TOLERANCE[dtype]

    with torch.no_grad():
        outputs, _ = net(drive, {"c": start})
    available = drive.mass[..., 0].cumsum(0) + start.sum(-1)
    assert all((values >= 0).all() for values in outputs.values())
    assert (outputs["storage"] <= available.unsqueeze(-1) * (1 + TOLERANCE[dtype])).all()
    assert torch.allclose(outputs["discharge"] + outputs["loss"], outputs["outflow"].sum(-1))


def test_a_network_whose_every_column_is_dead_still_retains_its_water() -> None:
    net = network(8)
    kill_columns(net, list(range(8)))
    start = torch.full((2, 8), 10.0, dtype=torch.float64)
    assert worst_residual(net, inputs(400, 2), start) <= 1e-12


@given(cells=st.integers(2, 40), seed=st.integers(0, 1000), mm=st.floats(0.01, 500), kappa=st.floats(-3, 3))
@settings(max_examples=40, deadline=None)
def test_no_cell_flow_or_loss_falls_after_rain_where_only_a_cells_own_water_opens_its_gate(
    cells: int, seed: int, mm: float, kappa: float
) -> None:
    net = network(cells, seed, rank=3, antecedent_days=(3.0,), wetness=True)
    net.hide(("rain", "water"))
    assert net.wetness is not None
    drive, wetter = inputs(40, 3, seed), inputs(40, 3, seed)
    wetter.mass[10] += mm
    with torch.no_grad():
        net.wetness.fill_(kappa)
        usual, more = net(drive)[0], net(wetter)[0]
    for name in ("discharge", "loss", "outflow", "storage"):
        assert (more[name] >= usual[name] - 1e-9).all()
    returned = (more["discharge"] + more["loss"] - usual["discharge"] - usual["loss"]).cumsum(0)
    assert (returned <= mm + 1e-9).all()


@pytest.mark.parametrize("saturated", [-1e4, 1e4])
@pytest.mark.parametrize("wetness", [False, True])
def test_extreme_gates_stay_finite(saturated: float, wetness: bool) -> None:
    net = network(6, dtype=torch.float32, wetness=wetness)
    with torch.no_grad():
        net.input_gate.bias.fill_(saturated)
        net.output_gate.bias.fill_(saturated)
    assert worst_residual(net, inputs(50, 2, dtype=torch.float32), torch.ones(2, 6)) <= 1e-5


@pytest.mark.parametrize("cells", [2, 5, 16])
@pytest.mark.parametrize("dead", [0, 2])
@pytest.mark.parametrize("recurrence", ["fastest", "torch"])
@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("wetness", [False, True])
def test_the_fast_recurrences_equal_the_equations_forwards_and_backwards(
    cells: int, dead: int, recurrence: str, rank: int, wetness: bool
) -> None:
    fast = network(cells, recurrence=recurrence, rank=rank, wetness=wetness)
    plain = network(cells, recurrence="plain", rank=rank, wetness=wetness)
    for net in (fast, plain):
        kill_columns(net, list(range(dead)))
    gradients = []
    for net in (fast, plain):
        drive = inputs(9, 37)
        for tensor in (drive.mass, drive.auxiliary, drive.static):
            tensor.requires_grad_()
        start = torch.linspace(0.1, 9, 37 * cells, dtype=torch.float64).reshape(37, cells).requires_grad_()
        outputs, last = net(drive, {"c": start})
        loss = outputs["discharge"].square().sum() + outputs["loss"].pow(3).sum() + last["c"].sin().sum()
        wanted = [*net.parameters(), drive.mass, drive.auxiliary, drive.static, start]
        gradients.append([loss, *torch.autograd.grad(loss, wanted)])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10 * float(other.detach().abs().max()))


@pytest.mark.extended
@pytest.mark.parametrize("recurrence", ["fastest", "torch"])
@pytest.mark.parametrize(
    ("dead", "rank", "wetness"), [(0, 0, False), (0, 3, True), (1, 0, True), (1, 3, False), (3, 3, True)]
)
def test_gradcheck(dead: int, recurrence: str, rank: int, wetness: bool) -> None:
    net = network(4, seed=3, recurrence=recurrence, rank=rank, wetness=wetness)
    kill_columns(net, list(range(dead)))
    drive = inputs(5, 2, seed=4)
    start = torch.rand(2, 4, dtype=torch.float64) * 5 + 0.5
    names = [name for name, _ in net.named_parameters()]

    def run(mass: torch.Tensor, auxiliary: torch.Tensor, c: torch.Tensor, *weights: torch.Tensor) -> list[torch.Tensor]:
        given_inputs = (Inputs(mass, auxiliary, drive.static), {"c": c})
        outputs, last = torch.func.functional_call(net, dict(zip(names, weights, strict=True)), given_inputs)
        return [outputs["discharge"], outputs["loss"], last["c"]]

    leaves = [drive.mass, drive.auxiliary, start, *[p.detach() for p in net.parameters()]]
    assert torch.autograd.gradcheck(run, [leaf.clone().requires_grad_() for leaf in leaves])


def test_the_normalisation_is_per_sample() -> None:
    net = network(6)
    drive = inputs(30, 5)
    together, _ = net(drive)
    alone, _ = net(Inputs(drive.mass[:, 2:3], drive.auxiliary[:, 2:3], drive.static[2:3]))
    torch.testing.assert_close(alone["discharge"][:, 0], together["discharge"][:, 2], rtol=1e-12, atol=1e-12)


def test_the_paper_counts_the_same_parameters() -> None:
    assert sum(parameter.numel() for parameter in MCLSTM(auxiliary=4, static=27, cells=64).parameters()) == 409_728


def test_initialisation_is_orthogonal_with_a_closed_output_gate() -> None:
    net = MCLSTM(auxiliary=4, static=27, cells=16)
    weight = net.redistribution.weight
    torch.testing.assert_close(weight.T @ weight, torch.eye(weight.shape[1]), rtol=0, atol=1e-5)
    assert (net.output_gate.bias == -3).all()
    assert (net.input_gate.bias == 0).all()
    assert (net.redistribution.bias == 0).all()


def test_a_factorised_redistribution_is_the_full_one_of_the_weights_multiplied_out() -> None:
    factorised, full = network(6, rank=3), network(6)
    assert factorised.mixing is not None
    weights = factorised.state_dict()
    U, V = weights["redistribution.weight"], weights.pop("mixing.weight")
    full.load_state_dict(weights | {"redistribution.weight": U @ V})
    drive = inputs(40, 3)
    torch.testing.assert_close(factorised(drive)[0]["storage"], full(drive)[0]["storage"], rtol=1e-10, atol=1e-12)


def test_both_factors_start_orthogonal() -> None:
    net = MCLSTM(auxiliary=4, static=27, cells=16, rank=8)
    assert net.mixing is not None
    U, V = net.redistribution.weight, net.mixing.weight
    for columns in (U, V.T):
        torch.testing.assert_close(columns.T @ columns, torch.eye(8), rtol=0, atol=1e-5)


def test_a_day_cannot_be_skipped() -> None:
    drive = inputs(3, 2)
    with pytest.raises(ValueError, match="cannot skip"):
        network(4)(Inputs(drive.mass, drive.auxiliary, drive.static, mask=torch.ones(3, 2, dtype=torch.bool)))
