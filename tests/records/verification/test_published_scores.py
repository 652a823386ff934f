"""Published scores are stored once, with a value or a reason, also for basins that are not stored."""

from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import Period, day
from hydrology.base.reasons import Reason
from records.database.engine import Database
from records.verification import scores
from records.verification.scores import Publication, PublishedScore, StoredCounts
from testing.records import BASIN, NOW, a_source, contents, instant

SCORE = PublishedScore(
    source="somebody/results@1234567",
    model="SAC_SMA",
    basin_id=BASIN,
    metric="nse",
    first_day=day("1989-10-01"),
    last_day=day("1999-09-30"),
    value=0.6,
)
NONE = replace(SCORE, metric="kge_2012", value=None, reason=absent(Reason.NOT_IN_PUBLISHED_FILE))


def publication(session: Session) -> Publication:
    return Publication(source=SCORE.source, citation="Somebody 2019", file_id=a_source(session), stored_at=NOW)


def test_the_same_again_writes_nothing_and_what_differs_is_replaced(database: Database) -> None:
    with database.transaction() as session:
        result = publication(session)
        assert scores.store_published(session, result, [SCORE, NONE]) == StoredCounts(new=2, changed=0, unchanged=0)
        before = contents(session)
        again = replace(result, stored_at=instant("2009-01-01"))
        assert scores.store_published(session, again, [SCORE, NONE]) == StoredCounts(new=0, changed=0, unchanged=2)
        assert contents(session) == before
        better = replace(SCORE, value=0.7)
        assert scores.store_published(session, result, [better, NONE]) == StoredCounts(new=0, changed=1, unchanged=1)
        assert scores.published_scores(session, SCORE.source) == [NONE, better]
        cited = replace(result, citation="Somebody 2020", stored_at=instant("2009-01-01"))
        scores.store_published(session, cited, [])
        assert scores.publications(session) == [cited]


def test_scores_come_back_by_days_basins_and_metrics(database: Database) -> None:
    with database.transaction() as session:
        later = replace(SCORE, first_day=day("1990-10-01"))
        other = replace(SCORE, basin_id="SYNTH-01", model="FUSE_900")
        scores.store_published(session, publication(session), [SCORE, NONE, later, other])
        found = scores.published_scores
        assert found(session, SCORE.source, period=Period(SCORE.first_day, SCORE.last_day)) == [other, NONE, SCORE]
        assert found(session, SCORE.source, basins=["SYNTH-01"]) == [other]
        assert found(session, SCORE.source, metrics=["kge_2012"]) == [NONE]
        assert found(session, "another") == []


@pytest.mark.parametrize(
    "change", [{"value": None}, {"reason": "none"}, {"first_day": day("2000-01-01")}, {"source": "another"}]
)
def test_a_published_score_has_a_value_or_a_reason_and_a_publication(
    database: Database, change: dict[str, object]
) -> None:
    with database.transaction() as session:
        result = publication(session)
        with pytest.raises(IntegrityError), session.begin_nested():
            scores.store_published(session, result, [replace(SCORE, **change)])  # type: ignore[arg-type]


def test_a_published_score_is_never_nan(database: Database) -> None:
    with database.transaction() as session:
        result = publication(session)
        with pytest.raises(StatementError, match="must be finite"), session.begin_nested():
            scores.store_published(session, result, [replace(SCORE, value=float("nan"))])
