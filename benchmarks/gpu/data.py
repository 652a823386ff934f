"""Configurations and data of trainings as one file, for a machine with a card and without a database.

Numbers of the forcing have two decimals, so that hundredths as integers, byte by byte, are exact and small.
"""

import io
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import day
from jobspec.training import TrainingConfig
from models.forcing import Array, Forcing, days_of
from models.learning import TrainingData
from runtime.settings import Settings
from runtime.stored_files import replace_file

FILE = "gpu-data.npz"


def path() -> Path:
    """Return where the file lies: below FRESHET_DATA."""
    return Settings.load().data / FILE


def read(name: str = "mclstm") -> tuple[TrainingConfig, TrainingData]:
    """Return the configuration of a series, and the data of all; where there is no file yet, of the database of
    FRESHET_DATA, writing it."""
    if not path().exists():
        _write(*_from_database())
    with np.load(path(), allow_pickle=False) as stored:
        mass, discharge = _decoded(stored["mass"]), stored["discharge"]
        auxiliary = np.stack([_decoded(stored[f"auxiliary-{at}"]) for at in range(int(stored["auxiliaries"]))], -1)
        ids = tuple(stored["ids"].tolist())
        configs = json.loads(str(stored["configs"]))
        if name not in configs:
            raise SystemExit(f"{path()} has no series {name!r}: name one of {', '.join(configs)}.")
        config = TrainingConfig.model_validate(configs[name])
        forcing = Forcing(day(str(stored["first"])), mass, auxiliary, stored["static"], ids)
    return config, TrainingData(forcing, discharge)


def _from_database() -> tuple[dict[str, TrainingConfig], TrainingData]:
    from benchmarks.regional.data import opened, require_all
    from benchmarks.regional.members import series
    from benchmarks.regional.recipes import COMPARED
    from hydrology.base.absent import texts
    from operations.training.training_data import prepare

    recipe = series("mclstm")
    config = recipe.config
    database = opened(config.inputs.product)
    with database.reading() as session:
        prepared = prepare(session, config, recipe.basins)
    database.close()
    require_all(texts(prepared.left_out))
    record = prepared.data.forcing.period
    assert config.validation_period is not None
    discharge = np.full_like(prepared.data.discharge, np.nan)  # of the test years: no training needs it
    for period in (config.train_period, config.validation_period):
        days = days_of(record, period)
        discharge[:, days] = prepared.data.discharge[:, days]
    return {name: series(name).config for name in ("mclstm", *COMPARED)}, TrainingData(prepared.data.forcing, discharge)


def _write(configs: dict[str, TrainingConfig], data: TrainingData) -> None:
    forcing = data.forcing
    arrays = {f"auxiliary-{at}": _encoded(forcing.auxiliary[..., at]) for at in range(forcing.auxiliary.shape[-1])}
    fields = {"ids": np.array(forcing.ids), "auxiliaries": np.array(forcing.auxiliary.shape[-1])}
    configured = json.dumps({name: config.model_dump(mode="json") for name, config in configs.items()})
    fields |= {"first": np.array(str(forcing.first)), "configs": np.array(configured)}
    fields |= {"mass": _encoded(forcing.mass), "static": forcing.static, "discharge": data.discharge}
    blob = io.BytesIO()
    np.savez_compressed(blob, allow_pickle=False, **fields, **arrays)
    replace_file(path(), blob.getvalue())


def _encoded(values: Array) -> npt.NDArray[np.uint8]:
    """Return the bytes of the differences from day to day of whole hundredths, lowest bytes first."""
    whole = np.round(values.astype(np.float64) * 100).astype(np.int32)
    if not np.array_equal((whole / 100).astype(np.float32), values):
        raise SystemExit("The forcing is not in hundredths: it cannot be stored so.")
    steps = np.diff(whole, axis=1, prepend=np.int32(0))
    return np.ascontiguousarray(np.moveaxis(steps.view(np.uint8).reshape(*steps.shape, 4), -1, 0))


def _decoded(stored: npt.NDArray[np.uint8]) -> Array:
    steps = np.ascontiguousarray(np.moveaxis(stored, 0, -1)).view(np.int32)[..., 0]
    decoded: Array = (np.cumsum(steps, axis=1, dtype=np.int64) / 100).astype(np.float32)
    return decoded
