"""Compares models on the same basins: quartiles, differences, their significance; medians published over 447 basins."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period, day
from hydrology.base.digests import sha256
from hydrology.base.doc import Doc
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason

MIN_PAIRS = 6
"""With fewer differing basins, p cannot be below 0.05: for five in the same direction it is 2 / 2⁵."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a score: its value for a perfect simulation, and its unit."""

    perfect: float
    unit: str


MEANINGS: Mapping[str, Meaning] = MappingProxyType(
    dict.fromkeys(("nse", "log_nse", "kge", "kge_2012", "alpha_nse", "beta_kge", "pearson_r"), Meaning(1, "1"))
    | dict.fromkeys(("beta_nse", "missed_peaks"), Meaning(0, "1"))
    | dict.fromkeys(("fhv", "flv", "low_flow_bias", "fms", "peak_mape"), Meaning(0, "%"))
    | dict.fromkeys(("rmse", "high_flow_rmse", "low_flow_rmse"), Meaning(0, "mm/day"))
    | {"peak_timing": Meaning(0, "days")}
)
"""The meaning of every score of `hydrology.scores.scores`, by name."""


@dataclass(frozen=True, slots=True)
class Quartiles:
    """Quartiles over basins, interpolated linearly; None where there is no basin."""

    n: Annotated[int, Doc("Number of basins with a value.")]
    p25: float | None
    median: float | None
    p75: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences of a model to a first one, basin by basin."""

    n: Annotated[int, Doc("Number of basins in which both have a value.")]
    median: Annotated[
        float | None,
        Doc("The median of (this one - the first version), in the unit of the metric; null without a basin."),
    ]
    better: Annotated[int, Doc("Number of basins in which it is nearer to the perfect value than the first version.")]
    worse: Annotated[int, Doc("Number of basins in which it is farther from it.")]
    p: Annotated[
        float | None,
        Doc(
            "p-value of the two-sided Wilcoxon signed-rank test: the probability of such differences if neither "
            "version is better."
        ),
    ]
    reason: Annotated[Absent | None, Doc("Why there is no p; null where there is one.")]


def quartiles(values: npt.ArrayLike) -> Quartiles:
    """Return the quartiles of scores of shape (basins,)."""
    known = np.asarray(values, dtype=np.float64)
    if not known.size:
        return Quartiles(0, None, None, None)
    p25, median, p75 = np.percentile(known, [25, 50, 75]).tolist()
    return Quartiles(known.size, p25, median, p75)


def difference(scores: npt.ArrayLike, reference: npt.ArrayLike, *, perfect: float) -> Difference:
    """Compare a model's scores with those of a reference on the same basins, each (basins,)."""
    ours, theirs = np.asarray(scores, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if ours.ndim != 1 or ours.shape != theirs.shape:
        raise InvalidInput(f"Paired scores need one shape (basins,); theirs are {ours.shape} and {theirs.shape}.")
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        raise InvalidInput("Paired scores must be finite: leave out the basins where one has none.")
    away, other_away = np.abs(ours - perfect), np.abs(theirs - perfect)
    p = signed_rank(ours - theirs)
    return Difference(
        n=ours.size,
        median=float(np.median(ours - theirs)) if ours.size else None,
        better=int((away < other_away).sum()),
        worse=int((away > other_away).sum()),
        p=None if isinstance(p, Absent) else p,
        reason=p if isinstance(p, Absent) else None,
    )


def signed_rank(differences: Array) -> float | Absent:
    """Return p of the two-sided Wilcoxon signed-rank test, or why there is none.

    Differences of 0 are dropped. p is exact for up to 50 differences without ties, and otherwise from the normal
    approximation. Source: Wilcoxon 1945, doi:10.2307/3001968.
    """
    from scipy.stats import wilcoxon  # imported here: the API only reads differences, and does not load scipy

    if not differences.size:
        return absent(Reason.NO_COMMON_BASIN)
    unequal = differences[differences != 0]
    if not unequal.size:
        return absent(Reason.NO_DIFFERENCE)
    if unequal.size < MIN_PAIRS:
        return absent(Reason.TOO_FEW_DIFFERENCES, minimum=MIN_PAIRS, basins=unequal.size)
    return float(wilcoxon(unequal).pvalue)


MC_LSTM = "Hoedt et al. 2021, MC-LSTM, arXiv:2101.05186, Table B.7"
MC_LSTM_SINGLE = "Hoedt et al. 2021, MC-LSTM, arXiv:2101.05186, Table B.6"
REGIONAL = (
    "Kratzert et al. 2019, doi:10.5194/hess-23-5089-2019, its summary over 447 basins in "
    "kratzert/ealstm_regional_modeling@d1181582"
)

PERIOD = Period(day("1989-10-01"), day("1999-09-30"))
BASINS = 447
_BASINS_SHA256 = "68c9a3e42d1f13178bab69eca5a3119c4c94d6adf694195e8b4840189467108c"
PRODUCT = "maurer_extended"


@dataclass(frozen=True, slots=True)
class PublishedMedian:
    """A median over the basins as published; one for each source of a metric."""

    metric: str
    median: Annotated[float, Doc("For single networks the mean of ten medians.")]
    p25: Annotated[float | None, Doc("Null where it is not printed.")] = None
    p75: Annotated[float | None, Doc("Null where it is not printed.")] = None
    sd: Annotated[float | None, Doc("The standard deviation of those ten medians; null for all else.")] = None
    source: Annotated[str, Doc("The publication and its table.")] = MC_LSTM


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model of the published table."""

    model: str
    medians: tuple[PublishedMedian, ...]


_METRICS = ("nse", "beta_nse", "flv", "fhv")


def _model(
    model: str,
    *medians: float | tuple[float, float, float],
    sds: tuple[float, ...] | None = None,
    regional_flv: float | None = None,
) -> PublishedModel:
    """Return a row of the table: the medians of `_METRICS`, some with their quartiles, or all with `sds`."""
    rows = []
    for name, value, sd in zip(_METRICS, medians, sds or [None] * 4, strict=True):
        median, p25, p75 = value if isinstance(value, tuple) else (value, None, None)
        rows.append(PublishedMedian(name, median, p25, p75, sd, MC_LSTM_SINGLE if sds else MC_LSTM))
    if regional_flv is not None:
        rows.append(PublishedMedian("flv", regional_flv, source=REGIONAL))
    return PublishedModel(model, tuple(rows))


TABLE: tuple[PublishedModel, ...] = (
    _model("MC-LSTM, ensemble of 10", (0.744, 0.641, 0.814), -0.020, -24.7, (-14.7, -23.4, -7.0)),
    _model("LSTM, ensemble of 10", (0.763, 0.676, 0.835), -0.034, 36.3, (-15.7, -23.8, -8.6)),
    _model("MC-LSTM, single", 0.726, -0.021, -38.7, -13.9, sds=(0.003, 0.003, 3.2, 0.7)),
    _model("LSTM, single", 0.737, -0.035, 13.6, -14.8, sds=(0.003, 0.005, 3.4, 1.0)),
    _model("SAC-SMA", 0.603, -0.066, 37.4, -20.4),
    _model("VIC, basin", 0.551, -0.018, -74.8, -28.1, regional_flv=-69.96),
    _model("VIC, regional", 0.307, -0.074, 18.9, -56.5, regional_flv=17.36),
    _model("mHM, basin", 0.666, -0.040, 11.4, -18.6),
    _model("mHM, regional", 0.527, -0.039, 36.8, -40.2, regional_flv=36.40),
    _model("HBV, lower", 0.417, -0.023, 23.9, -41.9),
    _model("HBV, upper", 0.676, -0.012, 18.3, -18.5),
    _model("FUSE 900", 0.639, -0.031, -10.5, -18.9, regional_flv=-11.40),
    _model("FUSE 902", 0.650, -0.047, -68.2, -19.4, regional_flv=-33.15),
    _model("FUSE 904", 0.622, -0.067, -67.6, -21.4, regional_flv=-66.74),
)
"""Medians over the 447 basins in `PERIOD`. The two studies print the same NSE, β-NSE and FHV of the hydrological models
and a different FLV for six of them: both are listed."""


def is_comparable(period: Period, basins: Iterable[str]) -> bool:
    """Return whether a result covers the table's days and exactly its basins."""
    names = "\n".join(sorted(set(basins)))
    return period == PERIOD and sha256(names.encode()) == _BASINS_SHA256
