"""Ships the scores of an ensemble in each basin, as its last `freshet evaluate` over the test years stored them."""

from benchmarks.regional.data import TEST, basins
from hydrology.base.calendar import Period
from models.pretrained import SHELF, form, skill
from operations.training.pretrained import install
from records.database.engine import Database
from records.verification import scores
from runtime.clock import Clock
from runtime.settings import Settings

DIGITS = 6


def ship_skill(name: str) -> None:
    """Write the skill of an ensemble beside it: of the members' mean, in the 447 basins, over the test years."""
    ensemble, period = form.read(SHELF / name), Period.parse(TEST)
    database = Database(Settings.load().database_url)
    version = install(database, Clock(), ensemble).version_id
    with database.reading() as session:
        rows = scores.scores(
            session, versions=[version], members=["mean"], first_day=period.first, last_day=period.last
        )
    database.close()
    evaluated = [row for row in rows if not row.shipped]
    names = sorted({row.basin_id for row in evaluated})
    if names != sorted(basins()):
        raise SystemExit(
            f"{len(names)} of the 447 basins are evaluated: freshet evaluate --version {version} --period {TEST}"
        )
    by_key = {(row.metric, row.basin_id): row for row in evaluated}
    metrics = {
        metric: skill.ShippedScores(
            n=[by_key[metric, basin].n for basin in names],
            value=[_rounded(by_key[metric, basin].value) for basin in names],
            reasons={basin: str(reason) for basin in names if (reason := by_key[metric, basin].reason) is not None},
        )
        for metric in dict.fromkeys(row.metric for row in evaluated)
    }
    at = max(row.evaluated_at for row in evaluated)
    skill.write(
        ensemble,
        skill.ShippedSkill(content=ensemble.content, period=TEST, evaluated_at=at, basins=names, metrics=metrics),
    )
    print(f"{name}: {len(metrics)} scores of {len(names)} basins over {period}")


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
