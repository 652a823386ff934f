"""The parts of a combined version that took part in a run of a basin, and what was missing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.digests import fingerprint
from hydrology.base.doc import Doc, IsoDay
from records.database.json_columns import CLOSED
from records.runs.run_weather import FilledWeather


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """A part of a combined version: a version that runs on a weather product of its own."""

    __pydantic_config__ = CLOSED

    name: Annotated[str, Doc("The beginning of its members' names.", ("daymet",))]
    version: str
    product: Annotated[str, Doc("Its weather product.", ("daymet",))]
    weight: Annotated[float, Doc("Its share of the flow here; all shares add up to 1.", (0.3,))]
    parent_day: Annotated[IsoDay | None, Doc("The day of the state that it started from; null: the empty store.")]
    parent_hash: str | None
    state_hash: Annotated[str, Doc("Hash of its state at T0.")]
    inputs_hash: Annotated[str, Doc("Hash of the weather and attributes that it used.")]
    filled_weather: tuple[FilledWeather, ...] = ()

    @property
    def filled(
        self,
    ) -> Annotated[
        tuple[FilledWeather, ...] | None,
        Doc("Where its weather came from that was not observed in time. Only where there is any."),
    ]:
        return self.filled_weather or None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSubset:
    """A combined version without some of its weather products, with the skill to expect.

    Attributes:
        without_nse: why no evaluation knows `nse`; None where one does or would.
    """

    __pydantic_config__ = CLOSED

    products: Annotated[
        tuple[str, ...],
        Doc(
            "The products that took part; where another part on a product did not, the name of the part.",
            (["daymet"],),
        ),
    ]
    missing: Annotated[
        Mapping[str, Absent],
        Doc("Why other parts did not, by their names: the product, where one part alone takes it."),
    ]
    nse: Annotated[float | None, Doc("The NSE with these products alone, in the evaluation of the version.")] = None
    nse_of_all: Annotated[float | None, Doc("The NSE with all of its products there.")] = None
    period: Annotated[str | None, Doc("The days of that evaluation.", ("1989-10-01..1999-09-30",))] = None
    without_nse: Absent | None = None


def weights_of_members(parts: Sequence[RunPart], labels: Sequence[str]) -> Array | None:
    """Return members' weights in a basin, (members,), of sum 1; None: all equal."""
    if not parts:
        return None
    names = [label.rpartition("-")[0] for label in labels]
    of_parts = {part.name: part.weight / names.count(part.name) for part in parts}
    return np.array([of_parts[name] for name in names])


def subset_note(subset: RunSubset) -> str:
    """Describe a combined version without some of its parts, with the skill to expect."""
    alone = " and ".join(subset.products)
    sentence = " ".join([f"On {alone} alone.", *_reasons(subset.missing)])
    if subset.without_nse is not None:
        return f"{sentence} {subset.without_nse}"
    if subset.nse is None:
        return f"{sentence} The skill of {alone} alone here is not known: evaluate the version in this basin."
    with_all = "" if subset.nse_of_all is None else f", with all products {subset.nse_of_all:.2f}"
    return f"{sentence} In the evaluation over {subset.period} its NSE on {alone} alone was {subset.nse:.2f}{with_all}."


def _reasons(missing: Mapping[str, Absent]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for name, reason in missing.items():
        by_reason.setdefault(str(reason), []).append(name)
    for why, names in by_reason.items():
        yield f"Missing {'is' if len(names) == 1 else 'are'} {' and '.join(names)}: {why}"


def hash_of_parts(hashes: Iterable[tuple[str, str]]) -> str:
    """Return the hash of the states, or inputs, of a run's parts by their names; an unnamed part has its own."""
    (name, own), *others = pairs = [list(pair) for pair in hashes]
    return own if not name and not others else fingerprint(pairs)
