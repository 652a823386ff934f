"""The first page's filters, order and pages, and the points of its map."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.pages.basins_today import SCALES
from app.pages.rivers_map import LINE, NEAR, NEAR_OF_MANY, Map, drawn, points, projection
from app.pages.rivers_today import PAGE, Selection
from records.outlooks.overview import BasinOverview
from records.outlooks.reader import State
from tests.app.pages.test_map import x, y

CALM = BasinOverview(
    "USGS-01", "FISH RIVER NEAR FORT KENT, ME", 47.2, -68.6, "01", run="r", t0="2008-09-30", weather_age_days=1,
    state="fresh",
)  # fmt: skip
LIKELY = CALM._replace(
    id="USGS-02", name="Rio Grande", latitude=29.3, longitude=-100.9, chance=0.6, severity="watch", peak=9.0, huc="13"
)
STALE = CALM._replace(
    id="USGS-03", name=None, latitude=None, longitude=None, chance=0.1, weather_age_days=9, peak=2.0, state="stale"
)
NONE = BasinOverview("OWN-04", "Dry Creek", 35.0, -110.0)
NO_COLOURS = np.array([], dtype=int)
BASINS = (LIKELY, STALE, NONE, CALM)
PLACES = st.lists(
    st.tuples(st.floats(-60, 60, allow_nan=False), st.floats(-179, 179, allow_nan=False)),
    min_size=1,
    max_size=60,
)


def ids(selection: Selection) -> list[str]:
    """Return the last digit of each selected basin, in order."""
    return [basin.id[-1] for basin in selection.sorted([one for one in BASINS if selection.holds(one)])]


def test_basins_are_filtered_by_state_alert_name_and_place() -> None:
    assert ids(Selection()) == ["2", "3", "4", "1"]
    assert ids(Selection(state="stale")) == ["3"]
    assert ids(Selection(state="none")) == ["4"]
    assert ids(Selection(state="undecided")) == ["1"]
    assert ids(Selection(alert="advisory")) == ["2"]
    assert ids(Selection(alert="warning")) == []
    assert ids(Selection(search="fish riv")) == ["1"]
    assert ids(Selection(basin=("USGS-03", "OWN-04"))) == ["3", "4"]
    assert ids(Selection(bbox="-102,28,-100,30")) == ["2"]
    assert ids(Selection(us_state="ME")) == ["1"]
    assert ids(Selection(huc="13")) == ["2"]
    assert ids(Selection(agency="OWN")) == ["4"]


def test_basins_without_a_value_come_last_in_both_orders() -> None:
    assert ids(Selection(sort="peak")) == ["2", "3", "4", "1"]
    assert ids(Selection(sort="peak", reverse=True)) == ["3", "2", "4", "1"]
    assert ids(Selection(sort="name")) == ["4", "1", "2", "3"]


def test_pages_hold_every_basin_once() -> None:
    many = [CALM._replace(id=f"USGS-{number}") for number in range(2 * PAGE + 3)]
    paged = [basin for page in (1, 2, 3) for basin in Selection(page=page).of_page(many)]
    assert paged == many
    assert Selection(page=4).of_page(many) == []


def test_an_address_has_what_differs_from_the_page_as_it_opens() -> None:
    chosen = Selection(search="a b", alert="watch", basin=("X-1", "X-2"), page=3)
    assert Selection().query() == ""
    assert chosen.query(sort="name") == "?search=a+b&alert=watch&basin=X-1&basin=X-2&sort=name"
    assert chosen.query(page=4).endswith("&page=4")


def pictured(basins: Sequence[BasinOverview]) -> Map:
    picture = drawn(basins, None, SCALES["chance"].colours(basins))
    assert picture is not None
    return picture


@given(PLACES)
def test_every_basin_is_in_one_point_near_its_place(places: list[tuple[float, float]]) -> None:
    basins = [CALM._replace(id=f"USGS-{at}") for at in range(len(places))]
    columns = np.array(places).T
    projected = projection(columns)
    found = points(projected, basins, columns, np.zeros(len(basins), dtype=int))
    assert sum(point.count for point in found) == len(basins)
    assert sorted(place for point in found for place in zip(*point.places.tolist(), strict=True)) == sorted(places)
    for point in found:
        for latitude, longitude in zip(*point.places.tolist(), strict=True):
            assert (x(projected, longitude) - point.x) ** 2 + (y(projected, latitude) - point.y) ** 2 < (
                NEAR + 0.2
            ) ** 2


def test_a_group_of_basins_shows_the_share_of_each_colour() -> None:
    states: tuple[State, ...] = ("fresh", "fresh", "stale", "withheld")
    basins = [CALM._replace(id=f"USGS-{at}", state=state, chance=0.6 - 0.6 * at) for at, state in enumerate(states)]
    (point,) = pictured(basins).points
    legend = SCALES["chance"].entries
    assert [(legend[at][0], share) for at, share, _ in point.shares] == [
        ("withheld", 25.0), ("stale", 25.0), ("warning-3", 25.0), ("warning-0", 25.0),
    ]  # fmt: skip
    assert [start for _, _, start in point.shares] == [0.0, 25.0, 50.0, 75.0]
    assert [at for at, _, _ in pictured([*basins, NONE]).points[0].shares] == [len(legend) - 1]  # without a forecast


def test_a_point_opens_the_part_of_the_map_that_holds_its_basins() -> None:
    near = [LIKELY._replace(id=f"USGS-1{at}", latitude=40 + at / 50, longitude=-100 - at / 50) for at in range(4)]
    (cluster,) = [point for point in pictured([*near, CALM, NONE]).points if point.count > 1]
    opened = Selection(bbox=cluster.box)
    assert [basin for basin in [*near, CALM, NONE] if opened.holds(basin)] == near
    assert drawn([], None, NO_COLOURS) is None
    assert drawn([], opened.box, NO_COLOURS) is not None  # an empty part of the map can be left again
    part = drawn(near, opened.box, SCALES["chance"].colours(near))
    assert part is not None
    assert len(part.points) > 1


@given(PLACES)
def test_names_on_the_map_stand_apart_from_points_and_from_each_other(places: list[tuple[float, float]]) -> None:
    basins = [CALM._replace(id=f"USGS-{at}", latitude=y, longitude=x) for at, (y, x) in enumerate(places)]
    picture = pictured(basins)
    labels = picture.labels
    for at, label in enumerate(labels):
        assert 0 <= label.west <= label.west + label.width <= picture.projected.width
        assert LINE / 2 <= label.y <= picture.projected.height - LINE / 2
        assert not any(label.covers(point.x, point.x, point.y) for point in picture.points)
        assert not any(label.covers(other.west, other.west + other.width, other.y) for other in labels[at + 1 :])


def test_a_map_of_many_basins_has_few_points_far_apart() -> None:
    basins = [
        CALM._replace(id=f"USGS-{x}-{y}", latitude=30 + y / 2, longitude=-120 + x / 2)
        for x in range(0, 100, 2)
        for y in range(0, 36, 2)
    ]
    picture = pictured(basins)
    assert sum(point.count for point in picture.points) == len(basins)
    places = np.array([(point.x, point.y) for point in picture.points])
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    assert apart[np.triu_indices(len(places), 1)].min() > NEAR_OF_MANY - 0.2


def test_no_name_is_behind_the_legend_or_the_buttons() -> None:
    corners = ((27.0, -116.0), (27.0, -70.0), (51.0, -116.0), (51.0, -70.0))
    basins = [CALM._replace(id=f"USGS-{at}", latitude=y, longitude=x) for at, (y, x) in enumerate(corners)]
    picture = pictured(basins)
    middle = picture.projected.height / 2
    assert {(label.x < 480, label.y < middle) for label in picture.labels} == {(True, True), (False, False)}


def test_a_name_without_room_on_either_side_is_left_out() -> None:
    west, middle, east = ((44.0, longitude) for longitude in (-115.6, -103.9, -68.0))
    long = CALM._replace(name="South Fork Payette River at Lowman, ID")
    basins = [
        long._replace(id=f"USGS-{at}", latitude=y, longitude=x)
        for at, (y, x) in enumerate((middle, west, east, (30.0, -90.0)))
    ]
    picture = pictured(basins)
    assert [(label.x < 480, label.before) for label in picture.labels] == [(True, False), (False, True), (False, True)]
