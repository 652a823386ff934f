"""Compares a basin with those a version learnt from, for a statement with every forecast."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from hydrology.base.errors import counted
from models.arrays import Array
from records.runs.run_summary import TrainingDomain
from records.versions.versions import Version


def attribute_ranges(names: Sequence[str], static: npt.NDArray[np.floating]) -> dict[str, tuple[float, float]]:
    """Return the minimum and maximum of each attribute; `static` is (basins, attributes)."""
    ends = zip(names, static.min(axis=0), static.max(axis=0), strict=True)
    return {name: (float(minimum), float(greatest)) for name, minimum, greatest in ends}


def attribute_means(version: Version) -> dict[str, float]:
    """Return the mean of each attribute over the basins that a version learnt from."""
    names = version.training.inputs.static
    return dict(zip(names, version.scaler["static_mean"], strict=True))


def learnt_from(
    version: Version, basin: str, names: Sequence[str], static: Array, assumed: Sequence[str]
) -> TrainingDomain:
    """Describe whether a version learnt from a basin, or at least from similar ones.

    Args:
        names, static: the attributes that the version takes, and their values in the basin, (attributes,).
        assumed: the names of the assumed attributes.
    """
    ranges = version.properties.attribute_ranges
    outside = None if ranges is None else _outside(ranges, names, static)
    return TrainingDomain(
        seen_in_training=basin in version.basins,
        outside_training=None if outside is None else tuple(outside),
        trained_on=version.trained_on,
        training_note=_note(version, basin, outside or {}, assumed),
        attributes_assumed=tuple(assumed),
    )


def _note(version: Version, basin: str, outside: Mapping[str, str], assumed: Sequence[str]) -> str:
    count = len(version.basins)
    sentences = [
        f"{basin} is one of the {counted(count, 'basin')} that the version learnt from."
        if basin in version.basins
        else f"{basin} is not among the {counted(count, 'basin')} that the version learnt from: only its own "
        "observations can show the skill of the version here."
    ]
    if version.tuned_on is not None:
        sentences.append(f"It was fine-tuned {'here' if basin in version.tuned_on else 'on others since'}.")
    if outside:
        attributes = "; ".join(outside.values())
        sentences.append(f"The version extrapolates: outside the range of those basins lies {attributes}.")
    if assumed:
        sentences.append(f"Assumed at the mean of those basins, for they are not known here: {', '.join(assumed)}.")
    if version.trained_on != version.product:
        sentences.append(f"It learnt from {version.trained_on} and is driven by {version.product}.")
    return " ".join(sentences)


def _outside(ranges: Mapping[str, tuple[float, float]], names: Sequence[str], static: Array) -> dict[str, str]:
    """Describe each attribute that lies outside its range."""
    sentences = {}
    for name, value in zip(names, static.tolist(), strict=True):
        minimum, greatest = ranges[name]
        if not minimum <= value <= greatest:
            sentences[name] = f"{name} ({value:g}, theirs {minimum:g} to {greatest:g})"
    return sentences
