"""The data of all series on a product as one file, for a machine with a card and without a database.

`python -m benchmarks.gpu.data PRODUCT` writes it to FRESHET_DATA, from the database there, and checks that each series
reads from it what it would train on: members, twins and folds on `maurer_extended`, `daymet` or `maurer_daymet`.

Forcing has two decimals, the mean of two products a half more. So it is stored as whole half hundredths and how many
floating-point numbers it lies beside them, byte by byte: exact and small.
"""

import argparse
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import day
from jobspec.training import InputsConfig, TrainingConfig
from models.forcing import Array, Forcing, days_of
from models.learning import TrainingData, days_of_training
from runtime.settings import Settings
from runtime.stored_files import replace_file

if TYPE_CHECKING:
    from records.database.engine import Database

FILE = "gpu-data-{}.npz"
STEPS = 200  # to 1 mm or degree


def path(product: str) -> Path:
    """Return where the file of a product lies."""
    return Settings.load().data / FILE.format(product)


def read(series: str = "mclstm") -> tuple[TrainingConfig, TrainingData]:
    """Return the configuration and the data of a series, from whichever file has it."""
    for file in sorted(Settings.load().data.glob(FILE.format("*"))):
        with np.load(file, allow_pickle=False) as stored:
            described = json.loads(str(stored["described"]))
            if (chosen := described["series"].get(series)) is None:
                continue
            config = TrainingConfig.model_validate(chosen["config"])
            auxiliary = np.stack([_decoded(stored[f"auxiliary-{name}"]) for name in config.inputs.auxiliary], -1)
            static = stored["static"][:, [described["attributes"].index(name) for name in config.inputs.static]]
            ids = tuple(stored["ids"].tolist())
            forcing = Forcing(day(described["first"]), _decoded(stored["mass"]), auxiliary, static, ids)
            return config, _of_series(TrainingData(forcing, stored["discharge"]), config, chosen["basins"])
    raise SystemExit(f"No file has the series {series!r}: `python -m benchmarks.gpu.data PRODUCT` writes those of one.")


def _of_series(data: TrainingData, config: TrainingConfig, basins: Sequence[str]) -> TrainingData:
    """Return what a series learns from: its basins and days, those held out without discharge."""
    rows, record = np.array([data.forcing.ids.index(basin) for basin in basins]), data.forcing.period
    period = days_of_training(config, [record.first])
    discharge = data.discharge[rows][:, days_of(record, period)].copy()
    if config.held_out_period is not None:
        discharge[:, days_of(period, config.held_out_period)] = np.nan
    return TrainingData(data.forcing.basins(rows).over(period), discharge)


def write(product: str) -> None:
    """Write the file of a product."""
    from benchmarks.regional.data import opened
    from benchmarks.regional.members import NAMES
    from benchmarks.regional.members import series as named
    from benchmarks.regional.recipes import RECIPES

    every = {name: named(name) for name in NAMES}
    chosen = {name: one for name, one in every.items() if RECIPES[one.recipe].product == product}
    if not chosen:
        raise SystemExit(f"No series is trained on {product!r}.")
    widest = max(chosen.values(), key=lambda one: (len(one.basins), one.config.held_out_period is None))
    attributes = sorted({name for one in chosen.values() for name in one.config.inputs.static})
    seen = widest.config.inputs.model_copy(update={"static": tuple(attributes)})
    described = {
        name: {"config": one.config.model_dump(mode="json"), "basins": one.basins} for name, one in chosen.items()
    }
    database = opened(product)
    config = widest.config.model_copy(update={"inputs": seen})
    _store(product, _prepared(database, config, widest.basins), config.inputs, described)
    for name, one in chosen.items():
        if not _equal(read(name)[1], _prepared(database, one.config, one.basins)):
            raise SystemExit(f"{name} does not read from {path(product)} what it is trained on.")
    database.close()
    print(f"{path(product)}: {path(product).stat().st_size / 2**20:.0f} MiB; {', '.join(chosen)}")


def _prepared(database: "Database", config: TrainingConfig, basins: Sequence[str]) -> TrainingData:
    from benchmarks.regional.data import require_all
    from hydrology.base.absent import texts
    from operations.training.training_data import prepare

    with database.reading() as session:
        prepared = prepare(session, config, basins)
    require_all(texts(prepared.left_out))
    return prepared.data


def _store(product: str, data: TrainingData, inputs: InputsConfig, series: dict[str, Any]) -> None:
    forcing = data.forcing
    described = {"series": series, "attributes": inputs.static, "first": str(forcing.first)}
    arrays: dict[str, npt.NDArray[Any]] = {
        f"auxiliary-{name}": _encoded(forcing.auxiliary[..., at]) for at, name in enumerate(inputs.auxiliary)
    }
    arrays |= {"mass": _encoded(forcing.mass), "static": forcing.static, "discharge": data.discharge}
    blob = io.BytesIO()
    np.savez_compressed(
        blob, allow_pickle=False, described=np.array(json.dumps(described)), ids=np.array(forcing.ids), **arrays
    )
    replace_file(path(product), blob.getvalue())


def _equal(read: TrainingData, prepared: TrainingData) -> bool:
    ours, theirs = read.forcing, prepared.forcing
    pairs = [(ours.mass, theirs.mass), (ours.auxiliary, theirs.auxiliary), (ours.static, theirs.static)]
    pairs.append((read.discharge, prepared.discharge))
    same = (ours.ids, ours.first) == (theirs.ids, theirs.first)
    return same and all(np.array_equal(one, other, equal_nan=True) for one, other in pairs)


def _encoded(values: Array) -> npt.NDArray[np.uint8]:
    """Return the bytes of the differences from day to day of whole steps, and of what is left, lowest bytes first."""
    whole = np.round(values.astype(np.float64) * STEPS).astype(np.int32)
    left = np.ascontiguousarray(values).view(np.int32) - _of_steps(whole).view(np.int32)
    both = np.stack([np.diff(whole, axis=1, prepend=np.int32(0)), left])
    return np.ascontiguousarray(np.moveaxis(both.view(np.uint8).reshape(*both.shape, 4), -1, 0))


def _decoded(stored: npt.NDArray[np.uint8]) -> Array:
    differences, left = np.ascontiguousarray(np.moveaxis(stored, 0, -1)).view(np.int32)[..., 0]
    whole = np.cumsum(differences, axis=1, dtype=np.int32)
    values: Array = (_of_steps(whole).view(np.int32) + left).view(np.float32)
    return values


def _of_steps(whole: npt.NDArray[np.int32]) -> Array:
    nearest: Array = (whole / STEPS).astype(np.float32)
    return nearest


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu.data", description=__doc__)
    parser.add_argument("product")
    write(parser.parse_args().product)
