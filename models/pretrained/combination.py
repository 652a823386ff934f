"""The format of shipped combinations: a folder with `combination.json`, which names ensembles in the folders beside it.

An ensemble's part in it has a weight; its networks, snow cells and error model are its own. The error model and the
skill of all together, and of each set of their products, are in the combination's folder.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hydrology.base.products import MAX_PARTS
from models.pretrained import form
from models.pretrained.form import DamagedEnsemble, Ensemble, Frozen, Named, Shipped, read_description, require_named

DESCRIPTION = "combination.json"

Weight = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ShippedPart(Named):
    """An ensemble in a combination, with its share of the flow relative to the others'; some basins have their own."""

    weight: Weight
    basin_weights: dict[str, Weight] = Field(default_factory=dict, exclude_if=lambda weights: not weights)

    @property
    def weights(self) -> dict[str | None, float]:
        """Its share by basin, and that of all others under None."""
        return dict[str | None, float]([(None, self.weight), *self.basin_weights.items()])


class Description(Frozen):
    """The content of `combination.json`.

    Attributes:
        form: version of this description; another one needs another Freshet.
        twin: the combination of the parts' twins, shipped with skill or an error model of its own; otherwise it is not
            written.
    """

    form: Literal[1] = 1
    parts: list[ShippedPart] = Field(min_length=2, max_length=MAX_PARTS)
    twin: Named | None = Field(None, exclude_if=lambda twin: twin is None)

    @model_validator(mode="after")
    def _each_part_once(self) -> Self:
        if len({part.content for part in self.parts}) < len(self.parts):
            raise ValueError("two parts are the same ensemble")
        if any(part.basin_weights.keys() != self.parts[0].basin_weights.keys() for part in self.parts):
            raise ValueError("basin_weights of the parts are not of the same basins")
        return self


@dataclass(frozen=True, slots=True)
class Combination(Shipped):
    """A shipped combination of ensembles, complete and checked; `twin`, that of their twins, if shipped as such."""

    description: Description
    parts: tuple[Ensemble, ...]
    twin: "Combination | None" = None

    @property
    def products(self) -> tuple[str, ...]:
        """The weather products that its parts learnt from."""
        return tuple(dict.fromkeys(part.product for part in self.parts))


def read(folder: Path) -> Combination:
    """Return a shipped combination with its parts; `DamagedEnsemble` where it, a part or a twin is not whole."""
    found = _read(folder)
    if found.description.twin is None:
        return found
    twin = _read(folder.parent / found.description.twin.name)
    require_named(twin, found.description.twin, "twin", folder / DESCRIPTION)
    if _shares_of_twins(found) != [(part.content, part.weights) for part in twin.description.parts]:
        raise DamagedEnsemble(f"{twin.folder} does not combine the twins of the parts of {folder}: fetch both again.")
    return replace(found, twin=twin)


def _read(folder: Path) -> Combination:
    description, content = read_description(folder / DESCRIPTION, Description)
    parts = tuple(form.read(folder.parent / part.name) for part in description.parts)
    for part, named in zip(parts, description.parts, strict=True):
        require_named(part, named, "part", folder / DESCRIPTION)
    return Combination(folder.name, content, folder, description, parts)


def _shares_of_twins(found: Combination) -> list[tuple[str, dict[str | None, float]]]:
    """Return the contents and weights of the combination of the parts' twins, in the order of the parts."""
    shares: dict[str, dict[str | None, float]] = {}
    for part, named in zip(found.parts, found.description.parts, strict=True):
        of_twin = shares.setdefault((part.twin or part).content, dict.fromkeys(named.weights, 0.0))
        for basin, weight in named.weights.items():
            of_twin[basin] += weight
    return [*shares.items()]
