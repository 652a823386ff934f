"""fields of trainings have the names of the field.

A training is named by its request, a job's request by its hash, and a shipped ensemble by its content: these follow.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

Json = dict[str, Any]
Names = Mapping[str, Mapping[str, str]]

_NAMES: Names = {  # by the part of a configuration that they stand in
    "": {"averaging": "ema_decay"},
    "windows": {"warmup_days": "spinup_days"},
    "schedule": {"peak": "peak_learning_rate", "final": "final_learning_rate"},
}
_BEFORE: Names = {part: {new: old for old, new in names.items()} for part, names in _NAMES.items()}
# What is shipped, mclstm-maurer-447, has these names in its description.
_CONTENT = {
    "87ea657652ab29057ef3c2522a100aebb01254fce7cd5b5a1346a0bcec4c830c": (
        "9861031e97ae21582096b94bcd07cc71664236a2acb648d5ca1cfe9bd67f3eaa"
    )
}


def upgrade() -> None:
    _rename(_NAMES, _CONTENT)


def downgrade() -> None:
    _rename(_BEFORE, {new: old for old, new in _CONTENT.items()})


def _rename(names: Names, contents: Mapping[str, str]) -> None:
    for row in _rows("versions", "config", "properties"):
        config, properties = _config(row.config, names), _properties(row.properties, contents)
        _set("versions", row.id, config=config, properties=properties)
    renamed = dict(_trainings(names, contents))
    for row in _rows("jobs", "kind", "params"):
        params = row.params
        if row.kind == "member":
            params = params | {"training": renamed.get(params.get("training"), params.get("training"))}
        params = _params(row.kind, params, names)
        if params != row.params or row.kind == "upload":
            request_hash = _fingerprint({"kind": row.kind, "params": params})
            _set("jobs", row.id, params=params, request_hash=request_hash)
    for row in _rows("schedules", "kind", "params"):
        _set("schedules", row.id, params=_params(row.kind, row.params, names))


def _trainings(names: Names, contents: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Rename the requests of trainings, and yield the id that each had and the one that it has now."""
    table = sa.Table("trainings", sa.MetaData(), autoload_with=op.get_bind())
    rows = op.get_bind().execute(sa.select(table)).all()
    ids = {row.id for row in rows}
    for row in rows:
        request = dict(row.request)
        if "config" in request:
            request["config"] = _config(request["config"], names)
        if "pretrained" in request:
            request["pretrained"] = contents.get(request["pretrained"], request["pretrained"])
        training = _fingerprint(request)
        if training in ids:  # as it was, or begun again since: that one goes on
            _set("trainings", row.id, request=request)
            continue
        op.execute(table.insert().values(**row._asdict() | {"id": training, "request": request}))
        for of_training in ("training_checkpoints", "training_members"):
            part = sa.table(of_training, sa.column("training_id", sa.String()))
            op.execute(part.update().where(part.c.training_id == row.id).values(training_id=training))
        op.execute(table.delete().where(table.c.id == row.id))
        yield row.id, training


def _config(config: Json, names: Names) -> Json:
    config = {names[""].get(field, field): value for field, value in config.items()}
    for part in ("windows", "schedule"):
        if isinstance(config.get(part), dict):
            config[part] = {names[part].get(field, field): value for field, value in config[part].items()}
    return config


def _params(kind: str, params: Json, names: Names) -> Json:
    if kind != "training" or not isinstance(params.get("config"), dict):
        return params
    return params | {"config": _config(params["config"], names)}


def _properties(properties: Json, contents: Mapping[str, str]) -> Json:
    shipped = properties.get("pretrained")
    if not shipped:
        return properties
    return properties | {"pretrained": shipped | {"content": contents.get(shipped["content"], shipped["content"])}}


def _fingerprint(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _table(name: str) -> sa.TableClause:
    words = [sa.column(column, sa.String()) for column in ("id", "kind", "request_hash")]
    objects = [sa.column(column, sa.JSON()) for column in ("config", "params", "properties", "request")]
    return sa.table(name, *words, *objects)


def _rows(name: str, *columns: str) -> list[Any]:
    table = _table(name)
    return list(op.get_bind().execute(sa.select(table.c.id, *(table.c[column] for column in columns))))


def _set(name: str, row: str, **values: Any) -> None:
    table = _table(name)
    op.execute(table.update().where(table.c.id == row).values(**values))
