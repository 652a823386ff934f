"""Files of what is shipped: a folder with a description and a model card, and further files beside them.

A description is JSON and identifies the whole by its fingerprint. Nothing of it is ever executed.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hydrology.base.digests import fingerprint
from hydrology.base.errors import DataProblem, excerpt
from jobspec.fields import faults

CARD = "README.md"

Described = TypeVar("Described", bound=BaseModel)
Beside = TypeVar("Beside")
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
FolderName = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class DamagedEnsemble(DataProblem):
    """A shipped ensemble differs from the one that was written."""

    kind = "damaged-ensemble"


class Frozen(BaseModel):
    """A part of a description: it has no other fields and never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Named(Frozen):
    """Something shipped in a folder beside this one, by the folder's name and the fingerprint of its description."""

    name: FolderName
    content: Sha256


@dataclass(frozen=True, slots=True)
class Shipped:
    """What is shipped in a folder, complete and checked; the fingerprint of its description covers all files."""

    name: str
    content: str
    folder: Path


def read_description(path: Path, form: type[Described]) -> tuple[Described, str]:
    """Return what a description holds, and its fingerprint; its folder must have a model card, too.

    Raises:
        DamagedEnsemble: it cannot be read, or is not of that form.
    """
    text = read_file(path)
    read_file(path.parent / CARD)
    try:
        content = json.loads(text)
        return form.model_validate(content), fingerprint(content)
    except ValidationError as error:
        wrong = faults(error, content)
        raise DamagedEnsemble(
            f"{path} cannot be used ({wrong}): fetch it again, or install the Freshet that it is for."
        ) from None
    except (ValueError, RecursionError) as error:
        raise DamagedEnsemble(f"{path} is not JSON ({excerpt(error)}): fetch it again.") from None


def read_file(path: Path) -> bytes:
    """Return the content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedEnsemble(f"{path} cannot be read ({error.strerror}): fetch it again.") from None


def require_named(found: Shipped, named: Named, role: str, description: Path) -> None:
    """Refuse as a `DamagedEnsemble` what is not the one that a description names."""
    if found.content != named.content:
        raise DamagedEnsemble(f"{found.folder} is not the {role} that {description} names: fetch both again.")


def read_beside(shipped: Shipped, file: str, parse: Callable[[bytes], tuple[str, Beside]]) -> Beside | None:
    """Return what a file beside a description holds, or None without such a file.

    Such a file is not part of the description: another content belongs to the same ensemble. `parse` returns the
    fingerprint of the description that the bytes name, and what they hold.

    Raises:
        DamagedEnsemble: it is damaged, or belongs to another ensemble.
    """
    path = shipped.folder / file
    if not path.exists():
        return None
    try:
        content, beside = parse(path.read_bytes())
    except (OSError, DataProblem, LookupError, ValueError, TypeError) as error:
        why = faults(error, None) if isinstance(error, ValidationError) else excerpt(error)
        raise DamagedEnsemble(f"{path} cannot be used ({why}): fetch it again.") from None
    if content != shipped.content:
        raise DamagedEnsemble(f"{path} is not of the ensemble beside it: fetch both again.")
    return beside
