"""The examination in physics: a fault fails the question about it, and a design that rules it out passes."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from extensions.physics_exam.exam import NOT_ASKED, RESPONSE, Exam, Numbers
from extensions.physics_exam.members import Members
from extensions.physics_exam.questions import EXPERIMENTS, OF_RAIN, QUESTIONS, answers, ask, ruled_out
from hydrology.base.calendar import Period, day
from hydrology.water.probes import ProbeResult
from jobspec.network import MCLSTMConfig, Unseen, sized
from jobspec.training import InputsConfig, TrainingConfig
from models.contract import Inputs, Outputs, State
from models.ensemble import Ensemble
from models.forcing import Forcing, Scaler
from models.nets import buckets
from models.nets.buckets import STATIC
from models.nets.mclstm import MCLSTM
from models.networks import build

pytestmark = pytest.mark.extended

DAYS = Period.parse("2001-10-01..2005-09-30")
RECORD = Period.parse("2000-10-01..2005-09-30")
LATITUDES = (10.0, 45.0)
LIMITS = {question.name: question.limit for question in QUESTIONS}
OF_CELLS = {question.name for question in QUESTIONS} - {"lasting snow"}
"""The questions that are asked of an MC-LSTM: it has no snow store."""
BLIND: tuple[Unseen, ...] = ("rain", "water")


def weather() -> Forcing:
    """Return five years of a warm basin and of one with cold winters."""
    draw = np.random.default_rng(0)
    days = len(RECORD)
    season = -np.cos(2 * np.pi * (np.arange(days) + 273) / 365)
    mean = np.array([[25.0], [5.0]]) + np.array([[3.0], [15.0]]) * season
    rain = np.where(draw.random((2, days)) < 0.3, draw.exponential(10.0, (2, days)), 0.0)
    auxiliary = np.stack([300 + 100 * np.tile(season, (2, 1)), mean + 5, mean - 5, 600 + 20 * mean], axis=-1)
    static = np.array([[500.0, 0.1], [50.0, 0.6]])
    return Forcing(
        RECORD.first,
        rain.astype(np.float32),
        auxiliary.astype(np.float32),
        static.astype(np.float32),
        ("warm", "cold"),
    )


def exam(
    members: int = 1,
    unseen: tuple[Unseen, ...] = (),
    change: Callable[[MCLSTM], None] = lambda _network: None,
    **network: object,
) -> Exam:
    """Return an exam of members with random weights."""
    forcing = weather()
    settings = {"cells": 6, "output_gate_bias": -2.0, "antecedent_days": (3.0, 60.0), **network}
    config = TrainingConfig(
        network=MCLSTMConfig.model_validate(settings),
        inputs=InputsConfig(product="invented", static=("area_gages2", "frac_snow")),
        train_period=DAYS,
        unseen=(unseen,) if unseen else (),
    )
    ensemble = Ensemble.load(config, Scaler.fit(forcing), {}, ())
    networks = []
    for seed in range(members):
        torch.manual_seed(seed)
        one = MCLSTM(4, 2, **config.network.model_dump(exclude={"architecture"}))
        one.hide(unseen)
        change(one)
        networks.append(one.eval())
    ensemble = replace(ensemble, labels=tuple(range(members)), networks=tuple(networks))
    return Exam(Members(ensemble), forcing, LATITUDES, DAYS)


def config_of(of: Exam) -> TrainingConfig:
    assert isinstance(of.examined, Members)
    return of.examined.ensemble.config


def judged(of: Exam) -> tuple[ProbeResult, ...]:
    return answers(of, ruled_out(config_of(of)))


def figures(of: Exam) -> dict[str, Numbers]:
    return {question.name: found for question, found in ask(of)}


def failures(of: Exam) -> set[str]:
    return {name for name, found in figures(of).items() if not (found <= LIMITS[name]).all()}


def test_runs_together_are_each_alone_to_the_bit() -> None:
    members = exam(members=2)
    wetter = replace(members.forcing, mass=members.forcing.mass * 2)
    together = members.respond(members.forcing, wetter)
    for forcing, response in zip((members.forcing, wetter), together, strict=True):
        alone, _ = members.run(forcing)
        for name in RESPONSE:
            assert np.array_equal(getattr(response, name), getattr(alone, name)), name
    assert not np.array_equal(together[0].discharge, together[1].discharge)


@pytest.mark.parametrize("wetness", [False, True])
def test_cells_that_only_their_own_water_opens_pass_all_that_is_asked_of_rain(wetness: bool) -> None:
    assert not failures(exam(members=2, unseen=BLIND, wetness=wetness)) & (OF_RAIN | {"drift", "storage"})


def test_every_member_and_their_mean_are_asked_in_every_basin() -> None:
    found = figures(exam(members=2, rank=0))
    assert set(found) == {question.name for question in QUESTIONS}
    assert {values.shape for values in found.values()} == {(3, 2)}
    warm, cold = found["volume of snow"].T
    assert (warm == NOT_ASKED).all()
    assert (cold >= 0).all()
    warm, cold = found["rise without rain"].T
    assert (warm >= 0).all()
    assert (cold == NOT_ASKED).all()


def test_a_gate_that_rain_closes_is_found() -> None:
    def closed_by_rain(network: MCLSTM) -> None:
        with torch.no_grad():
            network.output_gate.weight[1:, 0] = -0.3

    found = failures(exam(change=closed_by_rain, rank=0, embedding=0))
    assert {"less flow after rain", "more flow from less rain"} <= found


def test_a_store_that_rain_empties_is_found() -> None:
    def emptied_by_rain(network: MCLSTM) -> None:
        with torch.no_grad():
            network.output_gate.weight[1:, 0] = 0.3

    found = failures(exam(change=emptied_by_rain, rank=0, embedding=0))
    assert {"more flow than rain", "less loss after rain"} <= found


def test_an_area_that_turns_gates_is_found_and_one_that_is_not_seen_is_not() -> None:
    assert "area" in failures(exam())

    def blind(network: MCLSTM) -> None:
        area = network.drivers
        with torch.no_grad():
            for gate in (network.input_gate, network.output_gate, network.redistribution):
                gate.weight[:, area] = 0

    assert figures(exam(change=blind, rank=0, embedding=0))["area"].max() == 0


def test_loss_beyond_the_energy_of_the_air_is_found() -> None:
    def wasteful(network: MCLSTM) -> None:
        with torch.no_grad():
            network.input_gate.bias[0] = 20
            network.output_gate.bias[0] = 5

    of = exam(change=wasteful, rank=0)
    of.forcing = replace(of.forcing, mass=of.forcing.mass * 10)
    assert "energy" in failures(of)


def test_a_spring_drifts_and_fills() -> None:
    class Spring(MCLSTM):
        def forward(self, inputs: Inputs, state: State | None = None) -> tuple[Outputs, State]:
            outputs, last = super().forward(inputs, state)
            return outputs, last | {"c": last["c"] + 1000.0}

    def spring(network: MCLSTM) -> None:
        network.__class__ = Spring

    def closed(network: MCLSTM) -> None:
        spring(network)
        torch.nn.init.constant_(network.output_gate.bias, -20)

    assert {"drift", "storage"} <= failures(exam(change=closed))


def test_flow_that_warmth_raises_is_found() -> None:
    def thirsty_when_cold(network: MCLSTM) -> None:
        with torch.no_grad():
            network.output_gate.weight[0, 1:5] = -2.0  # the weather of the day turns the loss down

    found = failures(exam(change=thirsty_when_cold, rank=0, embedding=0))
    assert {"warming", "cooling"} & found


def test_water_that_is_not_a_number_fails_every_question() -> None:
    def broken(network: MCLSTM) -> None:
        torch.nn.init.constant_(network.output_gate.bias, torch.nan)

    assert failures(exam(change=broken)) == OF_CELLS


def test_an_area_that_is_no_input_moves_no_runoff_by_design() -> None:
    config = config_of(exam())
    assert "area" not in ruled_out(config)
    assert "area" in ruled_out(
        config.model_copy(update={"inputs": config.inputs.model_copy(update={"static": ("frac_snow",)})})
    )


def test_a_question_is_binding_where_the_design_rules_a_failure_out() -> None:
    free, blind = (judged(exam(unseen=unseen)) for unseen in ((), BLIND))
    assert {answer.name for answer in blind if answer.binding} == OF_RAIN
    assert not any(answer.forbids for answer in (*free, *blind))
    assert {answer.name for answer in free} == OF_CELLS
    for answer in free:
        assert answer.reason
        assert answer.failing is not None
        assert (answer.failing > 0) == (answer.value is None or answer.value > answer.limit)


def test_a_few_failures_are_forgiven_where_no_design_rules_them_out() -> None:
    def result(failing: float, *, binding: bool, value: float | None = 0.4) -> ProbeResult:
        return ProbeResult("q", "asks", "1", 0.1, value, "Because.", failing, binding)

    assert result(0.01, binding=False).passes
    assert not result(0.01, binding=True).passes
    assert not result(0.02, binding=False).passes
    assert not result(0.02, binding=False).forbids
    assert result(0.02, binding=True).forbids
    assert not result(0.001, binding=False, value=None).passes
    assert result(0.02, binding=False).in_words == "q: 4.0e-01, at most 0.1; 2.0% of members and basins are beyond it"


def test_experiments_name_each_question_once_with_limit_and_reason() -> None:
    names = [question.name for experiment in EXPERIMENTS for question in experiment.questions]
    assert len(names) == len(set(names))
    assert all(question.limit >= 0 and question.reason.endswith(".") for question in QUESTIONS)
    assert DAYS.first == day("2001-10-01")


def exam_of_buckets() -> Exam:
    """Return an exam of buckets with random weights."""
    static = np.concatenate([weather().static, np.array([LATITUDES], np.float32).T], axis=1)
    forcing = replace(weather(), static=static)
    config = TrainingConfig.model_validate(
        {
            "network": sized("buckets", 3),
            "inputs": {"product": "invented", "static": ("area_gages2", "frac_snow", "gauge_lat")},
            "train_period": DAYS,
        }
    )
    ensemble = Ensemble.load(config, Scaler.fit(forcing), {}, ())
    network = build(config.network, config.inputs, seed=0).eval()
    return Exam(Members(replace(ensemble, labels=(0,), networks=(network,))), forcing, LATITUDES, DAYS)


def test_buckets_pass_what_their_design_guarantees_and_are_held_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {result.name: result for result in judged(exam_of_buckets())}
    assert found["lasting snow"].value == pytest.approx(0, abs=1e-6)
    assert {name for name, result in found.items() if result.binding} == OF_RAIN | {"lasting snow", "energy"}
    assert all(result.failing == 0 for result in found.values() if result.binding)

    never = [replace(one, low=30.0, high=40.0) if one.name == "melt_threshold" else one for one in STATIC]
    monkeypatch.setattr(buckets, "STATIC", tuple(never))
    found = {result.name: result for result in judged(exam_of_buckets())}
    assert found["lasting snow"].forbids


def test_a_network_without_snow_stores_is_not_asked_whether_they_melt() -> None:
    assert "lasting snow" not in {result.name for result in answers(exam())}
