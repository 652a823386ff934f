"""The options of a command from the parameters of its job."""

from pathlib import Path

import pytest

from freshet.cli.job_options import JobOptions, Layout
from hydrology.base.calendar import Period
from jobspec.jobs.base import JobRequest
from jobspec.jobs.data import BasinJob, BridgeJob
from jobspec.jobs.forecasting import ReplayJob, WhatIfJob
from jobspec.jobs.judging import CalibrationJob
from jobspec.kinds import InvalidRequest

FIT = Layout(arguments=("name",), group="fit")


def test_every_option_has_a_name_and_a_help() -> None:
    for job, layout in ((WhatIfJob, Layout()), (BasinJob, Layout()), (BridgeJob, FIT)):
        for keyword in JobOptions(job, layout).keywords():
            (declared,) = keyword.annotation.__metadata__
            assert declared.help or keyword.name in ("basin", "name"), keyword.name


def test_fields_of_nested_models_are_options_of_their_own() -> None:
    options = JobOptions(WhatIfJob, Layout())
    params = options.params({"changes_degrees": 2.0, "changes_storm_mm": 30.0, "basins": ["01013500"], "t0": None})
    assert params.model_dump(exclude_unset=True)["changes"] == {"degrees": 2.0, "storm": {"mm": 30.0}}
    assert params.model_dump()["basins"] == ["USGS-01013500"]
    assert params.model_dump()["horizon"] == 10


def test_a_group_stands_without_its_name_and_a_span_for_a_period() -> None:
    names = {keyword.name: keyword.default for keyword in JobOptions(BridgeJob, FIT).keywords()}
    assert list(names) == ["name", "fit_from", "fit_to", "fit_period", "fit_model", "basins"]
    assert [name for name, default in names.items() if default is not None] == ["name", "fit_from", "fit_to"]
    replay = JobOptions(ReplayJob, Layout(spans={"period": ("--from", "--to")}))
    params = replay.params({"period_first": "2005-04-02", "period_last": "2005-04-03"})
    assert params.model_dump()["period"] == str(Period.parse("2005-04-02..2005-04-03"))


def test_an_object_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "attributes.json"
    file.write_text('{"elev_mean": 300.5}')
    params = JobOptions(BasinJob, Layout()).params({"basin": "01013500", "attributes": str(file)})
    assert params.model_dump()["attributes"] == {"elev_mean": 300.5}


@pytest.mark.parametrize(
    ("job", "given", "sentence"),
    [
        (WhatIfJob, {"changes_degrees": 30.0}, "The what-if is not possible: --degrees: "),
        (WhatIfJob, {"changes_storm_lead": 2}, "--storm-mm: it is needed"),
        (WhatIfJob, {"basins": ["a1"]}, "--basin: 'a1' is not a basin identifier"),
        (CalibrationJob, {"forecasts": True, "period": "2000-01-01..2000-12-31"}, "leave --period and --basin out"),
    ],
)
def test_a_fault_names_the_option(job: type[JobRequest], given: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidRequest, match=sentence.replace(".", "[.]")):
        JobOptions(job, Layout()).params(given)
