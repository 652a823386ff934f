"""`python -m freshet.docs_reference`: write the pages of docs/ on commands, settings and jobs, from what declares
these."""

import inspect
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from freshet.cli.commands import COMMANDS, loaded
from freshet.cli.main import EXIT_CODES
from jobspec.authority import Authority, Owned
from jobspec.jobs.base import SERVICE, JobRequest
from jobspec.kinds import KINDS
from runtime.settings import Settings

DOCS = Path(__file__).parents[1] / "docs"
_WRITTEN = "`python -m freshet.docs_reference` writes this page from the program itself."
_COMMANDS = f"""\
# Commands

{_WRITTEN}

`freshet COMMAND --help` says the same in the terminal, and `freshet --install-completion` teaches your shell to
complete commands and options.

Every command that answers takes `--json`: one JSON object on standard output, and everything else (progress, notes,
errors) on standard error.

{EXIT_CODES}"""
_SETTINGS = f"""\
# Settings

{_WRITTEN}

Settings are read from the environment when a command starts; `freshet doctor` says what cannot be used.

A folder that `FRESHET_DATA` names is made by `freshet ingest`, `freshet basins add` and `freshet demo` if it is not
there. To every other command a missing folder is a mistyped one, and it says so; `freshet serve` and
`freshet keys make` make the default folder alone."""

_JOBS = f"""\
# Jobs

{_WRITTEN}

A job is work that the service does beside answering. `POST /v1/jobs` with a kind and its parameters starts one
([an example](../do/walk.md)), and a schedule starts one again and again; `/docs` of a running service has an
example of each kind that can be asked for. What a job does to its process, and what becomes of it then:
[Deployment](../do/deployment.md#jobs-their-processes-and-their-limits).

The workers of its queue do a job. What forecasts of the day rest on has two: posted by an administrator's key, a
schedule or the service itself it goes to the queue `service`, where it waits behind no operator's job.

An attempt that takes longer than its limit is ended, and the job has failed. One whose progress stands still for the
time in the last column is ended too, and the job is tried again."""


_RIGHTS = """\
## Who may have which job done

The command line, a schedule that it made and an admin's key may have every job done, and their jobs write all that the
last two columns name. What a job of an operator's key may write is declared with the kind (`jobspec/authority.py`) and
enforced once: a request that shows that it may not is refused with 403 (`not-allowed`) when it is posted, the rest when
it runs, and no other table can be written by its handler. A schedule's jobs run with the rights that the key which made
it has at that time: when it was revoked or has expired, they fail and say so. A job's members have its rights.

An operator's key owns the basins that it registered, the versions that it trained, the runs and comparisons that it
asked for. These are marked (`official` is false), and never stand for the service: no operator's run is a latest
forecast, a recession, a volume or a decision about an alert, and no operator's version serves another's basin."""
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
    parts = [part for name in COMMANDS for part in _command(f"freshet {name}", loaded(name))]
    return "\n\n".join([_COMMANDS, *parts]) + "\n"


def _command(path: str, command: Any) -> Iterator[str]:
    arguments = [_argument(parameter) for parameter in command.params if parameter.param_type_name == "argument"]
    parts = getattr(command, "commands", {})
    yield f"## {path}"
    yield inspect.cleandoc(command.help or "")
    yield f"    {' '.join([path, *arguments, *(['COMMAND'] if parts else []), '[OPTIONS]'])}"
    if rows := [_row(parameter) for parameter in command.params if parameter.name != "as_json" and parameter.help]:
        yield "\n".join(["| option | what |", "|---|---|", *rows])
    for name, part in parts.items():
        yield from _command(f"{path} {name}", part)


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
    rows = [
        f"| `FRESHET_{name.upper()}` | {_cell(meaning)} | {_default(Settings.model_fields[name])} |"
        for names, meaning in _meanings()
        for name in names
    ]
    return "\n".join([_SETTINGS, "", "| setting | meaning | default |", "|---|---|---|", *rows]) + "\n"


def _meanings() -> Iterator[tuple[list[str], str]]:
    """Yield the fields of the settings with what the docstring says of them."""
    _, _, attributes = inspect.cleandoc(Settings.__doc__ or "").partition("Attributes:\n")
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
            "| kind | an operator's key | tables that only the others' jobs write |",
            "|---|---|---|",
            *rights,
        ),
    ]
    return "\n".join(parts) + "\n"


def _operators(authority: Authority) -> str:
    if not authority.operators:
        return f"Not at all. {authority.note}"
    by_owner: dict[Owned, list[str]] = {}
    for table, owned in authority.writes.items():
        by_owner.setdefault(owned, []).append(f"`{table}`")
    written = "; ".join(f"{_WHOSE[owned]}: {', '.join(tables)}" for owned, tables in by_owner.items())
    withheld = "".join(
        f" Not with `{name}`{'' if value is None else f' {value}'}." for name, value in authority.admins.items()
    )
    return f"{authority.note}{withheld} {f'Writes {written}.' if written else ''}".rstrip()


def _more(authority: Authority) -> str:
    return ", ".join(f"`{table}`" for table in sorted(authority.also)) or "none"


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
