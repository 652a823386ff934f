"""Trains the members of an ensemble side by side on a graphics card: one program, one step of all of them at a time.

Windows are gathered on the card from data that are uploaded once, a whole step is one CUDA graph, and the processor
waits for the card only every `STEPS_AHEAD` steps. An MC-LSTM gets the weights that it would get alone, to the bit;
dropout of other networks is drawn by the card, for the group. Checkpoints are those of `MemberTraining`, so that a
member can be resumed on a processor, and the reverse.
"""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call

from jobspec.network import EINSConfig, LSTMConfig, MCLSTMConfig
from jobspec.training import TrainingConfig
from models.arrays import Array
from models.checkpoint import Tensors
from models.contract import Inputs, Network
from models.inference import simulate
from models.losses import nse_of_days
from models.nets.gpu import card
from models.nets.mclstm import MCLSTM
from models.nets.vectors import PRIOR_WEIGHT
from models.scaling import Scaler
from models.training import MemberTraining, Progress, TrainedMember
from models.validation import MedianNSE, TrainingData, Validation

if TYPE_CHECKING:
    from models.nets.gpu.members import MemberInputs

STEPS_AHEAD = 50  # between two waits for the card, at most
CHECKPOINT_SECONDS = 20.0  # between two checkpoints of all members, at least
MOMENTS = ("exp_avg", "exp_avg_sq")  # of AdamW

TOGETHER = (MCLSTMConfig, LSTMConfig, EINSConfig)  # a step of other networks waits for the processor
OnCheckpoint = Callable[[int, int, bytes], None]
"""Called with a member's seed, its step and a blob for `resume`."""
OnProgress = Callable[[int, Progress], None]
"""Called with a member's seed and its progress."""


def trains_together(config: TrainingConfig, device: str) -> bool:
    """Return whether the members of a training can be trained side by side on a device."""
    small = not isinstance(config.network, MCLSTMConfig) or config.network.cells <= card.MAX_CELLS
    return small and isinstance(config.network, TOGETHER) and card.available(torch.device(device))


class _Plan(NamedTuple):
    """What some steps take, on the card: (steps, M, B) basins, first days, and whether the basin's vector is seen;
    (steps,) learning rates, and shares of the mean of the weights that are retained."""

    basins: Tensor
    starts: Tensor
    seen: Tensor
    rates: Tensor
    shares: Tensor


class MembersTraining:
    """The training of some members of one configuration on a graphics card.

    Args:
        seeds: one per member.
        learnt_from: as of `MemberTraining`.
        starts: the weights from which members start, by seed; as of `MemberTraining`.

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
            validation = Validation.of(data, config.validation_period)
            self.validation = validation, validation.inputs(scaler, self.device, self.members[0].learnt_from)
        self._weights = _CardWeights(self.members, self.device)
        self._windows = _CardWindows(self.members[0], self.device)
        self._at = torch.zeros(1, dtype=torch.int64, device=self.device)  # within the plan
        self._plan: _Plan | None = None
        self._drawn: _Plan | None = None  # the next plan, on the processor
        self._losses = torch.zeros(STEPS_AHEAD, len(seeds), 2, device=self.device)  # and the norms of the gradients
        self._graph: torch.cuda.CUDAGraph | None = None
        self._checkpointed_at = time.monotonic()

    @property
    def step(self) -> int:
        """The number of steps that all members have taken."""
        return self.members[0].step

    @property
    def steps(self) -> int:
        """The number of steps of the training."""
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
        """Train to the end; return the members by seed.

        Args:
            on_progress: an exception that it raises stops the training, after a last checkpoint.

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
        """Score the averaged weights of all members in the validation period, if there is one."""
        from models.card_simulation import simulate_together

        if self.validation is None:
            return None
        validation, inputs = self.validation
        self._weights.download(self.members)
        network = self._weights.structure.eval()
        if isinstance(network, MCLSTM):
            outputs, _ = simulate_together(network, self._weights.averages(), inputs, None, ("discharge",))
            simulations = list(outputs["discharge"].numpy())
        else:
            simulations = [self._simulation(network, row, inputs) for row in range(len(self.members))]
        scores = [validation.score(discharge) for discharge in simulations]
        return [member.judge(score, loss) for member, score, loss in zip(self.members, scores, losses, strict=True)]

    def _simulation(self, network: Network, row: int, inputs: Inputs) -> Array:
        """Return the discharge (B, T) that a member's averaged weights simulate."""
        with torch.no_grad():
            for name, averages in self._weights.averages().items():
                network.get_parameter(name).copy_(averages[row])
        return simulate(network, inputs, None, ("discharge",))[0]["discharge"].astype(np.float32)

    def _advance(self, count: int) -> list[float]:
        """Take some steps; return the members' losses of the last one.

        Raises:
            TrainingDiverged: the loss of a member, or the norm of its gradient, is not finite.
        """
        self._launch(count)
        rows = self._losses[:count].cpu()
        wrong = (~rows.isfinite().all(2)).nonzero()
        if len(wrong):
            row, of_member = wrong[0].tolist()
            member, rate = self.members[of_member], self.members[of_member].rate(self.step + row)
            member.step += row + 1
            raise member.diverged(*rows[row, of_member].tolist(), rate)
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
        """Take the step of the plan at which `_at` is, and move on to the next."""
        from models.nets.gpu.products import sum_all

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
        from models.nets.gpu.members import MemberState, run

        network, weights = self._weights.structure.train(), self._weights.views()
        members, samples = inputs.mass.shape[:2]
        if isinstance(network, MCLSTM):
            empty = network.empty_state(members * samples)
            of_members = {name: values.unflatten(0, (members, samples)) for name, values in empty.items()}
            state = MemberState(of_members["c"], of_members.get("weather"))
            return run(network, weights, inputs, state)[0]["discharge"]
        flows = []
        for row, (mass, auxiliary, static) in enumerate(zip(inputs.mass, inputs.auxiliary, inputs.static, strict=True)):
            given = Inputs(mass.t().unsqueeze(-1), auxiliary.swapaxes(0, 1), static)
            own = {name: values[row] for name, values in weights.items()}
            flows.append(functional_call(network, own, (given,))[0]["discharge"].t())
        return torch.stack(flows)


def _seen(member: MemberTraining, step: int, samples: int) -> Tensor:
    """Return which samples of a step see the vector of their basin (B,), as the member alone draws it."""
    vectors = member.network.basin_vectors
    if vectors is None:
        return torch.zeros(samples, dtype=torch.bool)
    with member.randomness(step):
        return vectors.seen(torch.zeros(samples, dtype=torch.int64), samples)


class _CardWindows:
    """The data of a training on the card, from which windows are gathered."""

    def __init__(self, member: MemberTraining, device: torch.device) -> None:
        inputs = member.scaler.inputs(member.data.forcing, torch.float32, device, member.learnt_from)
        if inputs.mask is not None:
            raise ValueError("Networks that are trained side by side cannot skip a day: give them forcing without gaps")
        self.mass, self.auxiliary = inputs.mass[..., 0].t().contiguous(), inputs.auxiliary.swapaxes(0, 1).contiguous()
        self.static, self.place = inputs.static, inputs.basin
        self.observed = torch.as_tensor(member.observed, dtype=torch.float32, device=device)
        self.sd = torch.as_tensor(member.sd, dtype=torch.float32, device=device)
        self.vectors = member.network.basin_vectors is not None
        self.known_basins, self.shape = len(member.learnt_from), member.config.windows
        self.days = torch.arange(self.shape.spinup_days + self.shape.loss_days, device=device)

    def place_of(self, basins: Tensor) -> Tensor:
        """Return the places of some basins of the data among those that the members learn from."""
        assert self.place is not None
        return self.place[basins]

    def gather(self, basins: Tensor, starts: Tensor, seen: Tensor) -> tuple["MemberInputs", Tensor, Tensor]:
        """Return the inputs of some windows (M, B), the observations (M, B, loss days), and s_b (M, B)."""
        from models.nets.gpu.members import MemberInputs, one_hot

        of, days = basins.unsqueeze(-1), starts.unsqueeze(-1) + self.days
        basin = one_hot(self.place_of(basins), seen, self.known_basins).to(self.static) if self.vectors else None
        inputs = MemberInputs(self.mass[of, days], self.auxiliary[of, days], self.static[basins], basin)
        return inputs, self.observed[of, days[..., self.shape.spinup_days :]], self.sd[basins]


class _CardWeights:
    """The weights of all members on the card, their running means and their optimiser: a row for each member."""

    def __init__(self, members: Sequence[MemberTraining], device: torch.device) -> None:
        first = members[0]
        self.structure = copy.deepcopy(first.network).to(device)
        self.shapes = {name: of.shape for name, of in first.network.named_parameters()}
        self.flat = self._rows([dict(member.network.named_parameters()) for member in members], device).requires_grad_()
        self.average = self._rows([dict(member.average.named_parameters()) for member in members], device)
        self.fitted = self._rows([member.fitted_weights() for member in members], device)
        decays = {id(of): group["weight_decay"] for group in first.optimizer.param_groups for of in group["params"]}
        decay = {name: torch.full_like(of, decays.get(id(of), 0.0)) for name, of in first.network.named_parameters()}
        self.decay = self._rows([decay], device)
        self.rate = torch.ones((), device=device)
        # The decay differs between weights: it is applied here, as AdamW does.
        self.optimizer = torch.optim.AdamW(
            [self.flat], lr=self.rate, weight_decay=0.0, capturable=device.type == "cuda", foreach=False
        )
        self.prior_variance = None
        if first.prior is not None:
            variances = [member.prior.variance for member in members if member.prior is not None]
            self.prior_variance = torch.stack(variances).to(device)
        self.flat.grad = torch.zeros_like(self.flat)
        self.optimizer.step()  # allocates its state, which `upload` fills
        self.upload(members)

    def views(self) -> dict[str, Tensor]:
        """Return the weights by name, a member first."""
        return self._views(self.flat)

    def averages(self) -> dict[str, Tensor]:
        """Return their running means by name."""
        return self._views(self.average)

    def prior_penalty(self, places: Tensor) -> Tensor:
        """Return the terms of `VectorPrior.penalty`, (M, B, values), that sum to it.

        Args:
            places: (M, B), of the samples' basins among those learnt from.
        """
        from models.nets.gpu.members import one_hot
        from models.nets.gpu.products import product

        table = self.views()["vectors.table"]
        seen = torch.ones_like(places, dtype=torch.bool)
        vectors = product(one_hot(places, seen, table.shape[1]).to(table), table.mT)
        assert self.prior_variance is not None
        return PRIOR_WEIGHT * vectors.square() / self.prior_variance.unsqueeze(1) / vectors[0].numel()

    def descend(self, gradient: Tensor, rate: Tensor, share: Tensor) -> None:
        """Take a step of AdamW, and update the running mean."""
        assert self.flat.grad is not None
        self.flat.grad.copy_(gradient)
        self.rate.copy_(rate)
        self.flat.mul_(1 - rate * self.decay)
        self.optimizer.step()
        self.average.lerp_(self.flat, 1 - share)

    def upload(self, members: Sequence[MemberTraining]) -> None:
        """Take weights, means and optimiser from the members."""
        with torch.no_grad():
            for row, member in enumerate(members):
                self.flat[row] = _row(dict(member.network.named_parameters()))
                self.average[row] = _row(dict(member.average.named_parameters()))
                for moment in MOMENTS:
                    self._state[moment][row] = _row(_moments(member, moment))
            self._state["step"].fill_(members[0].step)

    def download(self, members: Sequence[MemberTraining]) -> None:
        """Give weights, means and optimiser to the members."""
        with torch.no_grad():
            flat, average = self.flat.cpu(), self.average.cpu()
            moments = {name: self._state[name].cpu() for name in MOMENTS}
            for row, member in enumerate(members):
                for network, rows in ((member.network, flat), (member.average, average)):
                    for name, of in self._views(rows[row : row + 1]).items():
                        network.get_parameter(name).copy_(of[0])
                views = {name: self._views(of[row : row + 1]) for name, of in moments.items()}
                for name, parameter in member.network.named_parameters():
                    if parameter.requires_grad:
                        state = {moment: of[name][0].clone() for moment, of in views.items()}
                        member.optimizer.state[parameter] = {"step": torch.tensor(float(member.step)), **state}

    def snapshot(self) -> list[Tensor]:
        """Return copies of all that a step changes."""
        return [of.detach().clone() for of in self._changed()]

    def restore(self, copies: Sequence[Tensor]) -> None:
        """Restore the result of `snapshot`."""
        with torch.no_grad():
            for of, copied in zip(self._changed(), copies, strict=True):
                of.copy_(copied)

    @property
    def _state(self) -> dict[str, Tensor]:
        state: dict[str, Tensor] = self.optimizer.state[self.flat]
        return state

    def _changed(self) -> list[Tensor]:
        return [self.flat, self.average, *self._state.values()]

    def _views(self, rows: Tensor) -> dict[str, Tensor]:
        parts = rows.split([shape.numel() for shape in self.shapes.values()], 1)
        return {name: part.unflatten(1, shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def _rows(self, of_members: Sequence[Mapping[str, Tensor]], device: torch.device) -> Tensor:
        return torch.stack([_row(of) for of in of_members]).to(device)


def _row(weights: Mapping[str, Tensor]) -> Tensor:
    return torch.cat([of.detach().flatten() for of in weights.values()])


def _moments(member: MemberTraining, moment: str) -> dict[str, Tensor]:
    """Return a moment of AdamW of each weight; zeros before its first step, and where it is not fitted."""
    state = member.optimizer.state
    return {
        name: state[weights][moment] if weights in state else torch.zeros_like(weights)
        for name, weights in member.network.named_parameters()
    }
