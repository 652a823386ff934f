"""Comparisons from the records to their answers."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.comparisons.schemas import BasinColumn, Comparison, ComparisonSummary, Period
from hydrology.calendar import Day, as_date
from hydrology.errors import NotFound
from records import comparisons, versions

Column = Sequence[float | None]


class NotCompared(NotFound):
    """The comparison is not of that metric."""

    kind = "not-compared"


def page(
    session: Session, *, version: str | None, after: str | None, limit: int
) -> tuple[list[ComparisonSummary], bool]:
    """Return a page of comparisons, of all versions or of one, and whether there are more after it.

    Raises:
        UnknownVersion: a version is named and none of that id is kept.
    """
    if version is not None:
        versions.get(session, version)
    found = comparisons.list_comparisons(session, version=version, after=after, limit=limit + 1)
    told = [
        ComparisonSummary(
            id=one.id,
            created_at=one.created_at,
            period=_period(one.first_day, one.last_day),
            versions=list(one.versions),
            basin_count=one.basins,
        )
        for one in found[:limit]
    ]
    return told, len(found) > limit


def detail(session: Session, comparison: str, metric: str | None) -> Comparison:
    """Return a comparison, in all its metrics or in one.

    Raises:
        UnknownComparison: there is none of that id.
        NotCompared: it is not of that metric.
    """
    kept = comparisons.get(session, comparison)
    result = kept.result
    known = [one["metric"] for one in result["scores"]]
    if metric is not None and metric not in known:
        raise NotCompared(f"Comparison {comparison} has no {metric}: it has {', '.join(known)}.")

    def chosen(scores: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [one for one in scores if metric in (None, one["metric"])]

    def of_models(models: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
        return [one | {name: chosen(one[name])} for one in models if chosen(one[name])]

    table = dict(result["published_table"])
    table["period"] = {name: table.pop(name) for name in ("first_day", "last_day")}
    table["models"] = of_models(table["models"], "medians")
    return Comparison.model_validate(
        {
            "id": kept.id,
            "created_at": kept.created_at,
            "period": _period(kept.first_day, kept.last_day),
            "versions": result["versions"],
            "scores": chosen(result["scores"]),
            "published_models": of_models(result["published_models"], "scores"),
            "published_table": table,
            "basins": list(kept.basins),
            "left_out": result["left_out"],
            "by_basin": _columns(result["values"], metric),
            "missing": result["missing"],
        }
    )


def _columns(values: dict[str, dict[str, Column]], metric: str | None) -> list[BasinColumn]:
    return [
        BasinColumn(
            metric=name,
            version=version,
            values=[_rounded(value) for value in column],
            differences=None if at == 0 else _differences(column, next(iter(of_versions.values()))),
        )
        for name, of_versions in values.items()
        if metric in (None, name)
        for at, (version, column) in enumerate(of_versions.items())
    ]


def _differences(column: Column, first: Column) -> list[float | None]:
    return [
        None if one is None or other is None else _rounded(one - other)
        for one, other in zip(column, first, strict=True)
    ]


def _rounded(value: float | None) -> float | None:
    """Return a value with 7 significant digits, the precision of the flows that it is of."""
    return None if value is None else float(f"{value:.7g}")


def _period(first: Day, last: Day) -> Period:
    return Period(first_day=as_date(first), last_day=as_date(last))
