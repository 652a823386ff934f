"""`freshet ratings`: imported and shown."""

import json
from datetime import UTC, datetime
from pathlib import Path

from jobspec.levels import NewRating
from records.basins import ratings
from records.database.engine import Database
from testing.records import BASIN
from tests.freshet.basins.test_thresholds import office
from tests.freshet.conftest import Freshet
from tests.hydrology.ratings.tables import GAUGES, exsa

__all__ = ["office"]


def test_a_rating_is_imported_shown_and_refused(office: Freshet, tmp_path: Path) -> None:
    file = tmp_path / "rating.rdb"
    file.write_text(exsa(2).replace(GAUGES[2], BASIN.removeprefix("USGS-")))
    stored = office("ratings", "import", BASIN, str(file), "--datum", "NAVD88", "--json").json
    assert (stored["basin"], stored["source"], stored["datum"]) == (BASIN, "rating.rdb", "NAVD88")
    assert office("ratings", "import", BASIN, str(file), "--datum", "NAVD88", "--json").json == stored
    shown = office("ratings", "show", BASIN, "--json").json
    assert shown["discharge_m3s"] == sorted(shown["discharge_m3s"])
    assert " ft, " in office("ratings", "show", BASIN).out
    file.write_text("stage,flow\n")
    refused = office("ratings", "import", BASIN, str(file), "--json")
    assert (refused.code, "stage_ft, stage_m" in refused.json["problem"]["detail"]) == (2, True)
    missing = office("ratings", "import", BASIN, str(tmp_path / "none"), "--json")
    assert (missing.code, "cannot be read" in missing.json["problem"]["detail"]) == (2, True)


def test_versions_of_a_rating_are_listed_and_one_that_waits_is_decided(office: Freshet, tmp_path: Path) -> None:
    file = tmp_path / "rating.csv"
    for flow in (100, 110):
        file.write_text(f"stage_ft,discharge_cfs\n1,1\n9,{flow}\n")
        office("ratings", "import", BASIN, str(file))
    database = Database(f"sqlite:///{office.data / 'freshet.sqlite'}")
    with database.transaction() as session:
        new = NewRating(table="stage_ft,discharge_cfs\n1,1\n9,900\n", source="a service")
        ratings.put(session, BASIN, new, datetime.now(UTC), lambda *_: "It jumps.")
    database.close()
    listed = office("ratings", "versions", BASIN, "--json").json["ratings"]
    assert [(one["version"], one["held"], one["in_force"] is None) for one in listed] == [
        (3, "It jumps.", True),
        (2, None, False),
        (1, None, False),
    ]
    refused = office("ratings", "decide", BASIN, "3", "dismiss", "--json")
    assert (refused.code, "needs a note" in refused.json["problem"]["detail"]) == (2, True)
    assert office("ratings", "decide", BASIN, "3", "approve").code == 0
    assert office("ratings", "show", BASIN, "--json").json["version"] == 3
    assert "approve" in office("ratings", "versions", BASIN).out
    assert office("ratings", "decide", BASIN, "3", "approve").code == 3


def test_official_categories_are_imported_from_a_file(office: Freshet, tmp_path: Path) -> None:
    file = tmp_path / "gauge.json"
    flood = {"flowUnits": "cfs", "categories": {"minor": {"flow": 3000}, "major": {"stage": 12, "flow": -9999}}}
    file.write_text(json.dumps({"flood": flood}))
    done = office("thresholds", "categories", BASIN, str(file), "--json").json
    assert [(level["name"], level["source"]) for level in done["levels"]] == [("minor", "NOAA/NWS")]
    assert done["left_out"]["major"].startswith("No rating of this basin is stored")
    assert office("thresholds", "categories", BASIN, str(file), "--json").json == done
    file.write_text("{")
    refused = office("thresholds", "categories", BASIN, str(file), "--json")
    assert (refused.code, "is not JSON" in refused.json["problem"]["detail"]) == (2, True)


def test_levels_that_seem_wrong_are_warned_of_until_they_are_confirmed(office: Freshet, tmp_path: Path) -> None:
    rating, gauge = tmp_path / "rating.csv", tmp_path / "gauge.json"
    rating.write_text("stage_ft,discharge_cfs\n3.5,1188.28\n5.7,2053.01\n")
    named = {"action": {"stage": 3.5, "flow": 68}, "major": {"stage": 5.7, "flow": 489}}
    gauge.write_text(json.dumps({"flood": {"stageUnits": "ft", "flowUnits": "cfs", "categories": named}}))
    office("thresholds", "categories", BASIN, str(gauge))
    imported = office("ratings", "import", BASIN, str(rating), "--json")
    assert imported.code == 0
    assert set(imported.json["in_doubt"]) == {"action", "major"}
    assert "Level action: " in imported.err
    done = office("thresholds", "categories", BASIN, str(gauge), "--json")
    assert [round(level["discharge"], 2) for level in done.json["levels"]] == [1.93, 13.85]
    assert "differ 17.5 times" in done.json["levels"][0]["in_doubt"]
    assert "differ 17.5 times" in " ".join(done.err.split())
    assert "Level major: " in office("thresholds", "show", BASIN).err
    for name in ("action", "major"):
        assert "is confirmed at" in office("thresholds", "confirm", BASIN, name).out
    assert "Level" not in office("thresholds", "show", BASIN).err
    equal = office("thresholds", "set", BASIN, "minor", "1.9255")
    assert "is not above" in " ".join(equal.err.split())
    assert office("thresholds", "confirm", BASIN, "nothing").code == 3
