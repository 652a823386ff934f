"""`python -m tests.guide.reference`: write the pages of docs/ on commands, settings and jobs from their
declarations."""

import inspect
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from freshet.cli.commands import loaded, names
from freshet.cli.main import EXIT_CODES
from jobspec.jobs.base import SERVICE, Authority, JobRequest, Owned
from jobspec.kinds import KINDS
from runtime.settings import EnvironmentSettings, Settings, extension_settings

DOCS = Path(__file__).parents[2] / "docs"
_WRITTEN = "`python -m tests.guide.reference` writes this page from the program itself."
_COMMANDS = f"""\
# Commands

{_WRITTEN}

`freshet COMMAND --help` shows the same text in the terminal, and `freshet --install-completion` teaches your shell to
complete commands and options.

Every command that answers takes `--json`: one JSON object on standard output, and everything else (progress, notes,
errors) on standard error.

{EXIT_CODES}"""
_SETTINGS = f"""\
# Settings

{_WRITTEN}

Settings are read from the environment when a command starts; `freshet doctor` reports the
ones that cannot be used.

`freshet ingest`, `freshet basins add` and `freshet demo` create the folder that `FRESHET_DATA` names if it does not
exist. Every other command treats a missing folder as a mistyped name and reports an error; `freshet serve` and
`freshet keys make` create the default folder only."""

_JOBS = f"""\
# Jobs

{_WRITTEN}

A job is work that the service does in the background. `POST /v1/jobs` with a kind and its parameters starts one
([an example](../do/walk.md)), and a schedule starts one at regular times; `/docs` of a running service has an
example of each kind that can be asked for. Processes, limits and failures of jobs:
[Deployment](../do/deployment.md#jobs-their-processes-and-their-limits).

A job is run by the workers of its queue. Kinds that the daily forecasts depend on have two queues: posted by an
administrator's key, a schedule or the service itself, they go to the queue `service`, where they never wait behind an
operator's job.

Within a queue owners take turns: the service itself, with administrators, is one, and each operator's key is another.
The service goes first, but not twice in a row while others wait; of these the one whose last turn was longest ago does.
A member of a training that has run for two hours lets others go first, and continues from its checkpoint. An operator's
key may have 100 unfinished jobs (`FRESHET_UNFINISHED_JOBS_PER_KEY`), and all keys of a
[region](../../extensions/regions/regions.md#limits) together as many as it allows.

A request that names a basin, version, feed, product or weather forecast that is not stored, or days that have not ended
or of which nothing is stored, is refused with 422 when a job or a schedule is posted; `errors` names each parameter.
Only the service's own work counts for its status: the last job of a schedule that has failed degrades it until the same
work (the same kind of job for the same records and days) has succeeded, whoever posted it with an administrator's key.
What a person posts degrades nothing.

An attempt that takes longer than its limit is ended, and the job fails. An attempt without progress for the time in the
last column is ended too, and the job is retried."""


_RIGHTS = """\
## Permissions of jobs

The command line, its schedules and admins' keys may post every job, and their jobs write all tables in the last two
columns. What an operator's job may write is declared with its kind (`jobspec/jobs/base.py`) and enforced once:
a request that is visibly not allowed is refused with 403 (`not-allowed`) when it is posted, any other when it runs, and
its handler cannot write to any other table. A schedule's jobs run with the current permissions of the key that created
it: once the key is revoked or has expired, they fail with that reason. A job's members have its permissions.

An operator's key owns the basins that it registered, the versions that it trained, and the runs and comparisons that it
requested. These are marked (`official` is false, the `kind` of a basin `unofficial`) and never represent the service:
an operator's run never becomes a latest forecast, a recession, a volume or a decision about an alert, an operator's
version never serves another owner's basin, and the alerts of an operator's basin go to that key's subscriptions alone.
An administrator can adopt a basin ([Forecast your own basin](../do/own-basin.md#official-or-not)).

A key for a [region](../../extensions/regions/regions.md) is refused (`outside-region`) where the job would change a
basin elsewhere: an operator's where its basins are not there, a forecaster's `forecast`, which is the service's own,
unless it names basins of the region alone."""
_WHOSE: dict[Owned, str] = {
    "any": "of any owner",
    "basin": "of its basins",
    "version": "of its versions",
    "run": "of its runs",
    "weather": "not operational",
    "comparison": "of its comparisons",
    "feed": "of its feeds",
}


def pages() -> dict[str, str]:
    """Return the texts of the pages by the names of their files."""
    return {"look-up/commands.md": _commands(), "look-up/settings.md": _settings(), "look-up/jobs.md": _jobs()}


def _commands() -> str:
    parts = [part for name in names() for part in _command(name)]
    return "\n\n".join([_COMMANDS, *parts]) + "\n"


def _command(words: str) -> Iterator[str]:
    command, path = loaded(words), f"freshet {words}"
    arguments = [_argument(parameter) for parameter in command.params if parameter.param_type_name == "argument"]
    parts = names(words) if hasattr(command, "commands") else []
    yield f"## {path}"
    yield inspect.cleandoc(command.help or "")
    yield f"    {' '.join([path, *arguments, *(['COMMAND'] if parts else []), '[OPTIONS]'])}"
    if rows := [_row(parameter) for parameter in command.params if parameter.name != "as_json" and parameter.help]:
        yield "\n".join(["| option | what |", "|---|---|", *rows])
    for name in parts:
        yield from _command(f"{words} {name}")


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = _argument(parameter)
    else:
        name = " ".join([", ".join([*parameter.opts, *parameter.secondary_opts]), parameter.metavar or ""]).strip()
    default = parameter.default
    has_default = default not in (None, False, ()) and not callable(default)
    return f"| `{name}` | {_cell(parameter.help)}{f' Default: {default}.' if has_default else ''} |"


def _settings() -> str:
    declared: list[type[EnvironmentSettings]] = [Settings, *extension_settings()]
    rows = [
        f"| `FRESHET_{name.upper()}` | {_cell(meaning)} | {_default(settings.model_fields[name])} |"
        for settings in declared
        for names, meaning in _meanings(settings)
        for name in names
    ]
    return "\n".join([_SETTINGS, "", "| setting | meaning | default |", "|---|---|---|", *rows]) + "\n"


def _meanings(settings: type[EnvironmentSettings]) -> Iterator[tuple[list[str], str]]:
    _, _, attributes = inspect.cleandoc(settings.__doc__ or "").partition("Attributes:\n")
    for entry in re.split(r"\n(?=    \w)", attributes.rstrip()):
        names, _, meaning = " ".join(entry.split()).partition(": ")
        yield names.split(", "), meaning[0].upper() + meaning[1:]


def _default(field: FieldInfo) -> str:
    default: Any = field.get_default(call_default_factory=True, validated_data={"data": Path("FRESHET_DATA")})
    if default is None or default == ():
        return "none"
    return f"`{', '.join(map(str, default)) if isinstance(default, tuple) else default}`"


def _jobs() -> str:
    rows = [
        f"| `{kind}` | {_cell(job.__doc__ or '')} | {_queues(job)} | {_in_words(job.time_limit)} | "
        f"{_in_words(min(job.silence_limit, job.time_limit))} |"
        for kind, job in KINDS.items()
    ]
    rights = [f"| `{kind}` | {_operators(job.authority)} | {_more(job.authority)} |" for kind, job in KINDS.items()]
    parts = [
        *(_JOBS, "", "| kind | what | queue | limit | without progress |", "|---|---|---|---|---|", *rows, ""),
        *(
            _RIGHTS,
            "",
            "| kind | an operator's key | tables and folders that only other owners' jobs write |",
            "|---|---|---|",
            *rights,
        ),
    ]
    return "\n".join(parts) + "\n"


def _operators(authority: Authority) -> str:
    of_forecasters = " A forecaster's job is the service's own." if authority.forecasters else ""
    if not authority.operators:
        return f"Not at all. {authority.note}{of_forecasters}"
    by_owner: dict[Owned, list[str]] = {}
    for table, owned in authority.writes.items():
        by_owner.setdefault(owned, []).append(f"`{table}`")
    written = "; ".join(f"{_WHOSE[owned]}: {', '.join(tables)}" for owned, tables in by_owner.items())
    withheld = "".join(
        f" Not with `{name}`{'' if value is None else f' {value}'}." for name, value in authority.admins.items()
    )
    return f"{authority.note}{withheld}{of_forecasters} {f'Writes {written}.' if written else ''}".rstrip()


def _more(authority: Authority) -> str:
    folders = [f"the folder of `FRESHET_{name.upper()}`" for name in sorted(authority.folders)]
    return ", ".join([*(f"`{table}`" for table in sorted(authority.also)), *folders]) or "none"


def _queues(job: type[JobRequest]) -> str:
    return f"`{SERVICE}`, an operator's `{job.queue}`" if job.operational else f"`{job.queue}`"


def _in_words(time: timedelta) -> str:
    minutes = int(time / timedelta(minutes=1))
    if minutes < 60:
        return f"{minutes} minutes"
    hours = minutes // 60
    if hours <= 24:
        return f"{hours} hour{'s' if hours > 1 else ''}"
    return f"{time.days} days"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
