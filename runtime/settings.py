"""Settings, read from `FRESHET_*`. Nothing else reads the environment."""

import os
import re
from datetime import UTC, datetime, time
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from hydrology.base.errors import InvalidInput
from jobspec.addresses import mail_address
from jobspec.extensions import extensions
from jobspec.fields import form, message


class BadSettings(InvalidInput):
    """A setting that cannot be used."""


def sqlite_url(file: Path) -> str:
    """Return the database URL of a SQLite file, whatever characters its path has."""
    return f"sqlite:///{quote(str(file))}"


def _absolute(path: Path) -> Path:
    if _UNUSABLE_IN_PATHS.search(str(path)):
        raise ValueError("write a path in UTF-8, without control characters")
    return path.expanduser().absolute()


def _utc(instant: datetime) -> datetime:
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def _lower(text: object) -> object:
    return text.lower() if isinstance(text, str) else text


def _split(text: object) -> object:
    return [part.strip() for part in text.split(",") if part.strip()] if isinstance(text, str) else text


def _host_and_port(text: object) -> object:
    if not isinstance(text, str):
        return text
    host, _, port = text.rpartition(":")
    if not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\]", host) or not re.fullmatch("[0-9]{1,5}", port):
        raise ValueError("write a host and a port, like files.example:8080 or [fd00::1]:8080")
    return host.strip("[]").lower(), int(port)


def _service(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise ValueError("write http://… or https://…, without a password and a query")
    return text


def _origin(text: str) -> str:
    parts = urlsplit(text)
    if text != "*" and (parts.scheme not in ("http", "https") or f"{parts.scheme}://{parts.netloc}" != text):
        raise ValueError("write an origin, like https://map.example.org, without a path; or * for any")
    return text


def _network(text: str) -> str:
    try:
        return str(ip_network(text, strict=False))
    except ValueError:
        raise ValueError("write an address or a network, like 10.0.0.7 or 10.0.0.0/8") from None


def _encrypted(security: str, known: ValidationInfo) -> str:
    host = known.data.get("smtp_host")
    if security == "none" and host is not None and host not in _LOOPBACK:
        raise ValueError(f"only for a server of this machine ({', '.join(_LOOPBACK)}): write starttls or tls")
    return security


_MAIL_HOST = form(
    r"^([A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)$",
    "the name or address of a host, such as mail.example.org",
)
_UNUSABLE_IN_PATHS = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")  # surrogates stand for bytes that are not UTF-8
_ASCII = form("^[ -~]+$", "printable characters of ASCII")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
Folder = Annotated[Path, AfterValidator(_absolute)]
Origin = Annotated[str, AfterValidator(str.lower), AfterValidator(_origin)]
Network = Annotated[str, AfterValidator(_network)]
HostPort = Annotated[tuple[str, int], BeforeValidator(_host_and_port)]
ServiceUrl = Annotated[str, AfterValidator(_service)]
ServiceKey = Annotated[
    str | None, Field(repr=False, pattern=form("^[!-~]+$", "printable characters of ASCII without spaces"))
]
Days = Annotated[int, Field(ge=1, le=36_500)]
CommaSeparated = (BeforeValidator(_split), NoDecode)


class EnvironmentSettings(BaseSettings):
    """Settings of the core or of an extension."""

    model_config = SettingsConfigDict(env_prefix="FRESHET_", frozen=True, validate_default=True)

    @classmethod
    def load(cls, **chosen: Any) -> Self:
        """Return the settings of the environment, under those chosen on the command line.

        A message about one that cannot be used names its variable, and never repeats the value.
        """
        try:
            return cls(**{name: value for name, value in chosen.items() if value is not None})
        except ValidationError as error:
            own = [fault for fault in error.errors(include_url=False) if fault["type"] != "default_factory_not_called"]
            problems = "; ".join(f"FRESHET_{str(fault['loc'][0]).upper()}: {message(fault)}" for fault in own)
            raise BadSettings(f"The settings cannot be used: {problems}.") from None


class Settings(EnvironmentSettings):
    """The operator's settings.

    Attributes:
        data: the folder of the default database and of all other files that the service stores.
        database_url: a SQLite file (`sqlite:////path/freshet.sqlite`; write `%3F` for a `?` in its path, `%25` for a
            `%`) or PostgreSQL (`postgresql://host/name`, whose password belongs in PGPASSFILE or PGPASSWORD). Never
            shown.
        broker_url: a Redis or Valkey; without one Freshet runs a Valkey of its own. Never shown.
        camels: the folder of real CAMELS-US data, for the tests that need them.
        pretrained: the folder of shipped ensembles, if not the one that came with Freshet.
        extensions: the extensions that are loaded, split by commas, none for the core alone; by default all that are
            installed.
        as_of: the instant to replay an archive at, by default now; UTC unless it has an offset, 00:00 unless it has a
            time.
        log_level: the least severe message that is logged.
        cores: how many parts of a command's work are computed at once, each on one thread, and how many workers
            `freshet serve` starts for trainings and, up to four, for the service; by default all of this machine.
        device: what trainings and simulations compute on: `cpu`, or a CUDA device such as `cuda:0`.
        lease_seconds: how long a job stays with a worker that sends no heartbeat; heartbeats are a quarter of it
            apart.
        heartbeat_file: a file that a worker or scheduler touches when its heartbeat, every 30 seconds, has reached the
            database: the health checks of containers look at its age.
        read_needs_key: whether reading over the API needs a key too, as writing always does.
        allowed_hosts: names under which the API is reached, split by commas, besides localhost and the address it
            listens on; `*.example.org` is every name below, `*` is any.
        cors_origins: origins of other sites, split by commas, whose pages may read in a browser whatever needs no
            key: `https://map.example.org`; `*` is any.
        trusted_proxies: addresses and networks of proxies, split by commas, whose `X-Forwarded-For` is believed.
        requests_per_minute: how many requests an address may send.
        writes_per_minute: how many writing requests a key may send.
        unfinished_jobs_per_key: how many unfinished jobs an operator's key may have; an administrator's has no limit.
        operator_job_mib: how many MiB of memory a job of an operator's key may use, but on a GPU; a training that would
            need more is refused.
        failed_keys_per_minute: how many wrong keys an address may send before they are answered 429; a right key is
            served all the same.
        requests_at_once: how many requests the API works on at once, each with a thread and a connection of the
            database; others wait for their turn, and are answered 503 if it does not come in time.
        connections_per_address: how many connections an address may hold open; a trusted proxy's are not counted.
        ingest_roots: the folders, split by commas, that ingest jobs read from; the command line reads what its user
            may.
        ingest_hosts: hosts with their ports, split by commas, that data may be fetched from although their addresses
            are not public: `files.example:8080`.
        webhook_key: the key that the secrets of webhooks are derived from, the same on every machine of a service; by
            default it is created and stored in the data folder. Never shown.
        webhook_hosts: hosts with their ports, split by commas, that webhooks may be sent to although their addresses
            are not public, and by http too.
        public_url: the address under which others reach this service, for links in messages.
        smtp_host: the mail server that messages are handed to; without one no e-mail is sent.
        smtp_port: its port.
        smtp_security: `starttls`, `tls` from the first byte, or `none`, for a server of this machine alone.
        smtp_user: the user at the mail server; without one there is no login.
        smtp_password: the password of that user. Never shown.
        smtp_ca: a file of certificates that the mail server's certificate is checked against, by default the system's.
        smtp_seconds: within how many seconds the mail server must have taken a message.
        mail_from: the address that messages are sent from: `alerts@rivers.example`.
        cap_sender: the official sender of CAP messages, by an agreement with whom they go to; without one, and in a
            replay, every message is an exercise.
        alerts_need_approval: for how many minutes changes of alerts wait for a forecaster to approve or dismiss them;
            after that they go out as the forecast has them. By default none waits.
        issues_complete_by: the time of the day, such as `15:30` in UTC, by which the day's forecasts are expected to be
            complete: where they are not, subscriptions to issues are notified. Without one nobody is.
        mail_questions_per_day: how many subscriptions for e-mail, each of which asks an address for its consent, a key
            may create within a day, and all visitors of the page of alerts together.
        fill_with_climatology: whether the daily cycle takes the weather of other years where neither observed weather
            nor a weather forecast is known.
        retain_what_if_days: for how many days what-if runs are stored.
        retain_members_days: for how many days the results of a run's members are stored; its quantiles and the sums of
            its ledgers are stored for ever.
        retain_states_days: for how many days every state is stored; of older ones the last of each month.
        retain_weather_days: for how many days weather forecasts are stored.
        retain_jobs_days: for how many days jobs and their events are stored after they have ended.
        retain_deliveries_days: for how many days deliveries of alert changes are stored after they have ended.
        retain_questions_days: for how many days, 30 or more, it is stored that an address was asked for its consent:
            meanwhile nobody asks it again.
        retain_checkpoints_days: for how many days the checkpoints of an unfinished training are stored.
    """

    data: Folder = Path("freshet-data")
    database_url: str = Field(default_factory=lambda known: sqlite_url(known["data"] / "freshet.sqlite"), repr=False)
    broker_url: str | None = Field(default=None, repr=False)
    camels: Folder | None = None
    pretrained: Folder | None = None
    extensions: Annotated[tuple[str, ...] | None, *CommaSeparated] = None  # applied by `jobspec.extensions`
    as_of: Annotated[datetime, AfterValidator(_utc)] | None = None
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)] = "info"
    cores: int | None = Field(default=None, ge=1)
    device: str = Field(
        default="cpu", pattern=form(r"^(cpu|cuda(:[0-9]{1,3})?)$", "cpu, cuda or a device such as cuda:0")
    )
    lease_seconds: float = Field(default=60, ge=1)
    heartbeat_file: Folder | None = None
    read_needs_key: bool = False
    allowed_hosts: Annotated[tuple[str, ...], *CommaSeparated] = ()
    cors_origins: Annotated[tuple[Origin, ...], *CommaSeparated] = ()
    trusted_proxies: Annotated[tuple[Network, ...], *CommaSeparated] = ()
    requests_per_minute: int = Field(default=3000, ge=1)
    writes_per_minute: int = Field(default=300, ge=1)
    unfinished_jobs_per_key: int = Field(default=100, ge=1)
    operator_job_mib: int = Field(default=4096, ge=512)
    failed_keys_per_minute: int = Field(default=30, ge=1)
    requests_at_once: int = Field(default=8, ge=1)
    connections_per_address: int = Field(default=100, ge=1)
    ingest_roots: Annotated[tuple[Folder, ...], Field(min_length=1), *CommaSeparated] = Field(
        default_factory=lambda known: (known["data"] / "incoming",)
    )
    ingest_hosts: Annotated[tuple[HostPort, ...], *CommaSeparated] = ()
    webhook_key: str | None = Field(default=None, repr=False, min_length=32)
    webhook_hosts: Annotated[tuple[HostPort, ...], *CommaSeparated] = ()
    public_url: ServiceUrl | None = None
    smtp_host: str | None = Field(default=None, pattern=_MAIL_HOST, max_length=253)
    smtp_port: int = Field(default=587, ge=1, le=65_535)
    smtp_security: Annotated[Literal["starttls", "tls", "none"], AfterValidator(_encrypted)] = "starttls"
    smtp_user: str | None = Field(default=None, repr=False, pattern=_ASCII)
    smtp_password: str | None = Field(default=None, repr=False, pattern=_ASCII)
    smtp_ca: Folder | None = None
    smtp_seconds: float = Field(default=30, ge=1, le=300)
    mail_from: Annotated[str, AfterValidator(mail_address)] | None = None
    cap_sender: str | None = Field(
        default=None,
        pattern=form(
            r"^[^\s,<&\x00-\x20]{3,200}$",
            "3 to 200 characters without spaces, commas, < and &, such as alerts@rivers.example",
        ),
    )
    alerts_need_approval: int | None = Field(default=None, ge=1, le=1_440)
    issues_complete_by: time | None = None
    mail_questions_per_day: int = Field(default=20, ge=1)
    fill_with_climatology: bool = False
    retain_what_if_days: Days = 90
    retain_members_days: Days = 400
    retain_states_days: Days = 400
    retain_weather_days: Days = 400
    retain_jobs_days: Days = 90
    retain_deliveries_days: Days = 90
    retain_questions_days: int = Field(default=30, ge=30, le=36_500)
    retain_checkpoints_days: Days = 90

    @property
    def operator_job_bytes(self) -> int:
        """The bytes that a job of an operator's key may use."""
        return self.operator_job_mib * 2**20

    @property
    def sends_mail(self) -> bool:
        return None not in (self.smtp_host, self.mail_from, self.public_url)

    @property
    def own_address(self) -> str:
        """The address under which others reach this service, without a slash at its end; empty where it is not set."""
        return (self.public_url or "").rstrip("/")

    @classmethod
    def load(cls, **chosen: Any) -> Self:
        """Return the settings, once those of extensions are checked too; raises as `EnvironmentSettings.load`."""
        if "FRESHET_THREADS" in os.environ:
            raise BadSettings("FRESHET_THREADS is now FRESHET_CORES: set that, and remove FRESHET_THREADS.")
        for of_extension in extension_settings():
            of_extension.load()
        return super().load(**chosen)


def extension_settings() -> list[type[EnvironmentSettings]]:
    """Return the settings of extensions."""
    return [extension.load(extension.settings) for extension in extensions() if extension.settings]
