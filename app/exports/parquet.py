"""Tables as Parquet: null where there is no value, with the unit and the meaning of each column."""

from typing import TYPE_CHECKING

from app.exports.table import Column, Table

if TYPE_CHECKING:
    import pyarrow


def write(table: Table) -> bytes:
    """Return a table as a file."""
    import pyarrow
    from pyarrow import parquet

    fields = [_field(column) for column in table.columns]
    arrays = [pyarrow.array(column.values, field.type) for column, field in zip(table.columns, fields, strict=True)]
    schema = pyarrow.schema(fields, metadata={"title": table.title})
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), sink, compression="zstd")
    return bytes(sink.getvalue())


def _field(column: Column) -> "pyarrow.Field":
    import pyarrow

    types = {
        "text": pyarrow.string(),
        "number": pyarrow.float64(),
        "integer": pyarrow.int64(),
        "truth": pyarrow.bool_(),
        "day": pyarrow.date32(),
        "instant": pyarrow.timestamp("us", "UTC"),
    }
    shown = {"meaning": column.meaning} | ({} if column.unit is None else {"unit": column.unit})
    return pyarrow.field(column.name, types[column.kind], metadata=shown)
