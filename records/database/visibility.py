"""What the public sees of a database: every table without the rows of basins and versions in the shadow.

For a basin or a version in the shadow everything is done, and only an administrator sees it. SHADOW owns it, the id of
no key: so it is not official, and no subscription gets its alerts. A statement of a public transaction reads each table
through an expression of the same name that lacks its rows, and those that refer to them.
"""

import re
from functools import lru_cache
from importlib import import_module
from typing import Any

from sqlalchemy import Connection, Dialect, String, cast, exists, func, or_, select

SHADOW = "shadow"
_IN_SHADOW = """SELECT 'basin_id', id FROM basins WHERE registered_by = 'shadow'
UNION ALL SELECT 'version_id', id FROM versions WHERE owner = 'shadow' ORDER BY 1, 2"""
_OPTION = "freshet_expressions"
_LOCKS = re.compile(r" FOR (NO KEY UPDATE|UPDATE|SHARE|KEY SHARE)\b")
_OWN_IDS = {"basins": "basin_id", "versions": "version_id", "comparisons": "comparison_id"}


def hide(connection: Connection) -> None:
    """Hide what is in the shadow from the transaction that begins."""
    if rows := connection.exec_driver_sql(_IN_SHADOW).all():
        is_file = connection.dialect.name == "sqlite"
        schema = "main" if is_file else connection.exec_driver_sql("SELECT current_schema()").scalar_one()
        names = tuple((column, name) for column, name in rows)
        connection.execution_options(**{_OPTION: _expressions(names, connection.dialect, schema)})


def restrict(connection: Connection, _cursor: Any, statement: str, parameters: Any, *_: Any) -> tuple[str, Any]:
    """Have a statement read each table as its transaction sees it. One that locks rows, or writes, stays as it is."""
    expressions = connection.get_execution_options().get(_OPTION)
    if not expressions or _LOCKS.search(statement) or not (found := re.match(r"\s*(WITH|SELECT)\b", statement)):
        return statement, parameters
    words = {*re.findall(r"\w+", statement)}
    seen = [sql for name, sql in expressions.items() if name in words]
    rest = f", {statement[found.end() :]}" if found[1] == "WITH" else f" {statement}"
    return (f"WITH {', '.join(seen)}{rest}" if seen else statement), parameters


@lru_cache(maxsize=4)
def _expressions(names: tuple[tuple[str, str], ...], dialect: Dialect, schema: str) -> dict[str, str]:
    """Return the expression of each table that has rows to hide."""
    # It imports every module that declares a table, this one's among them.
    tables = import_module("records.schema").Base.metadata.tables
    basins, versions = ([name for of, name in names if of == column] for column in ("basin_id", "version_id"))
    runs, parts, compared = tables["runs"].c, tables["run_basins"].c, tables["comparison_versions"].c
    changes, compared_basins = tables["alert_changes"].c, cast(tables["comparisons"].c.basins, String)
    of_version = select(runs.id).where(runs.version_id.in_(versions))
    hidden: dict[str, Any] = {
        "basin_id": basins,
        "version_id": versions,
        "run_id": of_version,
        "comparison_id": select(compared.comparison_id).where(compared.version_id.in_(versions)),
        "change_seq": select(changes.seq).where(changes.basin_id.in_(basins) | changes.run_id.in_(of_version)),
    }
    of_run = select(parts.run_id).where(parts.run_id == runs.id)
    more = {
        "runs": [or_(exists(of_run.where(parts.basin_id.not_in(basins))), ~exists(of_run))],
        "comparisons": [func.replace(compared_basins, f'"{name}"', "") == compared_basins for name in basins],
    }
    how: Any = {"schema_translate_map": {None: schema}, "render_schema_translate": True}
    found = {}
    for table in tables.values():
        columns = {_OWN_IDS.get(table.name) if column.name == "id" else column.name: column for column in table.c}
        seen = [or_(columns[of].is_(None), columns[of].not_in(ids)) for of, ids in hidden.items() if of in columns]
        if conditions := [*seen, *more.get(table.name, ())]:
            sql = (
                select(table).where(*conditions).compile(dialect=dialect, compile_kwargs={"literal_binds": True}, **how)
            )
            found[table.name] = f"{table.name} AS NOT MATERIALIZED ({sql})"
    return found
