"""The first page's filters, order and pages, and the points of its map."""

from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from app.pages.basins_today import BasinToday, Place
from app.pages.rivers_map import NEAR, drawn, points, projection
from app.pages.rivers_today import PAGE, Selection

CALM = BasinToday(id="USGS-01", kind="usgs", name="FISH RIVER", place=Place(47.2, -68.6), t0=date(2008, 9, 30))
LIKELY = replace(
    CALM, id="USGS-02", name="Rio Grande", place=Place(29.3, -100.9), chance=0.6, severity="watch", peak=9.0
)
STALE = replace(CALM, id="USGS-03", name=None, place=None, chance=0.1, weather_age_days=9, peak=2.0)
NONE = BasinToday(id="USGS-04", kind="usgs", name="Dry Creek", place=Place(35.0, -110.0))
BASINS = (LIKELY, STALE, CALM, NONE)
PLACES = st.lists(
    st.builds(Place, st.floats(-60, 60, allow_nan=False), st.floats(-179, 179, allow_nan=False)),
    min_size=1,
    max_size=60,
)


def ids(selection: Selection) -> list[str]:
    """Return the last digit of each selected basin, in order."""
    return [basin.id[-1] for basin in selection.sorted([one for one in BASINS if selection.holds(one)])]


def test_basins_are_filtered_by_state_alert_name_and_place() -> None:
    assert ids(Selection()) == ["2", "3", "1", "4"]
    assert ids(Selection(state="stale")) == ["3"]
    assert ids(Selection(state="none")) == ["4"]
    assert ids(Selection(state="undecided")) == ["1"]
    assert ids(Selection(alert="advisory")) == ["2"]
    assert ids(Selection(alert="warning")) == []
    assert ids(Selection(search="fish riv")) == ["1"]
    assert ids(Selection(basin=("USGS-03", "USGS-04"))) == ["3", "4"]
    assert ids(Selection(bbox="-102,28,-100,30")) == ["2"]


def test_basins_without_a_value_come_last_in_both_orders() -> None:
    assert ids(Selection(sort="peak")) == ["2", "3", "1", "4"]
    assert ids(Selection(sort="peak", reverse=True)) == ["3", "2", "1", "4"]
    assert ids(Selection(sort="name")) == ["4", "1", "2", "3"]


def test_pages_hold_every_basin_once() -> None:
    many = [replace(CALM, id=f"USGS-{number}") for number in range(2 * PAGE + 3)]
    paged = [basin for page in (1, 2, 3) for basin in Selection(page=page).of_page(many)]
    assert paged == many
    assert Selection(page=4).of_page(many) == []


def test_an_address_has_what_differs_from_the_page_as_it_opens() -> None:
    chosen = Selection(search="a b", alert="watch", basin=("X-1", "X-2"), page=3)
    assert Selection().query() == ""
    assert chosen.query(sort="name") == "?search=a+b&alert=watch&basin=X-1&basin=X-2&sort=name"
    assert chosen.query(page=4).endswith("&page=4")


@given(PLACES)
def test_every_basin_is_in_one_point_near_its_place(places: list[Place]) -> None:
    projected = projection(places)
    placed = [(place, replace(CALM, id=f"USGS-{at}", place=place)) for at, place in enumerate(places)]
    found = points(projected, placed)
    assert sorted(basin.id for point in found for basin in point.basins) == sorted(basin.id for _, basin in placed)
    for point in found:
        for basin in point.basins:
            assert basin.place is not None
            apart = (projected.x(basin.place.longitude) - point.x) ** 2 + (
                projected.y(basin.place.latitude) - point.y
            ) ** 2
            assert apart < NEAR**2


def test_a_point_opens_the_part_of_the_map_that_holds_its_basins() -> None:
    near = [replace(LIKELY, id=f"USGS-1{at}", place=Place(40 + at / 50, -100 - at / 50)) for at in range(4)]
    whole = drawn([*near, CALM, NONE], None)
    assert whole is not None
    (cluster,) = [point for point in whole.points if len(point.basins) > 1]
    opened = Selection(bbox=cluster.box)
    assert [basin for basin in [*near, CALM, NONE] if opened.holds(basin)] == near
    assert drawn([], None) is None
    assert drawn([], opened.box) is not None  # an empty part of the map can be left again
    part = drawn(near, opened.box)
    assert part is not None
    assert len(part.points) > 1


@given(PLACES)
def test_names_on_the_map_stand_apart_from_points_and_from_each_other(places: list[Place]) -> None:
    basins = [replace(CALM, id=f"USGS-{at}", place=place) for at, place in enumerate(places)]
    picture = drawn(basins, None)
    assert picture is not None
    labels = picture.labels
    for at, label in enumerate(labels):
        assert 0 <= label.west <= label.west + label.width <= picture.projected.width
        assert not any(label.covers(point.x, point.x, point.y) for point in picture.points)
        assert not any(label.covers(other.west, other.west + other.width, other.y) for other in labels[at + 1 :])


def test_a_name_without_room_on_either_side_is_left_out() -> None:
    west, middle, east = (Place(44.0, longitude) for longitude in (-115.6, -103.9, -68.0))
    long = replace(CALM, name="South Fork Payette River at Lowman, ID")
    basins = [
        replace(long, id=f"USGS-{at}", place=place) for at, place in enumerate((middle, west, east, Place(30.0, -90.0)))
    ]
    picture = drawn(basins, None)
    assert picture is not None
    assert [(label.x < 480, label.before) for label in picture.labels] == [(True, False), (False, True), (False, True)]
