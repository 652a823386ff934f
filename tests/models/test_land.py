"""What is estimated of the land is near what is known there, and nothing is far from any known basin."""

import pytest

from freshet.demo.demonstration import ARCHIVE
from ingestion.sources.camels import CamelsSource
from models.pretrained.land import shipped_land


def test_the_estimate_at_a_known_river_is_near_what_is_known_of_it() -> None:
    source = CamelsSource([ARCHIVE])
    for basin in source.basins():
        known = source.read(basin)
        assert known.latitude is not None
        assert known.longitude is not None
        estimate = shipped_land().at(known.latitude, known.longitude)
        assert estimate["elev_mean"] == pytest.approx(known.attributes["elev_mean"], rel=0.25, abs=250)
        assert estimate["frac_forest"] == pytest.approx(known.attributes["frac_forest"], abs=0.35)


@pytest.mark.parametrize("place", [(52.0, 13.0), (30.0, -124.0), (45.0, 69.0), (24.4, -80.0), (90.0, 0.0)])
def test_nothing_is_estimated_far_from_known_basins(place: tuple[float, float]) -> None:
    assert shipped_land().at(*place) == {}
