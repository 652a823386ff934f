"""`freshet retrain`: retrain the recipe of the version in use on the current record."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshet.cli.context import Context, cores, opened
from freshet.cli.devices import Device, take_device
from freshet.cli.output import Json, answer, inform, inform_left_out
from freshet.cli.progress import Reporter, reporting
from freshet.cli.versions.train import describe
from hydrology.base.absent import Absent
from jobspec.jobs.training import RetrainingJob, RetrainingParams
from jobspec.kinds import read
from records.database.json_columns import to_json
from records.database.statements import as_values

if TYPE_CHECKING:
    from models.training import Progress
    from operations.training.members import OnMemberProgress, StartedTraining


def retrain(
    version: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help="Version whose recipe to use. Default: the version that most basins use."),
    ] = None,
    judge_on: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST..LAST",
            help="Four or more whole water years. Default: the longest stretch that the version in use, or its twin, "
            "has not learnt from.",
        ),
    ] = None,
    margin: Annotated[float, typer.Option(metavar="NSE", help="Required improvement.")] = RetrainingParams.model_fields[
        "margin"
    ].default,
    promote: Annotated[
        bool, typer.Option("--promote", metavar="", help="Promote it in basins where it is better.")
    ] = False,
    label: Annotated[str | None, typer.Option(metavar="TEXT", help="A name for the candidate.")] = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Retrain the recipe of the version in use on the current record, and score the result.

    Two ensembles are trained: the candidate on every day of the record, and its twin, which is scored in its place, on
    all but the years to score. Of a version that combines others, each part is retrained, and the results are combined
    with the same weights. Run again, the command continues from the last checkpoints. Without a new water year since
    the last training, it does nothing.
    """
    from operations.training import retrain as operation

    params = _params(version=version, judge_on=judge_on, margin=margin, promote=promote, label=label)
    with opened() as context:
        database, clock = context.database, context.clock
        with database.reading() as session:
            season = operation.season(session, params)
        if isinstance(season, Absent):
            answer({"version": None, "reason": season}, as_json, str(season))
            return
        on = take_device(context.settings, device)
        trainings = operation.begin_all(database, clock, season)
        for _, candidate in trainings:
            inform_left_out(candidate.prepared.left_out.values())
        with reporting() as reporter:
            for name, started in [both for of in trainings for both in zip(("twin", "candidate"), of, strict=True)]:
                _train(context, started, on, partial(_show, reporter, name))
            done = operation.conclude(database, clock, trainings, params, label=label, on_step=reporter.show)
        if not done.trained.already:
            context.record("model trained", done.trained.version_id, basins=len(done.trained.basins))
        if done.decision.promoted:
            context.record("model promoted", done.trained.version_id, reason=done.decision.sentence)
    payload = as_values(done.trained) | {"twin": done.twin_id, "decision": to_json(done.decision)}
    in_use = ", ".join(done.decision.promoted) or "none"
    answer(payload, as_json, f"{done.decision.sentence} Basins that use it from now on: {in_use}.")


def _train(context: Context, started: "StartedTraining", device: str, show: "OnMemberProgress") -> None:
    from operations.training.train import train_members

    at_once = cores(context.settings.threads)
    train_members(
        context.database, context.clock, started, device=device, cores=at_once, on_progress=show, on_split=inform
    )


def _show(reporter: Reporter, name: str, member: int, progress: "Progress") -> None:
    reporter.show(f"{name}, member {member}", progress.step, progress.steps, describe(progress))


def _params(**fields: Any) -> RetrainingParams:
    """Return the job parameters that the options describe.

    Raises:
        InvalidInput: one cannot be used; the sentence names it.
    """
    request = read("retraining", {name: value for name, value in fields.items() if value is not None})
    assert isinstance(request, RetrainingJob)
    return request.params
