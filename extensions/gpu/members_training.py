"""Trains the members of an ensemble side by side on a graphics card: one program, one step of all of them at a time.

Windows are gathered on the card from data that are uploaded once, a whole step is one CUDA graph, and the processor
waits for the card only every `STEPS_AHEAD` steps. An MC-LSTM gets the weights that it would get alone, to the bit;
dropout of networks without storage is drawn by the card, for the group. Checkpoints are those of `MemberTraining`, so
that a member can be resumed on a processor, and the reverse.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from extensions.gpu.training_data import CardWeights, CardWindows
from jobspec.training import TrainingConfig
from models.checkpoint import Tensors
from models.contract import Inputs
from models.forcing import Scaler
from models.learning import MedianNSE, TrainingData, Validation, nse_of_days
from models.nets.mclstm import MCLSTM
from models.training import MemberTraining, Progress, TrainedMember

if TYPE_CHECKING:
    from extensions.gpu.nets.members import MemberInputs

STEPS_AHEAD = 50  # between two waits for the card, at most
CHECKPOINT_SECONDS = 20.0  # between two checkpoints of all members, at least

OnCheckpoint = Callable[[int, int, bytes], None]
"""Called with a member's seed, its step and a blob for `resume`."""
OnProgress = Callable[[int, Progress], None]
"""Called with a member's seed and its progress."""


class _Plan(NamedTuple):
    """Some steps on the card: (steps, M, B) basins, first days, whether vectors are seen; rates and shares (steps,)."""

    basins: Tensor
    starts: Tensor
    seen: Tensor
    rates: Tensor
    shares: Tensor


class MembersTraining:
    """The training of some members, one per seed, on a graphics card; arguments as of `MemberTraining`.

    Raises:
        torch.OutOfMemoryError: the card has too little memory for these members, here or in `run`.
    """

    def __init__(
        self,
        config: TrainingConfig,
        data: TrainingData,
        scaler: Scaler,
        seeds: Sequence[int],
        device: str = "cuda",
        learnt_from: Sequence[str] = (),
        starts: Mapping[int, Tensors] | None = None,
    ) -> None:
        self.config, self.device = config, torch.device(device)
        if self.device.index is not None:
            torch.cuda.set_device(self.device)  # graphs and Triton use the current card
        start = starts or {}
        self.members: list[MemberTraining] = []
        for seed in seeds:
            beside = self.members[0] if self.members else None
            self.members.append(
                MemberTraining(
                    config, data, scaler, seed, start=start.get(seed), learnt_from=learnt_from, beside=beside
                )
            )
        self.validation: tuple[Validation, Inputs] | None = None
        if config.validation_period is not None:
            validation = Validation.of(data, config.validation_period, self.members[0].energy)
            self.validation = validation, validation.inputs(scaler, self.device, self.members[0].learnt_from)
        self._weights = CardWeights(self.members, self.device)
        self._windows = CardWindows(self.members[0], self.device)
        self._at = torch.zeros(1, dtype=torch.int64, device=self.device)  # within the plan
        self._plan: _Plan | None = None
        self._drawn: _Plan | None = None  # the next plan, on the processor
        self._losses = torch.zeros(STEPS_AHEAD, len(seeds), 2, device=self.device)  # and the norms of the gradients
        self._graph: torch.cuda.CUDAGraph | None = None
        self._checkpointed_at = time.monotonic()

    @property
    def step(self) -> int:
        return self.members[0].step

    @property
    def steps(self) -> int:
        return self.members[0].steps

    def resume(self, blobs: Mapping[int, bytes]) -> None:
        """Resume from checkpoints of the same training, by seed.

        Raises:
            DataProblem: a checkpoint cannot be read.
            ValueError: members lack one, or are not at the same step.
        """
        if lacking := [member.seed for member in self.members if member.seed not in blobs]:
            raise ValueError(
                f"No checkpoint of the seeds {lacking}: members that are trained side by side need one each."
            )
        for member in self.members:
            member.resume(blobs[member.seed])
        if len({member.step for member in self.members}) > 1:
            raise ValueError("Members that are trained side by side resume from the same step.")
        self._drawn = None
        self._weights.upload(self.members)

    def run(
        self,
        on_checkpoint: OnCheckpoint = lambda _seed, _step, _blob: None,
        on_progress: OnProgress = lambda _seed, _progress: None,
    ) -> dict[int, TrainedMember]:
        """Train to the end, or until `on_progress` raises, after a last checkpoint; return the members by seed.

        Raises:
            TrainingDiverged: the loss of a member is not finite.
        """
        if self.members[0].started and self.step == 0:
            self._validate([None] * len(self.members))
        while self.step < self.steps:
            count = self._steps_until_due()
            started_at = time.perf_counter()
            losses = self._advance(count)
            seconds = (time.perf_counter() - started_at) / len(self.members)
            for member in self.members:
                member.step += count
                member.seconds += seconds
            is_last = self.step == self.steps
            judged = self._validate(losses) if self._is_due(self.config.validate_every) else None
            try:
                for at, member in enumerate(self.members):
                    score = None if judged is None else judged[at]
                    rate = member.rate(member.step - 1)
                    on_progress(member.seed, Progress(member.step, member.steps, losses[at], rate, score))
            except BaseException:
                self._checkpoint(on_checkpoint)
                raise
            waited = time.monotonic() - self._checkpointed_at >= CHECKPOINT_SECONDS
            if is_last or (waited and self._is_due(self.config.checkpoint_every)):
                self._checkpoint(on_checkpoint)
        self._weights.download(self.members)
        return {member.seed: member.trained() for member in self.members}

    def _is_due(self, every: int) -> bool:
        return self.step % every == 0 or self.step == self.steps

    def _steps_until_due(self) -> int:
        dues = [STEPS_AHEAD, self.steps - self.step]
        every = [self.config.checkpoint_every]
        if self.validation is not None:
            every.append(self.config.validate_every)
        return min(*dues, *(period - self.step % period for period in every))

    def _checkpoint(self, on_checkpoint: OnCheckpoint) -> None:
        self._weights.download(self.members)
        for member in self.members:
            on_checkpoint(member.seed, member.step, member.checkpoint())
        self._checkpointed_at = time.monotonic()

    def _validate(self, losses: Sequence[float | None]) -> list[MedianNSE] | None:
        if self.validation is None:
            return None
        validation, inputs = self.validation
        self._weights.download(self.members)
        scores = [validation.score(discharge) for discharge in self._simulations(inputs).numpy()]
        return [member.judge(score, loss) for member, score, loss in zip(self.members, scores, losses, strict=True)]

    def _simulations(self, inputs: Inputs) -> Tensor:
        """Return the discharge of all members by their averaged weights (M, B, T), on the processor."""
        from extensions.gpu.nets import vectorised
        from extensions.gpu.nets.members import member_inputs
        from extensions.gpu.simulation import simulate_together

        network, averages = self._weights.structure.eval(), self._weights.averages()
        if isinstance(network, MCLSTM):
            return simulate_together(network, averages, inputs, None, ("discharge",))[0]["discharge"]
        return vectorised.discharge_of(network, averages, member_inputs(network, inputs)).cpu()

    def _advance(self, count: int) -> list[float]:
        """Take some steps; return the members' last losses, or raise `TrainingDiverged` where one is not finite."""
        self._launch(count)
        rows = self._losses[:count].cpu()
        wrong = (~rows.isfinite().all(2)).nonzero()
        if len(wrong):
            row, of_member = wrong[0].tolist()
            member, rate = self.members[of_member], self.members[of_member].rate(self.step + row)
            member.step += row + 1
            raise member.diverged(*rows[row, of_member].tolist(), rate)
        for at, member in enumerate(self.members):
            for ahead, (loss, norm) in enumerate(rows[:, at].tolist(), start=1):
                member.record(self.step + ahead, loss, norm)
        losses: list[float] = rows[-1, :, 0].tolist()
        return losses

    def _launch(self, count: int) -> None:
        """Let the card take some steps, and draw the next plan meanwhile."""
        plan = self._draw(self.step) if self._drawn is None else self._drawn
        if self._plan is None:
            self._plan = _Plan(*(of.to(self.device) for of in plan))
            self._capture()
        else:
            for there, here in zip(self._plan, plan, strict=True):
                there.copy_(here)
        self._at.zero_()
        for _ in range(count):
            self._step() if self._graph is None else self._graph.replay()
        if self.step + count < self.steps:
            self._drawn = self._draw(self.step + count)

    def _draw(self, first: int) -> _Plan:
        """Draw the windows of the next `STEPS_AHEAD` steps; those beyond the last step repeat it, and are not used."""
        steps = [min(first + ahead, self.steps - 1) for ahead in range(STEPS_AHEAD)]
        # Member by member: only the order of one member's epoch is remembered.
        batches = [np.stack([np.stack(member.windows.batch(step)) for step in steps]) for member in self.members]
        windows = torch.as_tensor(np.stack(batches, axis=1))  # (steps, M, 2, B)
        samples, one = windows.shape[-1], self.members[0]
        seen = [torch.stack([_seen(member, step, samples) for step in steps]) for member in self.members]
        return _Plan(
            windows[:, :, 0],
            windows[:, :, 1],
            torch.stack(seen, 1),
            torch.tensor([one.rate(step) for step in steps]),
            torch.tensor([one.average_share(step + 1) for step in steps]),
        )

    def _capture(self) -> None:
        """Record a step as a CUDA graph; elsewhere its operations run one by one."""
        if self.device.type != "cuda":
            return
        before = self._weights.snapshot()
        aside = torch.cuda.Stream(self.device)
        aside.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(aside):  # what is allocated and compiled at first
            for _ in range(2):
                self._step()
        torch.cuda.current_stream(self.device).wait_stream(aside)
        self._weights.restore(before)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, stream=torch.cuda.Stream(self.device)):
            self._step()
        self._weights.restore(before)

    def _step(self) -> None:
        from extensions.gpu.nets.products import sum_all

        plan, config, weights = self._plan, self.config, self._weights
        assert plan is not None
        basins, starts, seen = (of.index_select(0, self._at)[0] for of in (plan.basins, plan.starts, plan.seen))
        inputs, observed, sd = self._windows.gather(basins, starts, seen)
        simulated = self._simulated(inputs)[:, :, config.windows.spinup_days :]
        of_days = nse_of_days(simulated, observed, sd.unsqueeze(-1), config.expectile)
        known = (~torch.isnan(observed)).flatten(1).sum(1)
        terms, shares = [of_days], [(1 / known)[:, None, None].expand_as(of_days)]
        if weights.prior_variance is not None:
            penalty = weights.prior_penalty(self._windows.place_of(basins))
            terms.append(penalty)
            shares.append(torch.ones_like(penalty))
        (gradient,) = torch.autograd.grad(terms, [weights.flat], shares)
        with torch.no_grad():
            gradient = gradient * weights.fitted
            norm = sum_all(gradient.square()).sqrt()
            loss = sum_all(of_days.detach()) / known
            self._losses.index_copy_(0, self._at, torch.stack([loss, norm], 1).unsqueeze(0))
            limited = gradient * (config.clip_norm / (norm + 1e-6)).clamp_max(1.0).unsqueeze(1)
            rate, share = (of.index_select(0, self._at)[0] for of in (plan.rates, plan.shares))
            weights.descend(limited, rate, share)
            self._at += 1

    def _simulated(self, inputs: "MemberInputs") -> Tensor:
        """Return the discharge of the members (M, B, T) from empty states."""
        from extensions.gpu.nets import vectorised
        from extensions.gpu.nets.members import MemberState, run

        network, weights = self._weights.structure.train(), self._weights.views()
        members, samples = inputs.mass.shape[:2]
        if isinstance(network, MCLSTM):
            empty = network.empty_state(members * samples)
            of_members = {name: values.unflatten(0, (members, samples)) for name, values in empty.items()}
            state = MemberState(of_members["c"], of_members.get("weather"))
            return run(network, weights, inputs, state)[0]["discharge"]
        return vectorised.run(network, weights, inputs)[0]


def _seen(member: MemberTraining, step: int, samples: int) -> Tensor:
    """Return which samples of a step see the vector of their basin (B,), as the member alone draws it."""
    vectors = member.network.basin_vectors
    if vectors is None:
        return torch.zeros(samples, dtype=torch.bool)
    with member.randomness(step):
        return vectors.seen(torch.zeros(samples, dtype=torch.int64), samples)
