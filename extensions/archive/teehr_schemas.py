"""Tables of TEEHR, the evaluation library of RTI and CIROH, as its version 0.6.6 validates them.

The names, types and nullability are those of its schemas; the checks that it makes besides are in `NAMES`.
"""

import pyarrow as pa

_TEXT, _INSTANT = pa.string(), pa.timestamp("ms")
NAME, UNIT_NAME = r"^[a-zA-Z0-9_]+$", r"^[a-zA-Z0-9_^/]+$"
"""What names of configurations and variables, and of units, consist of."""


def _schema(*fields: pa.Field, properties: bool = False) -> pa.Schema:
    more = [pa.field("properties", pa.map_(_TEXT, _TEXT))] if properties else []
    return pa.schema([*fields, pa.field("created_at", _INSTANT), pa.field("updated_at", _INSTANT), *more])


def _texts(*names: str) -> list[pa.Field]:
    return [pa.field(name, _TEXT, nullable=False) for name in names]


def _series(*more: pa.Field) -> pa.Schema:
    return _schema(
        pa.field("reference_time", _INSTANT),
        pa.field("value_time", _INSTANT, nullable=False),
        pa.field("value", pa.float32(), nullable=False),
        *_texts("variable_name", "configuration_name", "unit_name", "location_id"),
        *more,
    )


SCHEMAS = {
    "units": _schema(*_texts("name", "long_name")),
    "variables": _schema(*_texts("name", "long_name")),
    "configurations": _schema(*_texts("name", "timeseries_type", "description"), properties=True),
    "locations": _schema(*_texts("id", "name"), pa.field("geometry", pa.binary(), nullable=False), properties=True),
    "location_crosswalks": _schema(*_texts("primary_location_id", "secondary_location_id"), properties=True),
    "primary_timeseries": _series(),
    "secondary_timeseries": _series(pa.field("member", _TEXT)),
}
"""The schema of each table, by its name."""
