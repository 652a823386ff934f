"""Writes a shipped ensemble, at once or member by member as their trainings end."""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydrology.base.digests import fingerprint, sha256
from hydrology.base.errors import InvalidInput
from models.pretrained.form import DESCRIPTION, Description, Origin, ShippedMember, half
from runtime.atomic_files import replace_file


class AnotherVersion(InvalidInput):
    """The folder holds another version."""

    kind = "another-version"


@dataclass(frozen=True, slots=True)
class Finished:
    """A member to ship; `weights` are safetensors bytes in any precision."""

    label: int
    seed: int
    weights: bytes
    log: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """The content of a folder after writing.

    Attributes:
        members: the labels of all its members.
        content: the fingerprint of the whole.
        changed: whether anything was written; the same members again write nothing.
    """

    members: tuple[int, ...]
    content: str
    changed: bool


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
        files[name] = half(member.weights)
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
        files[DESCRIPTION] = (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()
        stored = {path.name: path.read_bytes() for path in map(folder.joinpath, files) if path.is_file()}
        changed = {name: blob for name, blob in files.items() if stored.get(name) != blob}
        for name, blob in changed.items():
            replace_file(folder / name, blob)
    return Written(tuple(sorted(entries)), fingerprint(content), bool(changed))


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
    """Return the members that a folder describes already."""
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
