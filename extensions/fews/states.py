"""The initial and final state of a run. An XML description beside a file of ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from extensions.fews import markup
from extensions.fews.markup import Instant
from extensions.fews.run_file import FewsLocations
from extensions.fews.series import Days
from hydrology.base.errors import DataProblem, InvalidInput
from models import checkpoint
from models.saved_state import Owner, SavedState, UnusableState, dump, parse
from operations.versions.load_networks import LoadedVersion
from runtime.stored_files import replace_file

_VERSION = "1.2"


@dataclass(frozen=True, slots=True)
class Description:
    """The paths of the states.

    Attributes:
        read: the initial state; None where it is not named or does not exist, as on the first run.
        write: the path for the state of T0; None where it is not wanted.
    """

    id: str
    read: Path | None
    write: Path | None


def described(path: Path, places: FewsLocations) -> Description:
    """Read a description."""
    root = markup.document(places.read(path), str(path), "State")
    states = root.findall("stateLoc")
    if len(states) != 1:
        raise InvalidInput(f"{path} has {len(states)} stateLoc: name one file, which holds the state of all locations.")
    paths = {
        name: places.path(written, name)
        for name in ("readLocation", "writeLocation")
        if (written := markup.text(states[0], name)) is not None
    }
    given = paths.get("readLocation")
    return Description(
        markup.text(root, "stateId") or "freshet",
        given if given is not None and given.exists() else None,
        paths.get("writeLocation"),
    )


def read(
    path: Path, places: FewsLocations, loaded: LoadedVersion, days: Days
) -> tuple[dict[str, SavedState], dict[str, str]]:
    """Read the states of the day before a run, by part of the version, and why those of other parts are missing."""
    content = places.read(path)
    contents = (
        _taken_apart(content, [name for name, _, _ in loaded.shares]) if loaded.version.combines else {"": content}
    )
    found, missing = dict[str, SavedState](), dict[str, str]()
    for name, _, one in loaded.shares:
        if name not in contents:
            missing[name] = "The state does not contain it: it begins again from a run without a state."
            continue
        state = parse(contents[name], owner_of(one), one.ensemble)
        following = state.day + 1
        if following != days.period.first:
            raise InvalidInput(
                f"The state is of the end of {state.day}, and the run begins with {days.period.first}: begin it with "
                f"{following}, or give the state of the day before."
            )
        found[name] = state
    return found, missing


def owner_of(loaded: LoadedVersion) -> Owner:
    """Return the owner of the states of a version with members of its own."""
    return Owner(loaded.version.weights_hash, loaded.version.product)


def _together(states: Mapping[str, SavedState]) -> bytes:
    """Encode the states of all parts as the bytes of one file; that of a version without parts is a file of its own."""
    contents = {name: dump(state) for name, state in states.items()}
    if "" in contents:
        return contents[""]
    return checkpoint.dump(
        {name: torch.frombuffer(bytearray(content), dtype=torch.uint8) for name, content in contents.items()}, {}
    )


def _taken_apart(content: bytes, parts: Sequence[str]) -> dict[str, bytes]:
    """Return the state of each part in a file."""
    try:
        tensors, header = checkpoint.parse(content)
    except DataProblem:
        raise UnusableState("The state cannot be read: fetch it again, or begin without one.") from None
    if header or not tensors.keys() & set(parts):  # the state of a version without parts has a header of its own
        raise UnusableState(
            f"The state belongs to another model (it has none of the parts {', '.join(parts)}): give one that this "
            "model wrote, or begin without one."
        )
    return {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}


def write_state(description: Description, states: Mapping[str, SavedState], at: Instant, hours: float) -> None:
    """Write the states of a version's parts into one file, and its description beside it."""
    if description.write is None:
        return
    replace_file(description.write, _together(states))
    root = markup.new("State", _VERSION)
    markup.add(root, "stateId", description.id)
    markup.add(root, "timeZone", str(float(hours)))
    markup.add(root, "dateTime", **markup.local(at, hours))
    location = markup.add(root, "stateLoc", type="file")
    for name in ("readLocation", "writeLocation"):
        markup.add(location, name, str(description.write))
    replace_file(description.write.with_name(f"{description.write.name}.xml"), markup.written(root))
