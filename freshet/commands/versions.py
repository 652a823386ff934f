"""`freshet models`: trained and shipped model versions, and which one each basin uses."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

from rich.console import RenderableType

from app.versions import schemas
from app.versions import versions as endpoints
from freshet.cli.job_command import Done, carry_out
from freshet.cli.options import Basins, argument, flag, option
from freshet.cli.output import Json, inform, listing, table
from freshet.cli.reading import Reading, Shown, reads, writes
from freshet.cli.text_files import valid
from hydrology.base.errors import counted
from hydrology.water.probes import ProbeResult
from jobspec.jobs.training import PretrainedParams
from records.access import audit
from records.access.audit import Writer
from records.versions import versions

_COLUMNS = (
    "version: id | label | architecture | product | learnt from: trained_on | basins: basin_count | "
    "members: member_count | used by: current_for | created: created_at | status"
)


Version = Annotated[str, argument("VERSION", "Its id.")]


@reads
def list_versions(at: Reading) -> Shown:
    """List the versions, the newest first."""
    found = schemas.ModelPage(
        models=schemas.version_summaries(at.session, versions.list_versions(at.session)), next=None
    )
    return Shown(found, lambda: listing(found.models, _COLUMNS, counted(len(found.models), "version")))


@reads
def show_version(at: Reading, version: Version) -> Shown:
    """Show a version: its network, its training data and its scores."""
    found = schemas.version_detail(at.session, version)

    def text() -> RenderableType:
        shown = found.model_dump(mode="json", exclude={"basins", "missing", "physics", "parts", "config"})
        rows = [*_lines(shown), *((f"part {part.name}", _part(part)) for part in found.parts)]
        rows += [
            (_verdict(probe), f"{probe.asks}: {probe.value}, limit {probe.limit:g} {probe.unit}")
            for probe in found.physics or ()
        ]
        return table(("", ""), [*rows, *_lines(found.config)], f"Version {found.id}")

    return Shown(found, text)


def _part(part: "schemas.ModelPart") -> str:
    shares = part.basin_weights.values()
    own = f", by basin {min(shares):.3g} to {max(shares):.3g}" if shares else ""
    members = counted(part.member_count, "member")
    return f"version {part.version}: {part.architecture} on {part.product}, {members}, weight {part.weight:.3g}{own}"


def _verdict(probe: ProbeResult) -> str:
    if probe.passes:
        return "physics passes"
    return "physics FAILS" if probe.binding else "physics reports"


def _lines(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _lines({f"{name} {key}": one for key, one in value.items()})
        elif value is not None:
            yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@writes
def promote(
    by: Writer,
    version: Version,
    reason: Annotated[str, option("TEXT", "The reason, which is recorded.")],
    basin: Basins = None,
    name: Annotated[str | None, option("NAME", "Who. Default: the user of this machine.", "--by")] = None,
) -> Shown:
    """Make a version the current one of the basins it was trained on, or of any that are named."""
    new = valid(schemas.NewPromotion, {"reason": reason, "basins": basin or None}, "promotion")
    found = endpoints.promote_model(_named(by, name), version, new)
    basins = counted(len(found.current_basins), "basin uses", "basins use")
    return Shown(found, lambda: f"{basins} {version}.")


@writes
def roll_back(
    by: Writer,
    version: Version,
    reason: Annotated[str, option("TEXT", "The reason, which is recorded.")],
    name: Annotated[str | None, option("NAME", "Who. Default: the user of this machine.", "--by")] = None,
) -> Shown:
    """Restore, for all basins that use a version, the version that each used before."""
    found = endpoints.roll_back_model(
        _named(by, name), version, valid(schemas.NewRollback, {"reason": reason}, "rollback")
    )
    if stored := found.current_basins:
        still = counted(len(stored), "basin had", "basins had")
        inform(f"{still} no version before it and still use it: {', '.join(stored)}.")
    basins = counted(len(found.restored), "basin uses", "basins use")
    return Shown(found, lambda: f"{basins} again what was used before {version}.")


def _named(by: Writer, name: str | None) -> Writer:
    return replace(by, key=replace(by.key, name=name or audit.unix_user()))


def install_pretrained(
    name: Annotated[
        str | None,
        argument(
            "NAME",
            "A shipped ensemble or combination, or a folder that `freshet models export` has written. "
            "Default: freshet-us where all its weather products are stored, else mclstm-maurer-447, or the only one.",
        ),
    ] = None,
    product: Annotated[
        str | None,
        option(
            "PRODUCT", "Forcing product that it, or every part, is to take. Default: the one that each learnt from."
        ),
    ] = None,
    promote: Annotated[bool, flag("--promote", "Let it serve every basin that has no version yet.")] = False,
    as_json: Json = False,
) -> None:
    """Install a trained ensemble that is shipped or exported as a version; doing so again changes nothing.

    A combination of some is installed with its parts, each a version of its own; weather that a part takes and that is
    the mean of stored products is derived first. It serves any basin that has its attributes and forcing; every
    forecast states whether it learnt from the basin, and from which product.
    """
    given = PretrainedParams(product=product, promote=promote)
    params = given.model_copy(update={"name": name})  # a folder has any name
    carry_out("pretrained", params, _installed, as_json, partly=None)


def _installed(done: Done) -> Iterator[RenderableType]:
    result = done.result
    version, name = result["version"], result["name"]
    members, learnt_from = counted(result["members"], "member"), counted(result["learnt_from"], "basin")
    text = f"Version {version}: {name}, {members} that learnt from {learnt_from}."
    if (before := result.get("promoted_before")) and not result["promoted"]:
        text += f" It is the current version of {counted(len(before), 'basin')} already; no basin was added."
    elif done.params.promote:
        text += f" {counted(len(result['promoted']), 'basin now uses', 'basins now use')} it."
    yield text
