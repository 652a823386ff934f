"""`freshet ingest caravan`."""

from extensions.caravan.source import CaravanSource
from freshet.cli.options import Adopt, OnlyBasins
from freshet.cli.output import Json
from freshet.commands.ingest import From, ingest_archive


def caravan(source: From, basin: OnlyBasins = None, adopt: Adopt = False, as_json: Json = False) -> None:
    """Ingest a Caravan file set, NetCDF or CSV: forcing as product era5_land, streamflow, attributes.

    A gauge camels_01013500 becomes the basin CARAVAN-camels_01013500. Ingesting the same data again changes nothing. A
    basin with broken files stays as it was; the others continue.
    """
    ingest_archive(CaravanSource, source, basin, adopt=adopt, as_json=as_json)
