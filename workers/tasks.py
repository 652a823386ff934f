"""What each kind of job does. Thin: names and ids come in, the operations do the work.

torch is loaded by the operations alone, in the process that computes.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydrology.basins import basin_id
from hydrology.calendar import Period, day
from hydrology.errors import DataProblem, InvalidInput
from records import jobs, promotions, versions
from workers.job import Handler, Running, Waiting

if TYPE_CHECKING:
    from ingestion.sources.base import Source


def ingest(running: Running) -> dict[str, Any]:
    """Bring data in. Params: `source` (camels unless named), what it is read from, and `basins` if any.

    camels: `from` (paths and URLs), and `product` if any. caravan: `from`. tables: `product`, and `basins_file` and
    `observations_file` or one of them. benchmarks: `from`, one file.
    """
    from operations.ingest import Outcome
    from operations.ingest import ingest as run

    params, tools = running.job.params, running.tools
    if params.get("source") == "benchmarks":
        return _ingest_published(running)

    def show(outcome: Outcome, done: int, total: int) -> None:
        if outcome.error:
            running.log(f"{outcome.basin} failed: {outcome.error}")
        running.show(done, total, f"{outcome.basin} {outcome.status}")

    outcomes = run(tools.database, _source(running), tools.clock, _basins(params), show)
    failed = {outcome.basin: outcome.error for outcome in outcomes if outcome.status == "failed"}
    if failed and len(failed) == len(outcomes):
        raise DataProblem(f"None of the {len(outcomes)} basins could be ingested. {next(iter(failed.values()))}")
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome.status] = counts.get(outcome.status, 0) + 1
    return {"counts": counts, "failed": failed}


def _ingest_published(running: Running) -> dict[str, Any]:
    from operations.ingest_benchmarks import ingest_published

    if named := sorted(name for name in ("product", "basins") if running.job.params.get(name)):
        raise InvalidInput(f"The source benchmarks takes no `{named[0]}`: it is kept whole.")
    files = _fetched(running)
    if len(files) != 1:
        raise InvalidInput(f"The source benchmarks takes one file, not {len(files)}.")
    return asdict(ingest_published(running.tools.database, running.tools.clock, files[0]))


def _source(running: Running) -> "Source":
    from ingestion.sources.camels import CamelsSource
    from ingestion.sources.caravan import CaravanSource
    from ingestion.sources.tables import TablesSource
    from operations import posted

    params = running.job.params
    match params.get("source", "camels"):
        case "camels":
            return CamelsSource(_fetched(running), _text(params, "product"))
        case "caravan":
            return CaravanSource(_fetched(running))
        case "tables":
            basins, observations = _path(params, "basins_file"), _path(params, "observations_file")
            product = _text(params, "product")
            if product is None or (basins is None and observations is None):
                raise InvalidInput("The source tables needs `product`, and `basins_file`, `observations_file` or both.")
            with running.tools.database.reading() as session:
                changeable = posted.changeable(session, running.job)
            return TablesSource(basins, observations, product, changeable)
        case other:
            raise InvalidInput(f"There is no source {other!r}: choose camels, caravan, tables or benchmarks.")


def _fetched(running: Running) -> list[Path]:
    """Return where the paths and URLs of `from` are on this machine."""
    from operations.download import local

    given, settings = running.job.params.get("from"), running.tools.settings
    folder, hosts = settings.data / "downloads", settings.ingest_hosts
    if not isinstance(given, list) or not given or not all(isinstance(text, str) for text in given):
        raise InvalidInput("`from` must be a list of paths and URLs.")
    return [local(text, folder, hosts, lambda got, size: running.show(got, size or got, "bytes")) for text in given]


def training(running: Running) -> dict[str, Any]:
    """Train an ensemble: first make a child a member, then, when all are in, assemble the version.

    Params: `config` (with `parent`: a fine-tuning), `basins`, `label` and `compare` (`period`, `margin`, `promote`) if
    any. With `compare` the version is held against the current ones, and takes over only if the rule says so.
    """
    import torch

    from models.config import requested
    from operations.basins import chosen
    from operations.heldout import require_to_be_held_out
    from operations.promotion_rule import Rule, judge
    from operations.train import assemble, begin

    params, tools = running.job.params, running.tools
    config = requested(params["config"])
    rule = Rule(**params["compare"]) if params.get("compare") else None
    with tools.database.reading() as session:
        children = jobs.children(session, running.job.id)
        basins = chosen(session, params.get("basins") or [])
        if rule is not None:
            require_to_be_held_out(session, config, Period.parse(rule.period))
    begun = begin(tools.database, tools.clock, config, basins)
    for reason in begun.prepared.left_out.values():
        running.log(f"Left out: {reason}")
    if begun.version_id is None and not children:
        _make_members(running, begun.training_id, begun.config.members)
        raise Waiting
    if any(child.status not in jobs.ENDED for child in children):  # whoever made them was lost before it waited
        raise Waiting
    if broken := [child for child in children if child.status in ("failed", "cancelled")]:
        said = (broken[0].problem or {}).get("detail", broken[0].status)
        raise DataProblem(f"{len(broken)} of {len(children)} members were not trained: {said}")
    trained = assemble(tools.database, tools.clock, begun, params.get("label"))
    result = {"version": trained.version_id, "basins": len(trained.basins), "left_out": trained.left_out}
    if rule is None:
        return result
    torch.set_num_threads(tools.settings.threads)
    verdict = judge(tools.database, tools.clock, trained.version_id, rule, running.show)
    running.log(verdict.sentence)
    return result | {"verdict": asdict(verdict)}


def _make_members(running: Running, training_id: str, members: int) -> None:
    tools = running.tools
    made = []
    with tools.database.transaction() as session:
        jobs.hold(session, running.job.id, running.job.attempt)
        for member in range(members):
            new = jobs.NewJob(
                kind="member",
                params={"training": training_id, "member": member},
                queue="training",
                parent_id=running.job.id,
            )
            made.append(jobs.create(session, new, tools.clock.wall())[0])
    for child in made:
        tools.sender.send(child)


def member(running: Running) -> dict[str, Any]:
    """Train one member from its newest checkpoint. Params: `training`, `member`."""
    import torch

    from models.training import Progress
    from operations.train import reopen, train_member

    params, tools = running.job.params, running.tools
    torch.set_num_threads(tools.settings.threads)

    def show(progress: Progress) -> None:
        running.show(progress.step, progress.steps, f"loss {progress.loss:.4f}")

    begun = reopen(tools.database, params["training"])
    if begun.version_id is None:
        train_member(tools.database, tools.clock, begun, params["member"], tools.settings.device, show)
    return {"training": begun.training_id, "member": params["member"]}


def forecast(running: Running) -> dict[str, Any]:
    """Issue forecast runs. Params: `basins`, `t0`, `horizon`, `version`, `product` if any."""
    import torch

    from operations.basins import with_model
    from operations.forecast import Request
    from operations.forecast import forecast as run

    params, tools = running.job.params, running.tools
    torch.set_num_threads(tools.settings.threads)
    with tools.database.reading() as session:
        names = _basins(params) or with_model(session, params.get("version"))
    request = Request(
        tuple(names),
        horizon=params.get("horizon", 10),
        t0=day(params["t0"]) if params.get("t0") else None,
        version_id=params.get("version"),
        product=params.get("product"),
        key=running.job.id,
    )
    issued = run(tools.database, tools.clock, request, running.show)
    return {"runs": [{"run": one.id, "status": one.status, "t0": str(one.t0)} for one in issued]}


def evaluation(running: Running) -> dict[str, Any]:
    """Score a version. Params: `period`, `version` and `basins` if any."""
    import torch

    from operations.evaluate import evaluate

    params, tools = running.job.params, running.tools
    torch.set_num_threads(tools.settings.threads)
    with tools.database.reading() as session:
        version = params.get("version") or versions.newest(session).id
        basins = _basins(params) or promotions.basins_of(session, version)
    done = evaluate(tools.database, tools.clock, version, Period.parse(params["period"]), basins, running.show)
    count, low, median, high = done.quartiles("nse")
    return {
        "version": version,
        "nse": {"basins": count, "p25": low, "median": median, "p75": high},
        "worst_residual": done.worst_residual,
        "left_out": done.left_out,
    }


def pretrained(running: Running) -> dict[str, Any]:
    """Install a shipped ensemble. Params: `name`, `product` and `promote` (for basins without a version) if any."""
    from operations.pretrained import install, promote_where_vacant, read_shipped

    params, tools = running.job.params, running.tools
    shipped = read_shipped(_text(params, "name"), tools.settings.pretrained)
    installed = install(tools.database, tools.clock, shipped, _text(params, "product"))
    result = {"version": installed.version_id, **asdict(installed)}
    del result["version_id"]
    if not params.get("promote"):
        return result
    promoted = promote_where_vacant(tools.database, tools.clock, installed.version_id)
    return result | {"promoted": list(promoted.basins), "left_out": promoted.left_out}


def comparison(running: Running) -> dict[str, Any]:
    """Hold versions against the first of them. Params: `period`, `versions`, and `basins` if any."""
    import torch

    from operations.compare import compare

    params, tools = running.job.params, running.tools
    torch.set_num_threads(tools.settings.threads)
    period, named = Period.parse(params["period"]), params["versions"]
    done = compare(tools.database, tools.clock, named, period, _basins(params), running.show)
    kept = done.comparison
    return {"comparison": kept.id, "basins": len(kept.basins), "left_out": kept.result["left_out"]}


def _text(params: Mapping[str, Any], name: str) -> str | None:
    value = params.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"`{name}` must be a text.")
    return value


def _path(params: Mapping[str, Any], name: str) -> Path | None:
    text = _text(params, name)
    return None if text is None else Path(text)


def _basins(params: Mapping[str, Any]) -> list[str]:
    named = params.get("basins") or []
    if not isinstance(named, list):
        raise InvalidInput("`basins` must be a list of basin identifiers.")
    return [basin_id(text) for text in named]


HANDLERS: dict[str, Handler] = {
    "ingest": ingest,
    "training": training,
    "member": member,
    "forecast": forecast,
    "evaluation": evaluation,
    "comparison": comparison,
    "pretrained": pretrained,
}
