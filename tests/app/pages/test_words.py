"""Names on the pages are in one form, and a level's name is one that a reader knows."""

import pytest

from app.pages.basin_facts import skill_word
from app.pages.render import with_days_in_full
from hydrology.extremes.level_checks import level_title, percent
from jobspec.levels import CATEGORIES
from records.basins.ownership import station_name


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("MERCED R A HAPPY ISLES BRIDGE NR YOSEMITE CA", "Merced River at Happy Isles Bridge near Yosemite, CA"),
        ("BLACK GORE CREEK NEAR MINTURN, CO.", "Black Gore Creek near Minturn, CO"),
        ("Fish River near Fort Kent, Maine", "Fish River near Fort Kent, Maine"),
        ("Seco Ck at Rowe Ranch nr D'Hanis, TX", "Seco Creek at Rowe Ranch near D'Hanis, TX"),
        ("SYNTH-01", "Synth-01"),
        ("St. Joe River at Calder, ID", "St. Joe River at Calder, ID"),
        ("ST. JOE R. NR CALDER ID", "St. Joe River near Calder, ID"),
        ("", ""),
    ],
)
def test_stations_are_named_in_one_form(stored: str, shown: str) -> None:
    assert station_name(stored) == shown
    assert station_name(shown) == shown


def test_levels_have_names_that_a_reader_knows() -> None:
    assert level_title("gev-5") == "5-year flood"
    assert level_title("7q10") == "10-year low flow"
    assert level_title("exceeded-90") == "flow exceeded on 90 % of days"
    assert level_title("model-gev-2") == "2-year flood, of the model"
    assert level_title("bankfull") == "bankfull"
    named = ["action stage", "minor flood", "moderate flood", "major flood"]
    assert [level_title(name) for name in CATEGORIES] == named


def test_chances_beyond_the_outermost_quantiles_are_bounds() -> None:
    assert [percent(share) for share in (0.005, 0.42, 0.995)] == ["1 % or less", "42 %", "99 % or more"]


def test_a_better_score_never_has_a_worse_word() -> None:
    words = [skill_word(nse / 100) for nse in range(-50, 101)]
    assert list(dict.fromkeys(words)) == ["Poor", "Weak", "Fair", "Good", "Very good"]


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("It is from 1997-03-14, 9 days ago.", "It is from 14 March 1997, 9 days ago."),
        ("1997-03-14 is missing.", "14 March 1997 is missing."),
        ("Held out (1989-10-01..1996-09-30).", "Held out (1 October 1989 to 30 September 1996)."),
        ("1997-03-14", "1997-03-14"),
        ("at 1997-03-14T06:00Z of 1997-02-30", "at 1997-03-14T06:00Z of 1997-02-30"),
        ('{"t0": "1997-03-14"} 1997-03-14/x', '{"t0": "1997-03-14"} 1997-03-14/x'),
    ],
)
def test_days_in_sentences_are_written_as_elsewhere_on_pages(stored: str, shown: str) -> None:
    assert with_days_in_full(stored) == shown
