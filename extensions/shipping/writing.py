"""Writes a shipped ensemble, at once or member by member as their trainings end."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydrology.base.digests import fingerprint, sha256
from hydrology.base.errors import DataProblem, InvalidInput
from models import checkpoint
from models.pretrained import combination
from models.pretrained.form import CARD, DESCRIPTION, Description, Origin, ShippedMember
from runtime.stored_files import replace_file

_CARD = """# {name}

A model version that `freshet models export` wrote; `freshet models install-pretrained FOLDER` installs it.
Describe here what it learnt from, how well it does, and what it should not be used for.
"""


class AnotherVersion(InvalidInput):
    """The folder holds another version."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A member to ship; `weights` are safetensors bytes in any precision."""

    label: int
    seed: int
    weights: bytes
    log: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """The content of a folder after writing: labels of all members, fingerprint of the whole, ensembles combined.

    `changed` is whether anything was written; the same members again write nothing.
    """

    members: tuple[int, ...]
    content: str
    changed: bool
    parts: tuple[str, ...] = ()


def write(folder: Path, origin: Origin, members: Sequence[Finished]) -> Written:
    """Write members of an ensemble into a folder, beside its members that are there.

    Each file appears atomically, and the description last: before it there is no ensemble to read. Programs that write
    into the same folder wait for each other.

    Raises:
        AnotherVersion: the folder holds another ensemble, or other weights of one of these members.
        DataProblem: half precision cannot hold a member's weights; nothing is written.
    """
    files: dict[str, bytes] = {}
    entries: dict[int, ShippedMember] = {}
    for member in members:
        name = f"member-{member.label:02}.safetensors"
        files[name] = _half(member.weights)
        digest = sha256(files[name])
        entries[member.label] = ShippedMember(
            label=member.label, seed=member.seed, file=name, sha256=digest, log=member.log
        )
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        for label, there in _there(folder, origin).items():
            if entries.setdefault(label, there) != there:
                raise AnotherVersion(f"{folder} holds other weights of member {label}: choose another folder.")
        description = Description(**dict(origin), members=[entries[label] for label in sorted(entries)])
        content = description.model_dump(mode="json")
        files[DESCRIPTION] = _as_text(content)
        return Written(tuple(sorted(entries)), fingerprint(content), _replace(folder, files))


def write_combination(folder: Path, description: combination.Description) -> Written:
    """Write a combination's description; its parts are there. `AnotherVersion` where the folder holds another."""
    content = description.model_dump(mode="json")
    blob, path = _as_text(content), folder / combination.DESCRIPTION
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        if (folder / DESCRIPTION).exists() or (path.exists() and path.read_bytes() != blob):
            raise AnotherVersion(f"{folder} holds another version: choose another folder.")
        changed = _replace(folder, {combination.DESCRIPTION: blob})
    return Written((), fingerprint(content), changed, tuple(part.name for part in description.parts))


def _half(weights: bytes) -> bytes:
    """Return a member's weights in half precision; DataProblem where one is too large, or not a number."""
    tensors, _ = checkpoint.parse(weights)
    halves = {name: tensor.half() for name, tensor in tensors.items()}
    if lost := checkpoint.not_finite(halves):
        raise DataProblem(
            f"Half precision cannot hold the weights {', '.join(lost)} (above 65504, or not numbers): train again."
        )
    return checkpoint.dump(halves, {})


def _as_text(content: Any) -> bytes:
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()


def _replace(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Write files that differ from those in a folder, in their order, and return whether there are any.

    A folder without a model card gets one to fill in; one that is there stays.
    """
    stored = {path.name: path.read_bytes() for path in map(folder.joinpath, files) if path.is_file()}
    changed = {name: blob for name, blob in files.items() if stored.get(name) != blob}
    card = {} if (folder / CARD).exists() else {CARD: _CARD.format(name=folder.name).encode()}
    *others, description = files
    for name in (*others, *card, description):
        if name in card or name in changed:
            replace_file(folder / name, (card | changed)[name])
    return bool(changed)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, which ends at the latest with the process."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _there(folder: Path, origin: Origin) -> dict[int, ShippedMember]:
    if (folder / combination.DESCRIPTION).exists():
        raise AnotherVersion(f"{folder} holds a combination: choose another folder.")
    path = folder / DESCRIPTION
    if not path.exists():
        return {}
    try:
        found = Description.model_validate_json(path.read_bytes())
    except ValueError:
        raise AnotherVersion(f"{path} is not a description of ours: choose another folder.") from None
    if any(getattr(found, name) != value for name, value in origin):
        raise AnotherVersion(f"{folder} holds another version: choose another folder.")
    return {member.label: member for member in found.members}
