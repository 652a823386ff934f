"""Every kind of job has a contract, and a request that breaks it is refused by the name of the field."""

import pytest
from hypothesis import given

from jobspec.feed_kinds import read_settings
from jobspec.kinds import KINDS, REQUESTABLE, InvalidRequest, queue_of, read
from testing.jobs.requests import REQUESTS, SCRATCH, TUNING, Wrong, wrong_requests


def test_there_is_a_request_of_every_kind_that_people_can_ask_for() -> None:
    assert {kind for kind, _ in REQUESTS} == set(REQUESTABLE)


@pytest.mark.parametrize(("kind", "params"), REQUESTS)
def test_fields_missing_in_a_request_are_missing_in_the_job(kind: str, params: dict[str, object]) -> None:
    assert read(kind, params).stored() == params


@given(wrong=wrong_requests())
def test_a_wrong_request_is_refused_by_name(wrong: Wrong) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read(wrong.kind, wrong.params, REQUESTABLE)
    assert wrong.name in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "params", "sentence"),
    [
        ("forecast", {"horzion": 3}, "The forecast is not possible: params.horzion: there is no such field."),
        ("forecast", None, "params: it must be a JSON object"),
        ("forecast", {"horizon": 0}, "params.horizon: "),
        ("forecast", {"t0": "2008-02-30"}, "params.t0: '2008-02-30' is not a day"),
        ("forecast", {"basins": ["nowhere"]}, "params.basins.0: 'nowhere' is not a basin identifier"),
        ("forecast", {"\x00\x1b[2J": 3}, r"params.'\x00\x1b[2J': there is no such field"),
        ("evaluation", {}, "params.period: it is needed"),
        ("evaluation", {"period": "yesterday"}, "params.period: 'yesterday' is not a period"),
        ("training", {"config": 5}, "params.config: "),
        ("training", {"config": {"train_period": "2001-01-01..2002-01-01"}}, "params.config.inputs: it is needed"),
        (
            "training",
            {"config": {"parent": "a", "train_period": "2001-01-01..2002-01-01", "network": {}}},
            "params.config.validation_period: it is needed; params.config.network: there is no such field",
        ),
        (
            "training",
            {"config": {"schedule": {"kind": "staircase", "rates": [[0, 0.01], [20]]}}},
            "params.config.schedule.rates.1.1: it is needed",
        ),
        (
            "training",
            {"config": TUNING, "compare": {"period": "2005-10-01..2008-09-30"}},
            "params.compare.period: 2005-10-01..2008-09-30 holds 3 whole water years",
        ),
        ("ingest", {"from": ["https://me:secret@host/a.zip"]}, "a URL with a password"),
        ("bridge", {"name": "daymet"}, "params.name: 'daymet' cannot name your product"),
        ("bridge", {"name": "own", "fit": {"from": "live"}}, "params.fit.to: it is needed"),
        ("upload", {"product": "own"}, "params.observations_file: it is needed"),
        (
            "oracle",
            {},
            "There is no kind of job oracle: choose one of ingest, upload, weather, fetch, bridge, fuse",
        ),
    ],
)
def test_the_message_names_the_field_and_the_reason(kind: str, params: object, sentence: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read(kind, params)
    assert sentence in str(refused.value)


def test_a_kind_has_its_queue() -> None:
    assert {kind: model.queue for kind, model in KINDS.items() if model.queue != "default"} == {
        "member": "training",
        "members": "gpu",
        "ingest": "ingest",
        "fetch": "ingest",
        "basin": "ingest",
        "upload": "ingest",
        "weather": "ingest",
        "delivery": "delivery",
    }


def test_jobs_that_daily_forecasts_depend_on_have_the_queue_of_the_service() -> None:
    operational = {kind for kind in KINDS if queue_of(kind, of_service=True) == "service"}
    assert operational == {"daily", "forecast", "volumes", "fetch", "bridge", "basin", "upload", "weather"}
    assert "service" not in {queue_of(kind) for kind in KINDS}
    assert queue_of("delivery", of_service=True) == "delivery"


@pytest.mark.parametrize("config", [SCRATCH, SCRATCH | {"held_out_period": "2007-10-01..2008-09-30"}, TUNING])
def test_no_training_is_validated_on_days_of_its_training_period(config: dict[str, object]) -> None:
    with pytest.raises(
        InvalidRequest,
        match=r"params\.config\.validation_period: 2008-09-30\.\.2009-09-30 overlaps the training period "
        r"1999-10-01\.\.2008-09-30, .*: choose separate periods",
    ):
        read("training", {"config": config | {"validation_period": "2008-09-30..2009-09-30"}})


def test_a_refusal_repeats_no_long_name() -> None:
    with pytest.raises(InvalidRequest) as refusal:
        read("check", {"s" * 5000: 1})
    assert len(str(refusal.value)) < 400


def test_a_refusal_repeats_no_control_character() -> None:
    with pytest.raises(InvalidRequest, match=r"us.gs\?\[2J") as refusal:
        read_settings({"adapter": "us\x7fgs\x1b[2J"})
    assert str(refusal.value).isprintable()
