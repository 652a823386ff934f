"""The initial and final state of a run. An XML description beside a file of ours."""

from dataclasses import dataclass
from pathlib import Path

from hydrology.base.errors import InvalidInput
from models.ensemble import Ensemble
from models.saved_state import Owner, SavedState, dump, parse
from operations.fews import markup
from operations.fews.markup import Instant
from operations.fews.places import FewsLocations
from operations.fews.series import Days
from runtime.atomic_files import replace_file

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
    """Read a description.

    Raises:
        SourceError: it is not a state description.
        InvalidInput: it names several states, or a path outside the run's folders.
    """
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


def read(path: Path, places: FewsLocations, owner: Owner, ensemble: Ensemble, days: Days) -> SavedState:
    """Read the state of the day before a run.

    Raises:
        SourceError: the file cannot be read.
        UnusableState: it is damaged, or belongs to another model.
        InvalidInput: it is of another day.
    """
    state = parse(places.read(path), owner, ensemble)
    following = state.day + 1
    if following != days.period.first:
        raise InvalidInput(
            f"The state is of the end of {state.day}, and the run begins with {days.period.first}: begin it with "
            f"{following}, or give the state of the day before."
        )
    return state


def write_state(description: Description, state: SavedState, at: Instant, hours: float) -> None:
    """Write a state, and its description beside it.

    Args:
        at: the end of its day.
        hours: offset of the description's time from UTC.
    """
    if description.write is None:
        return
    replace_file(description.write, dump(state))
    root = markup.new("State", _VERSION)
    markup.add(root, "stateId", description.id)
    markup.add(root, "timeZone", str(float(hours)))
    markup.add(root, "dateTime", **markup.local(at, hours))
    location = markup.add(root, "stateLoc", type="file")
    for name in ("readLocation", "writeLocation"):
        markup.add(location, name, str(description.write))
    replace_file(description.write.with_name(f"{description.write.name}.xml"), markup.written(root))
