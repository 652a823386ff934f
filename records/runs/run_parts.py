"""The parts of a combined version that took part in a run of a basin, and what was missing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.digests import fingerprint
from records.database.json_columns import CLOSED
from records.runs.run_weather import FilledWeather


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """A part that took part in a basin.

    Attributes:
        weight: its share of the flow here, of all shares 1.
        parent_day, parent_hash: its initial state; None for the empty store.
        filled_weather: the days ahead whose weather of its product was not observed in time or not forecast.
    """

    __pydantic_config__ = CLOSED

    name: str
    version: str
    product: str
    weight: float
    parent_day: str | None
    parent_hash: str | None
    state_hash: str
    inputs_hash: str
    filled_weather: tuple[FilledWeather, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSubset:
    """A combined version without some of its parts.

    Attributes:
        products: those that took part; where other parts on a product did not, the names of those that did.
        nse: the score of the same products alone in the evaluation of the version, nse_of_all: that with all, over the
            same days (`period`, FIRST..LAST); None where it was not evaluated in this basin.
        without_nse: why no evaluation knows `nse`; None where one does or would.
    """

    __pydantic_config__ = CLOSED

    products: tuple[str, ...]
    missing: Mapping[str, Absent]
    nse: float | None = None
    nse_of_all: float | None = None
    period: str | None = None
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
