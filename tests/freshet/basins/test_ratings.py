"""`freshet ratings`: imported and shown."""

import json
from pathlib import Path

from testing.records import BASIN
from tests.freshet.basins.test_thresholds import office
from tests.freshet.conftest import Freshet
from tests.hydrology.ratings.tables import GAUGES, exsa

__all__ = ["office"]


def test_a_rating_is_imported_shown_and_refused(office: Freshet, tmp_path: Path) -> None:
    file = tmp_path / "rating.rdb"
    file.write_text(exsa(2).replace(GAUGES[2], BASIN.removeprefix("USGS-")))
    stored = office("ratings", "import", BASIN, str(file), "--datum", "NAVD88", "--json").json
    assert (stored["changed"], stored["source"], stored["datum"]) == (True, "rating.rdb", "NAVD88")
    assert not office("ratings", "import", BASIN, str(file), "--datum", "NAVD88", "--json").json["changed"]
    shown = office("ratings", "show", BASIN, "--json").json
    assert shown["discharge_m3s"] == sorted(shown["discharge_m3s"])
    assert " ft, " in office("ratings", "show", BASIN).out
    file.write_text("stage,flow\n")
    refused = office("ratings", "import", BASIN, str(file), "--json")
    assert (refused.code, "stage_ft, stage_m" in refused.json["problem"]["detail"]) == (2, True)
    missing = office("ratings", "import", BASIN, str(tmp_path / "none"), "--json")
    assert (missing.code, "cannot be read" in missing.json["problem"]["detail"]) == (2, True)


def test_official_categories_are_imported_from_a_file(office: Freshet, tmp_path: Path) -> None:
    file = tmp_path / "gauge.json"
    flood = {"flowUnits": "cfs", "categories": {"minor": {"flow": 3000}, "major": {"stage": 12, "flow": -9999}}}
    file.write_text(json.dumps({"flood": flood}))
    done = office("thresholds", "categories", BASIN, str(file), "--json").json
    assert [(level["name"], level["source"]) for level in done["levels"]] == [("minor", "NOAA/NWS")]
    assert done["left_out"]["major"].startswith("No rating of this basin is stored")
    assert not office("thresholds", "categories", BASIN, str(file), "--json").json["changed"]
    file.write_text("{")
    refused = office("thresholds", "categories", BASIN, str(file), "--json")
    assert (refused.code, "is not JSON" in refused.json["problem"]["detail"]) == (2, True)
