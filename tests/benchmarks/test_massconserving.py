"""The MC-LSTM family conserves mass in every form: none is created, lost, or borrowed from another sample."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.func import functional_call, stack_module_state

from benchmarks.papers.massconserving import EPSILON, MassConserving
from models.contract import Inputs
from models.nets.mclstm import MCLSTM
from testing import networks as factories

pytestmark = pytest.mark.extended

Redistribution = Literal["fixed", "gated", "hyper"]
REDISTRIBUTIONS: tuple[Redistribution, ...] = ("fixed", "gated", "hyper")


@dataclass(frozen=True)
class Form:
    """A member of the family, and how much it is given."""

    mass: int = 2
    auxiliary: int = 3
    cells: int = 4
    redistribution: Redistribution = "gated"
    input_shares: Literal["softmax", "logistic"] = "softmax"
    cell_shares: Literal["softmax", "relu"] = "softmax"
    sees_mass: bool = False
    learns_start: bool = False
    leaks: bool = True
    given_start: bool = False
    dead: bool = False
    steps: int = 5
    samples: int = 3
    seed: int = 0


FORMS = st.builds(
    Form,
    mass=st.integers(0, 3),
    auxiliary=st.integers(1, 4),
    cells=st.integers(1, 6),
    redistribution=st.sampled_from(REDISTRIBUTIONS),
    input_shares=st.sampled_from(("softmax", "logistic")),
    cell_shares=st.sampled_from(("softmax", "relu")),
    sees_mass=st.booleans(),
    learns_start=st.booleans(),
    leaks=st.booleans(),
    given_start=st.booleans(),
    dead=st.booleans(),
    steps=st.integers(1, 12),
    samples=st.integers(1, 4),
    seed=st.integers(0, 10_000),
)


def network(form: Form, dtype: torch.dtype = torch.float64) -> MassConserving:
    """Return a network of this form whose weights are all away from where they start."""
    torch.manual_seed(form.seed)
    net = MassConserving(
        form.mass,
        form.auxiliary,
        form.cells,
        redistribution=form.redistribution,
        input_shares=form.input_shares,
        cell_shares=form.cell_shares,
        sees_mass=form.sees_mass,
        learns_start=form.learns_start,
        leaks=form.leaks,
        output_gate_bias=-1.0,
        hidden=(5, 7),
    ).to(dtype)
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.3)
        if form.dead:
            kill_first_source(net)
    return net


def kill_first_source(net: MassConserving) -> None:
    """Leave the first source cell no positive entry in R, whatever the inputs."""
    for name, weight in net.redistribution.named_parameters():
        if name == "logits":
            weight[0] = -1
        elif name in ("gate.bias", "last.bias"):
            weight[0, : net.cells] = -1
        elif name.startswith(("gate.", "last.")):
            weight[:, : net.cells] = 0


def data(form: Form, dtype: torch.dtype = torch.float64) -> tuple[Tensor | None, Tensor, Tensor | None]:
    """Return mass (with steps and inputs without any), auxiliaries, and the given start."""
    generator = torch.Generator().manual_seed(form.seed)
    shape = (form.steps, form.samples)
    x = torch.rand(*shape, form.mass, generator=generator, dtype=dtype)
    x = torch.where(x > 0.5, 20 * x, 0.0)
    a = torch.randn(*shape, form.auxiliary, generator=generator, dtype=dtype)
    c = 50 * torch.rand(form.samples, form.cells, generator=generator, dtype=dtype)
    return (x if form.mass else None), a, (c if form.given_start else None)


def at_start(net: MassConserving, a: Tensor, cells: Tensor | None) -> Tensor:
    return net.first_cells(a[0]) if cells is None else cells


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@given(form=FORMS)
@settings(max_examples=25, deadline=None)
def test_every_form_is_closed_positive_and_bounded(form: Form, dtype: torch.dtype, tolerance: float) -> None:
    net, (x, a, start) = network(form, dtype), data(form, dtype)
    with torch.no_grad():
        storage, outflow = net(x, a, start)
        first = at_start(net, a, start)
    assert storage.dtype == outflow.dtype == dtype
    entered = torch.zeros(form.steps, form.samples, dtype=torch.float64)
    if x is not None:
        entered = x.double().sum(-1).cumsum(0)
    water = first.double().sum(-1) + entered
    left = outflow.double().sum(-1).cumsum(0)
    residual = storage.double().sum(-1) + left - water
    assert (residual.abs() <= tolerance * water).all()
    assert (storage >= 0).all()
    assert (outflow >= 0).all()
    assert (storage <= water.unsqueeze(-1) * (1 + tolerance)).all()


@given(form=FORMS)
@settings(max_examples=12, deadline=None)
def test_two_halves_are_the_whole_run(form: Form) -> None:
    form = replace(form, steps=form.steps + 1)
    net, (x, a, start) = network(form), data(form)
    middle = form.steps // 2
    first_x, second_x = (None, None) if x is None else (x[:middle], x[middle:])
    whole = net(x, a, start)
    first = net(first_x, a[:middle], start)
    second = net(second_x, a[middle:], first[0][-1])
    for at_once, before, after in zip(whole, first, second, strict=True):
        torch.testing.assert_close(torch.cat([before, after]), at_once, rtol=1e-12, atol=1e-12)


@given(form=FORMS)
@settings(max_examples=12, deadline=None)
def test_a_sample_does_not_feel_the_batch(form: Form) -> None:
    net, (x, a, start) = network(form), data(form)
    storage, outflow = net(x, a, start)
    for b in range(form.samples):
        one = slice(b, b + 1)
        alone = net(None if x is None else x[:, one], a[:, one], None if start is None else start[one])
        torch.testing.assert_close(alone[0], storage[:, one], rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(alone[1], outflow[:, one], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("redistribution", REDISTRIBUTIONS)
@pytest.mark.parametrize("variant", [{}, {"sees_mass": True, "learns_start": True, "cell_shares": "relu"}])
def test_stacked_networks_equal_single_ones(redistribution: Redistribution, variant: dict[str, Any]) -> None:
    forms = [Form(redistribution=redistribution, seed=seed, **variant) for seed in range(3)]
    nets, inputs = [network(form) for form in forms], [data(form) for form in forms]
    x = torch.stack([one[0] for one in inputs if one[0] is not None], 1)
    a = torch.stack([one[1] for one in inputs], 1)
    stacked, _ = stack_module_state(list(nets))
    storage, outflow = functional_call(nets[0], stacked, (x, a))
    for at, net in enumerate(nets):
        alone = net(x[:, at], a[:, at])
        torch.testing.assert_close(storage[:, at], alone[0], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(outflow[:, at], alone[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("redistribution", REDISTRIBUTIONS)
def test_gradients_are_right(redistribution: Redistribution) -> None:
    form = Form(redistribution=redistribution, cells=3, steps=3, samples=2, given_start=True, sees_mass=True)
    net, (x, a, start) = network(form), data(form)
    names = [name for name, _ in net.named_parameters()]

    def run(start: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        moved: tuple[Tensor, Tensor] = functional_call(net, dict(zip(names, weights, strict=True)), (x, a, start))
        return moved

    assert start is not None
    assert torch.autograd.gradcheck(run, (start.requires_grad_(), *net.parameters()))


@pytest.mark.parametrize("redistribution", REDISTRIBUTIONS)
def test_a_cell_with_a_dead_column_retains_its_mass(redistribution: Redistribution) -> None:
    form = Form(
        mass=0, cells=3, redistribution=redistribution, cell_shares="relu", leaks=False, dead=True, steps=4, samples=2
    )
    only_first = torch.tensor([[7.0, 0.0, 0.0], [3.0, 0.0, 0.0]], dtype=torch.float64)
    storage, _ = network(form)(None, data(form)[1], only_first)
    torch.testing.assert_close(storage, only_first.expand_as(storage))


def test_without_an_output_gate_nothing_leaves() -> None:
    form = Form(leaks=False, given_start=True)
    _, outflow = network(form)(*data(form))
    assert (outflow == 0).all()


def test_the_base_form_equals_its_equations_written_out() -> None:
    form = Form(samples=1, given_start=True)
    net, (x, a, start) = network(form), data(form)
    assert x is not None
    assert start is not None
    storage, outflow = net(x, a, start)
    w, M, K = dict(net.named_parameters()), form.mass, form.cells

    def pre_activation(gate: str, t: int, share: Tensor) -> Tensor:
        seen = torch.cat([a[t, 0], share])
        return w[f"{gate}.bias"][0] + seen @ torch.cat([w[f"{gate}.from_drivers"], w[f"{gate}.from_cells"]])

    c = start[0]
    for t in range(form.steps):
        share = c / (c.sum() + EPSILON)
        into = pre_activation("input_gate", t, share).exp().reshape(M, K)
        between = pre_activation("redistribution.gate", t, share).exp().reshape(K, K)
        o = 1 / (1 + (-pre_activation("output_gate", t, share)).exp())
        m_tot = torch.stack(
            [
                sum((x[t, 0, m] * into[m, k] / into[m].sum() for m in range(M)), torch.tensor(0.0))
                + sum((c[j] * between[j, k] / between[j].sum() for j in range(K)), torch.tensor(0.0))
                for k in range(K)
            ]
        )
        c = (1 - o) * m_tot
        torch.testing.assert_close(storage[t, 0], c)
        torch.testing.assert_close(outflow[t, 0], o * m_tot)


def test_the_fixed_form_moves_mass_by_the_softmax_of_its_logits() -> None:
    form = Form(mass=0, redistribution="fixed", leaks=False, given_start=True, steps=2)
    net, (_, a, start) = network(form), data(form)
    assert start is not None
    R = dict(net.named_parameters())["redistribution.logits"].softmax(-1)
    storage, _ = net(None, a, start)
    torch.testing.assert_close(storage[1], start @ R @ R)


def test_a_fixed_redistribution_starts_near_the_identity() -> None:
    logits = dict(MassConserving(1, 1, 10).named_parameters())["redistribution.logits"]
    assert (logits.softmax(-1).diagonal() > 0.9).all()


def test_a_learnt_start_is_positive_and_learns() -> None:
    form = Form(learns_start=True)
    net, (x, a, _) = network(form), data(form)
    assert (net.first_cells(a[0]) > 0).all()
    net(x, a)[0].sum().backward()
    assert net.start is not None
    assert net.start.grad is not None
    assert (net.start.grad != 0).any()


@pytest.mark.parametrize("dead", [False, True])
def test_the_hydrology_form_equals_mclstm(dead: bool) -> None:
    """Statics are auxiliaries that do not change."""
    K = 5
    hydrology = factories.network(K, seed=3, recurrence="plain", embedding=0)
    if dead:
        factories.kill_columns(hydrology, [0, 2])
    inputs = factories.inputs(days=12, samples=4)
    net = MassConserving(
        1,
        factories.AUXILIARY + factories.STATIC,
        K,
        redistribution="gated",
        input_shares="logistic",
        cell_shares="relu",
        sees_mass=True,
    ).double()
    net.load_state_dict(translated(hydrology))
    static = inputs.static.expand(len(inputs.mass), *inputs.static.shape)
    start = torch.rand(4, K, dtype=torch.float64)
    expected, _ = hydrology(Inputs(inputs.mass, inputs.auxiliary, inputs.static), {"c": start})
    storage, outflow = net(inputs.mass, torch.cat([inputs.auxiliary, static], -1), start)
    torch.testing.assert_close(storage, expected["storage"], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(outflow, expected["outflow"], rtol=1e-12, atol=1e-12)


def translated(hydrology: MCLSTM) -> dict[str, Tensor]:
    """Return the weights of the hydrology network under the names, and in the shapes, of the family's."""
    K, weights = hydrology.cells, {}
    gates = {
        "redistribution.gate": hydrology.redistribution,
        "input_gate": hydrology.input_gate,
        "output_gate": hydrology.output_gate,
    }
    for name, gate in gates.items():
        from_cells, from_drivers = in_order(gate.weight, hydrology)
        weights[f"{name}.from_cells"] = from_cells.T
        weights[f"{name}.from_drivers"] = from_drivers.T
        weights[f"{name}.bias"] = gate.bias.unsqueeze(0)
    assert weights["output_gate.bias"].shape == (1, K)
    return {name: weight.detach() for name, weight in weights.items()}


def in_order(weight: Tensor, hydrology: MCLSTM) -> tuple[Tensor, Tensor]:
    """Return the columns of the cells and those of x, a and the statics: the gates see x, a, s, c."""
    drivers = hydrology.drivers + hydrology.static
    return weight[:, drivers:], weight[:, :drivers]
