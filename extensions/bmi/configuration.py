"""The file that a basin is initialised from."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from freshet.cli.text_files import of_file, valid
from hydrology.base.errors import InvalidInput
from hydrology.base.units import MAX_AREA_KM2
from jobspec.fields import Basin, DayField, RequestModel
from models.pretrained import SHELF, combination, form


class Configuration(RequestModel):
    """The configuration of a basin behind the BMI.

    Attributes:
        ensemble: the name of one that comes with Freshet, or a folder that `freshet models export` has written.
        basin: its identifier; the basins of the training are recognised by it.
        area_km2: drainage area, to convert depth of runoff into flow.
        attributes: every attribute that the ensemble takes, by name.
        first_day: the day that the first update computes.
        state: a file with the state at the end of the day before; without it the stores are empty.
        final_state: the file that `finalize` writes the state to.

    Paths that are not absolute lie beside the configuration.
    """

    ensemble: Annotated[str, Field(min_length=1)]
    basin: Basin
    area_km2: Annotated[float, Field(gt=0, le=MAX_AREA_KM2)]
    attributes: dict[str, float]
    first_day: DayField
    state: Annotated[Path | None, Field(strict=False)] = None
    final_state: Annotated[Path | None, Field(strict=False)] = None


def read(file: Path) -> Configuration:
    """Read a configuration and make its paths absolute.

    Raises:
        InvalidInput: it is not JSON or TOML, or a field cannot be used.
    """
    result = valid(TypeAdapter(Configuration), of_file(file), f"model of {file}")
    beside = {
        name: file.parent.absolute() / path for name in ("state", "final_state") if (path := getattr(result, name))
    }
    return result.model_copy(update={"ensemble": str(_folder(result.ensemble, file.parent.absolute())), **beside})


def _folder(ensemble: str, beside: Path) -> Path:
    if ensemble in form.names(SHELF):
        return SHELF / ensemble
    folder = SHELF / ensemble if ensemble in combination.names(SHELF) else beside / ensemble
    if (folder / form.DESCRIPTION).exists():
        return folder
    if (folder / combination.DESCRIPTION).exists():
        parts = ", ".join(part.name for part in combination.read(folder).parts)
        raise InvalidInput(f"{ensemble!r} is a combination, which cannot be run here: name one of its parts ({parts}).")
    raise InvalidInput(
        f"There is no ensemble {ensemble!r}: name one of {', '.join(form.names(SHELF))}, or a folder that "
        "`freshet models export` has written."
    )
