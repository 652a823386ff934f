"""`freshet bridge`: fitted, applied, listed and shown."""

import pytest

from records.database.engine import Database
from records.series import revisions, series, series_writer
from runtime.clock import Clock
from testing.synthetic import archive as synthetic
from tests.freshet.conftest import BASINS, Freshet

LEARNT = "learnt"
FIT = ("bridge", "fit", "live_as_learnt", "--from", synthetic.PRODUCT, "--to", LEARNT)


@pytest.fixture
def office(ingested: Freshet) -> Freshet:
    """The country, with a second product of two basins: the same weather, and a degree warmer."""
    database, now = Database(f"sqlite:///{ingested.data / 'freshet.sqlite'}"), Clock().now()
    with database.transaction() as session:
        source = revisions.register_source(session, LEARNT, "0" * 64, 1, now)
        for basin in BASINS[:2]:
            for name in ("precipitation", "srad", "vp", "tmax", "tmin"):
                one = series.read(session, basin, synthetic.PRODUCT, name)
                assert one is not None
                warmer = type(one)(one.start, one.values + float(name.startswith("t")), one.flags, one.unit)
                series_writer.write(session, basin, LEARNT, name, warmer, source, now)
    database.close()
    return ingested


def test_a_bridge_is_fitted_applied_listed_and_shown(office: Freshet) -> None:
    fitted = office(*FIT, "--json")
    assert (fitted.code, fitted.json["refused_basins"], fitted.json["counts"]) == (6, 1, {"changed": 2})
    assert f"Not fitted: {BASINS[2]}" in fitted.err
    assert office("bridge", "apply", "live_as_learnt", "--json").json["counts"] == {"unchanged": 2}
    (listed,) = office("bridge", "list", "--json").json["bridges"]
    shown = office("bridge", "show", listed["id"], "--json").json
    assert all(one["applied_at"] for one in shown["basins"])
    assert [one["basin"] for one in shown["basins"]] == [*BASINS[:2]]
    assert shown["basins"][0]["steps"]["tmax"] == pytest.approx([1.0] * 12, abs=1e-4)
    assert shown["refused"].keys() == {BASINS[2]}
    assert BASINS[1] in office("bridge", "show", "live_as_learnt").out
    assert "live_as_learnt precipitation" in office("basins", BASINS[0]).out
    actions = [(one["action"], one["subject"]) for one in office("audit", "--json").json["changes"]]
    assert {("bridge fitted", listed["id"]), ("bridge applied", "live_as_learnt")} <= {*actions}


def test_some_days_and_basins_are_asked_for_alone(office: Freshet) -> None:
    office(*FIT, "--period", "2001-10-01..2004-09-30", "--basin", BASINS[1])
    fitted = office("bridge", "show", "live_as_learnt", "--json").json
    assert (fitted["first_day"], [one["basin"] for one in fitted["basins"]]) == ("2001-10-01", [BASINS[1]])


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("fit", "daymet", "--from", synthetic.PRODUCT, "--to", LEARNT), 2, "'daymet' cannot name your product"),
        (("fit", "x", "--from", LEARNT, "--to", LEARNT), 2, "give three names"),
        (("fit", "x", "--from", "nothing", "--to", LEARNT), 4, "fetch or ingest that product first"),
        (("fit", "x", "--from", synthetic.PRODUCT, "--to", LEARNT, "--period", "2001"), 2, "is not a period"),
        (("apply", "x"), 3, "No bridge 'x' is stored here"),
        (("show", "x"), 3, "No bridge 'x' is stored here"),
    ],
)
def test_an_impossible_bridge_is_reported(
    office: Freshet, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    result = office("bridge", *arguments, "--json")
    assert result.code == code
    assert sentence in result.json["problem"]["detail"]
    assert office("bridge", "list", "--json").json == {"bridges": []}
