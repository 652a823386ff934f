"""Ships what the database stores of a shipped ensemble or combination: its scores, and its error model.

The scores are those of the last `freshet evaluate` over the test years, the error model that of `freshet calibrate`.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.regional import uncertainty, us
from benchmarks.regional.data import TEST, basins
from extensions.shipping.attachments import write_errors, write_skill
from hydrology.base.calendar import Period
from hydrology.base.products import JOINT, subsets
from hydrology.uncertainty.error_model import BasinErrors
from models.pretrained import attachments
from operations.training.pretrained import install, read_shipped
from records.basins import basins as basin_records
from records.database.engine import Database
from records.verification import scores
from records.versions import error_models, versions
from runtime.clock import Clock
from runtime.settings import Settings
from testing.work import work_of

DIGITS = 6


def ship_skill(name: str) -> None:
    """Write the skill of an ensemble beside it: of the members' mean, in the basins learnt from, over the test years.

    Of a combination, that with some of its products alone, too, in the basins that have them.
    """
    settings, period = Settings.load(), Period.parse(TEST)
    shipped = read_shipped(name, settings.pretrained)
    database = Database(settings.database_url)
    version = install(work_of(database, Clock()), shipped).version_id
    with database.reading() as session:
        stored = versions.get(session, version)
        of_subsets = [JOINT.join(chosen) for chosen in subsets(stored.products)]
        rows = scores.scores(
            session,
            versions=[version],
            members=[scores.MEAN, *of_subsets],
            first_day=period.first,
            last_day=period.last,
        )
    database.close()
    evaluated = [row for row in rows if not row.shipped]
    by_member = {
        name: _metrics([row for row in evaluated if row.member == name]) for name in (scores.MEAN, *of_subsets)
    }
    mean = by_member.pop(scores.MEAN)
    if mean.basins != sorted(stored.basins):
        raise SystemExit(
            f"{len(mean.basins)} of {len(stored.basins)} basins are evaluated: "
            f"freshet evaluate --version {version} --period {TEST}"
        )
    at = max(row.evaluated_at for row in evaluated)
    write_skill(
        shipped,
        attachments.ShippedSkill(
            content=shipped.content, period=Period.parse(TEST), evaluated_at=at, **dict(mean), subsets=by_member
        ),
    )
    print(f"{name}: {len(mean.metrics)} scores of {len(mean.basins)} basins over {period}; alone {by_member.keys()}")


def _metrics(rows: Sequence[scores.Score]) -> attachments.ShippedMetrics:
    names = sorted({row.basin_id for row in rows})
    by_key = {(row.metric, row.basin_id): row for row in rows}
    metrics = {
        metric: attachments.ShippedScores(
            n=[by_key[metric, basin].n for basin in names],
            value=[_rounded(by_key[metric, basin].value) for basin in names],
            reasons={basin: str(reason) for basin in names if (reason := by_key[metric, basin].reason) is not None},
        )
        for metric in dict.fromkeys(row.metric for row in rows)
    }
    return attachments.ShippedMetrics(basins=names, metrics=metrics)


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def ship_errors(name: str) -> None:
    """Write the error model of a twin of `freshet-us` or its parts beside it, as `freshet calibrate` stored it last.

    That of basins never seen is of the folds.
    """
    settings = Settings.load()
    shipped = read_shipped(name, settings.pretrained)
    database = Database(settings.database_url)
    version = install(work_of(database, Clock()), shipped).version_id
    with database.reading() as session:
        model = error_models.get(session, version, basin_records.known(session, sorted(basins())))
    database.close()
    if model is None:
        raise SystemExit(f"It has no error model: freshet calibrate --version {version}")
    there = attachments.read_errors(shipped)
    if there is not None and _same(model.basins, there.basins):  # those shipped are rounded, no fit gives them
        raise SystemExit(f"Its error model is the shipped one: freshet calibrate --version {version}")
    never_seen = uncertainty.regional_of_parts(us.weights_of_twin(name))
    found = attachments.ShippedErrors(
        model.period, model.days, model.shape, never_seen, for_unseen=True, basins=model.basins
    )
    write_errors(shipped, found)
    print(f"{name}: {len(model.basins)} basins, {model.days} observed days of {model.period}")


def _same(one: Mapping[str, BasinErrors], other: Mapping[str, BasinErrors]) -> bool:
    """Return whether two error models have the same numbers of every basin."""
    if one.keys() != other.keys():
        return False
    pairs = ((of_basin.arrays(), other[name].arrays()) for name, of_basin in one.items())
    return all(np.array_equal(values, there[part]) for own, there in pairs for part, values in own.items())
