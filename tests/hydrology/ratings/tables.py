"""Rating tables in the USGS's formats, from hydraulic formulas: no real table is part of the project."""

import numpy as np

from hydrology.base.arrays import Array

GAUGES = tuple(f"0{number}500000" for number in range(10))


def channel(gauge: int) -> tuple[Array, Array, float]:
    """Return stages (ft, in hundredths), discharges (cfs) and offset of a gauge: a weir, above it a channel."""
    generator = np.random.default_rng(gauge)
    offset = round(float(generator.uniform(-1, 4)), 2)
    bank = round(offset + float(generator.uniform(3, 8)), 2)
    stages = np.round(np.arange(offset + 0.05, bank + 12, 0.01), 2)
    weir = generator.uniform(20, 90) * np.maximum(stages - offset, 0) ** 1.5
    over = generator.uniform(200, 900) * np.maximum(stages - bank, 0) ** (5 / 3)
    return stages, np.round(weir + over, 2), offset


def exsa(gauge: int) -> str:
    """Return an expanded, shift-adjusted table: shifts fade out with stage."""
    stages, flows, offset = channel(gauge)
    shifts = np.round(np.interp(stages, [stages[0], stages[0] + 3], [-0.12, 0.0]), 2)
    rows = [f"{h:.2f}\t{s:.2f}\t{q:.2f}\t" for h, s, q in zip(stages, shifts, flows, strict=True)]
    return (
        "\n".join([*_header(gauge, offset, shifted=True), "INDEP\tSHIFT\tDEP\tSTOR", "16N\t16N\t16N\t1S", *rows]) + "\n"
    )


def base(gauge: int) -> str:
    """Return a base table of a few points, to be joined by logarithms."""
    stages, flows, offset = channel(gauge)
    at = np.unique(np.geomspace(1, len(stages), 14).astype(int)) - 1
    rows = [f"{h:.2f}\t{q:.2f}\t*" for h, q in zip(stages[at], flows[at], strict=True)]
    return "\n".join([*_header(gauge, offset, shifted=False), "INDEP\tDEP\tSTOR", "16N\t16N\t1S", *rows]) + "\n"


def _header(gauge: int, offset: float, *, shifted: bool) -> list[str]:
    return [
        "# //UNITED STATES GEOLOGICAL SURVEY       http://water.usgs.gov/",
        "# //WARNING rating before using it for decisions that concern personal or",
        '# //FILE TYPE="NWIS RATING"',
        f'# //STATION AGENCY="USGS " NUMBER="{GAUGES[gauge]}       " TIME_ZONE="EST" DST_FLAG=Y',
        '# //STATION NAME="A CREEK AT A MILL, PA"',
        '# //LABEL="Discharge (ft^3/s)"',
        '# //PARAMETER CODE="00060"',
        *(['# //RATING SHIFTED="20180906102503 EST"'] if shifted else []),
        f'# //RATING ID="{gauge + 1}.0" TYPE="STGQ" NAME="stage-discharge" AGING=????',
        '# //RATING EXPANSION="logarithmic"',
        f"# //RATING OFFSET1={offset:.6E}",
        '# //RATING_INDEP ROUNDING="????" PARAMETER="Gage height (ft)"',
        "# //RATING_DATETIME BEGIN=20170118000000 BZONE=-05:00 END=-------------- EZONE=--- AGING=1",
    ]
