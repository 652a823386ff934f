"""The data and the weights of a training on a graphics card, where `members_training` takes its steps."""

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from models.checkpoint import Tensors
from models.contract import PRIOR_WEIGHT
from models.forcing import with_energy
from models.training import MemberTraining

if TYPE_CHECKING:
    from extensions.gpu.nets.members import MemberInputs

MOMENTS = ("exp_avg", "exp_avg_sq")  # of AdamW


class CardWindows:
    """The data of a training on the card, from which windows are gathered."""

    def __init__(self, member: MemberTraining, device: torch.device) -> None:
        from extensions.gpu.nets.members import OPTIONAL

        inputs = member.scaler.inputs(member.data.forcing, torch.float32, device, member.learnt_from)
        if member.energy is not None:
            inputs = with_energy(inputs, *member.energy)
        if inputs.mask is not None and not member.network.skips_gaps:
            raise ValueError(f"{member.network.architecture} cannot skip a day: give it forcing without gaps")
        by_day = {name: getattr(inputs, name) for name in OPTIONAL}
        self.optional = {name: values.t().contiguous() for name, values in by_day.items() if values is not None}
        self.mass, self.auxiliary = inputs.mass[..., 0].t().contiguous(), inputs.auxiliary.swapaxes(0, 1).contiguous()
        self.static, self.place = inputs.static, inputs.basin
        self.observed = torch.as_tensor(member.observed, dtype=torch.float32, device=device)
        self.sd = torch.as_tensor(member.sd, dtype=torch.float32, device=device)
        self.vectors = member.network.basin_vectors is not None
        self.known_basins, self.shape = len(member.learnt_from), member.config.windows
        self.days = torch.arange(self.shape.spinup_days + self.shape.loss_days, device=device)

    def place_of(self, basins: Tensor) -> Tensor:
        assert self.place is not None
        return self.place[basins]

    def gather(self, basins: Tensor, starts: Tensor, seen: Tensor) -> tuple["MemberInputs", Tensor, Tensor]:
        """Return the inputs of some windows (M, B), the observations (M, B, loss days), and s_b (M, B)."""
        from extensions.gpu.nets.members import MemberInputs, one_hot

        of, days = basins.unsqueeze(-1), starts.unsqueeze(-1) + self.days
        basin = one_hot(self.place_of(basins), seen, self.known_basins).to(self.static) if self.vectors else None
        optional = {name: values[of, days] for name, values in self.optional.items()}
        inputs = MemberInputs(self.mass[of, days], self.auxiliary[of, days], self.static[basins], basin, **optional)
        return inputs, self.observed[of, days[..., self.shape.spinup_days :]], self.sd[basins]


class CardWeights:
    """The weights of all members on the card, their running means and their optimiser: a row for each member."""

    def __init__(self, members: Sequence[MemberTraining], device: torch.device) -> None:
        first = members[0]
        self.structure = copy.deepcopy(first.network).to(device)
        self.shapes = {name: of.shape for name, of in first.network.named_parameters()}
        self.flat = self._rows([dict(member.network.named_parameters()) for member in members], device).requires_grad_()
        self.average = self._rows([dict(member.average.named_parameters()) for member in members], device)
        self.fitted = self._rows([_fitted(member) for member in members], device)
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
        return self._views(self.average)

    def prior_penalty(self, places: Tensor) -> Tensor:
        """Return the terms of `VectorPrior.penalty`, (M, B, values), for places (M, B) among the basins learnt from."""
        from extensions.gpu.nets.members import one_hot
        from extensions.gpu.nets.products import product

        table = self.views()["vectors.table"]
        seen = torch.ones_like(places, dtype=torch.bool)
        vectors = product(one_hot(places, seen, table.shape[1]).to(table), table.mT)
        assert self.prior_variance is not None
        return PRIOR_WEIGHT * vectors.square() / self.prior_variance.unsqueeze(1) / vectors[0].numel()

    def descend(self, gradient: Tensor, rate: Tensor, share: Tensor) -> None:
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


def _fitted(member: MemberTraining) -> Tensors:
    """Return 1 for every weight that the training may change, and 0 for every other, by the parameters' names."""
    ones = copy.deepcopy(member.network).requires_grad_(True)
    with torch.no_grad():
        for weights in ones.parameters():
            weights.fill_(1)
    ones.hide(member.config.unseen_by(member.seed))
    fitted = {name for name, weights in member.network.named_parameters() if weights.requires_grad}
    return {name: weights.detach() * (name in fitted) for name, weights in ones.named_parameters()}


def _moments(member: MemberTraining, moment: str) -> dict[str, Tensor]:
    """Return a moment of AdamW of each weight; zeros before its first step, and where it is not fitted."""
    state = member.optimizer.state
    return {
        name: state[weights][moment] if weights in state else torch.zeros_like(weights)
        for name, weights in member.network.named_parameters()
    }
