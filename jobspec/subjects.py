"""What a request for a job is about: the records and the days that it names."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from hydrology.base.calendar import Day, Period
from jobspec.fields import RequestModel
from jobspec.jobs.base import JobRequest

Record = Literal["basin", "version", "feed", "weather", "weather model", "product"]

RECORDS: Mapping[str, Record] = {
    "basin": "basin",
    "basins": "basin",
    "version": "version",
    "versions": "version",
    "parent": "version",
    "feed": "feed",
    "feeds": "feed",
    "weather_id": "weather",
    "weather": "weather model",
    "product": "product",
    "from_": "product",
    "to": "product",
}
"""The kind of record that a parameter names. All kinds of job use a name alike, but for `BRINGING`."""
BRINGING = ("ingest", "upload", "weather", "basin", "pretrained")
"""Kinds of job that name what they bring, or what may follow them."""
FETCHING = ("fetch", "backfill")
"""Kinds of job whose days may lie outside the records, because they fetch them."""


class Parameter(NamedTuple):
    """A parameter that is set.

    Attributes:
        field: its path within the params, as a request writes it.
        name: of the field alone.
    """

    field: str
    name: str
    value: Any

    @property
    def is_of_days(self) -> bool:
        """Whether it is a day or a period."""
        return isinstance(self.value, Day | Period)


def named(params: RequestModel, prefix: str = "") -> Iterator[Parameter]:
    """Yield the parameters that name records or days, those of nested ones too, each of a list by itself."""
    for name, info in type(params).model_fields.items():
        value, field = getattr(params, name), prefix + (info.alias or name)
        if isinstance(value, RequestModel):
            yield from named(value, f"{field}.")
            continue
        several = isinstance(value, list)
        for at, part in enumerate(value if several else [value]):
            parameter = Parameter(f"{field}.{at}" if several else field, name, part)
            if parameter.is_of_days or (name in RECORDS and part is not None):
                yield parameter


def subject(request: JobRequest) -> Mapping[str, Any]:
    """Return the records and days that a request names, without how it is to be computed."""
    return {parameter.field: parameter.value for parameter in named(request.params)}
