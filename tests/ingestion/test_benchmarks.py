"""Published scores from their CSV."""

from pathlib import Path

import numpy as np
import pytest

from hydrology.base.calendar import Period
from ingestion.base import SourceError
from ingestion.sources import benchmarks

HEADER = ",".join(benchmarks.COLUMNS)
ROWS = (
    "01013500,FUSE_900,0.80914,0.77602,0.92211,0.79208,1.02949,0.30735,0,0",
    "01634500,SAC_SMA,-0.18725,,,0.00000,,,0,1",
)


def write(folder: Path, *rows: str, header: str = HEADER) -> Path:
    """Write a file as it is published."""
    path = folder / "benchmark_models_per_basin.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_known_models_and_metrics_are_read_under_their_names_here(tmp_path: Path) -> None:
    found = benchmarks.read(write(tmp_path, *ROWS))
    assert found.period == Period.parse("1989-10-01..1999-09-30")
    fuse, sac = ("FUSE_900", "USGS-01013500"), ("SAC_SMA", "USGS-01634500")
    assert found.scores == {
        (*fuse, "nse"): 0.80914,
        (*fuse, "kge_2012"): 0.77602,
        (*fuse, "pearson_r"): 0.92211,
        (*fuse, "beta_kge"): 0.79208,
        (*sac, "nse"): -0.18725,
        (*sac, "kge_2012"): None,
        (*sac, "pearson_r"): None,
        (*sac, "beta_kge"): 0.0,
    }
    assert "hs.474ecc37e7db45baa425cdb4fc1b61e1" in found.citation
    assert found.source == "sruzzante/NSE-and-Variance-Components@fc9d925d"


@pytest.mark.parametrize(
    ("rows", "header", "line", "cause"),
    [
        (ROWS, HEADER.replace("NSE", "nse"), 1, "the columns are"),
        (ROWS, "gauge_id;model;NSE", 1, "the columns are"),
        ((), HEADER, None, "no score in it"),
        ((ROWS[0], ROWS[0]), HEADER, 3, "the model comes twice for the gauge"),
        (("river" + ROWS[0],), HEADER, 2, "is not a gauge's number"),
        ((ROWS[0].replace("FUSE_900", " "),), HEADER, 2, "no model is named"),
        ((ROWS[0].replace("0.80914", "good"),), HEADER, 2, "NSE is not a number"),
        ((ROWS[0].replace("0.80914", "1.5"),), HEADER, 2, "NSE is above 1, which it never is"),
        ((ROWS[0] + ",1",), HEADER, 2, "11 columns instead of 10"),
    ],
)
def test_another_file_is_refused_with_the_line(
    tmp_path: Path, rows: tuple[str, ...], header: str, line: int | None, cause: str
) -> None:
    with pytest.raises(SourceError) as caught:
        benchmarks.read(write(tmp_path, *rows, header=header))
    assert cause in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(("name", "cause"), [("nothing.csv", "cannot be read"), (".", "is not a regular file")])
def test_what_cannot_be_read_is_reported(tmp_path: Path, name: str, cause: str) -> None:
    with pytest.raises(SourceError, match=cause):
        benchmarks.read(tmp_path / name)


def test_the_kge_of_the_file_is_that_of_2012(camels: Path) -> None:
    """Its `Gamma` is the ratio of the variation coefficients: only so do the NSE of several models of a basin, solved
    for the observation's mean over its standard deviation, agree with each other."""
    path = camels / "benchmarks" / "benchmark_models_per_basin.csv"
    rows = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")
    rows = rows[np.isfinite(rows["KGE"]) & (np.abs(rows["Beta"] - 1) > 0.05)]
    r, beta, gamma = rows["rPearson"], rows["Beta"], rows["Gamma"]
    assert rows["KGE"] == pytest.approx(1 - np.sqrt((r - 1) ** 2 + (beta - 1) ** 2 + (gamma - 1) ** 2), abs=3e-5)

    def spread(alpha: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        """Return the median over the basins of (largest / smallest) - 1 of that ratio."""
        squared = np.maximum(2 * alpha * r - alpha**2 - rows["NSE"], 1e-6)
        ratios = np.sqrt(squared) / np.abs(beta - 1)
        basins = [ratios[rows["gauge_id"] == basin] for basin in np.unique(rows["gauge_id"])]
        return float(np.median([one.max() / one.min() - 1 for one in basins if len(one) > 2]))

    assert spread(gamma * beta) < 0.01
    assert spread(gamma) > 0.5
