"""`freshet regions`: basins by a rule, which keys, lists and subscriptions are bound to."""

from typing import Annotated, Any

from extensions.regions import endpoints
from extensions.regions.endpoints import RegionDetail
from extensions.regions.storing import NewRegion
from freshet.cli.options import OnlyBasins, argument, option
from freshet.cli.output import listing
from freshet.cli.reading import Reading, Shown, reads, writes
from freshet.cli.text_files import valid
from hydrology.base.errors import counted
from jobspec import fields
from records.access.audit import Writer

Name = Annotated[str, argument("REGION", "Its name, such as columbia.")]
_COLUMNS = (
    "region: id | huc | agency | basins | stored: stored_basins | unfinished jobs: unfinished_jobs | subscriptions"
)


@reads
def show(at: Reading) -> Shown:
    """Show the regions, their rules and their limits."""
    found = endpoints.all_regions(at.session)
    return Shown(found, lambda: listing(found.regions, _COLUMNS, counted(len(found.regions), "region")))


@writes
def put(
    by: Writer,
    region: Name,
    huc: Annotated[str | None, option("DIGITS", "Basins whose hydrologic unit code begins so.")] = None,
    agency: Annotated[str | None, option("NAME", "Basins whose identifier has this before the hyphen.")] = None,
    basin: OnlyBasins = None,
    jobs: Annotated[int | None, option("COUNT", "Limit of unfinished jobs of its keys together.")] = None,
    subscriptions: Annotated[int | None, option("COUNT", "Limit of subscriptions of its keys together.")] = None,
) -> Shown:
    """Set a region by one rule: --huc, --agency or --basin. One that has the name is replaced."""
    given: dict[str, Any] = {"huc": huc, "agency": agency, "basins": basin or None, "unfinished_jobs": jobs}
    given |= {"subscriptions": subscriptions}
    found = endpoints.put_region(by, valid(fields.Name, region, "region's name"), valid(NewRegion, given, "region"))
    return Shown(found, lambda: _in_words(found))


@writes
def remove(by: Writer, region: Name) -> Shown:
    """Remove a region that no key and no subscription is of. Its basins stay."""
    endpoints.delete_region(by, region)
    return Shown({"removed": region}, lambda: f"The region {region} is removed.")


def _in_words(region: RegionDetail) -> str:
    text = f"The region {region.id} has {counted(region.stored_basins, 'stored basin')}"
    return (
        f"{text}." if region.stored_basins else f"{text}: `freshet basins --json` has their codes, some of two digits."
    )
