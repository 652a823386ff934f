"""`freshet shadow`: what is operated and not public yet."""

from typing import Annotated

from extensions.shadow import endpoints
from extensions.shadow.endpoints import Shadow
from freshet.cli.options import option
from freshet.cli.reading import Reading, Shown, reads, writes
from hydrology.base.basins import basin_id
from hydrology.base.errors import InvalidInput
from records.access.audit import Writer

Basin = Annotated[str | None, option("BASIN", "A basin: USGS number or full identifier.", parser=basin_id)]
Version = Annotated[str | None, option("VERSION", "A model version.")]


@reads
def show(at: Reading) -> Shown:
    """Show the basins and versions that are not public yet, and how far each is."""
    found = endpoints.shadow_of(at.session, at.clock)
    return Shown(found, lambda: "\n".join(map(in_words, found.shadow)) or "Nothing is in the shadow.")


@writes
def start(by: Writer, basin: Basin = None, version: Version = None) -> Shown:
    """Put a basin, stored or not yet, or a version into the shadow: it is operated, and nothing of it is public."""
    kind, name = _chosen(basin, version)
    begin = endpoints.start_shadow_of_basin if kind == "basin" else endpoints.start_shadow_of_version
    found = begin(by, name)
    return Shown(found, lambda: in_words(found))


@writes
def end(by: Writer, basin: Basin = None, version: Version = None) -> Shown:
    """Agree that a basin or a version becomes public. It is refused while a gate is not met."""
    kind, name = _chosen(basin, version)
    (endpoints.end_shadow_of_basin if kind == "basin" else endpoints.end_shadow_of_version)(by, name)
    return Shown({kind: name}, lambda: f"{name} is public.")


def in_words(one: Shadow) -> str:
    lines = [f"  {'met' if gate.is_met else 'not met'}  {gate}" for gate in one.gates]
    return "\n".join([f"{one.subject} {one.id} {one.name or ''}".rstrip(), *lines])


def _chosen(basin: str | None, version: str | None) -> tuple[str, str]:
    if (basin is None) == (version is None):
        raise InvalidInput("Name a basin with --basin, or a version with --version.")
    return ("basin", basin) if basin is not None else ("version", version or "")
