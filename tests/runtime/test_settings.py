"""Settings come from the environment, and an unusable one is reported in a sentence."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from extensions.openmeteo.settings import OpenMeteoServices
from extensions.usgs.settings import UsgsService
from runtime.settings import BadSettings, Settings


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"FRESHET_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)


def test_defaults_store_everything_in_one_folder(tmp_path: Path) -> None:
    settings = Settings.load()
    assert settings.data == tmp_path / "freshet-data"
    assert settings.database_url == f"sqlite:///{tmp_path}/freshet-data/freshet.sqlite"
    assert (settings.broker_url, settings.camels, settings.as_of) == (None, None, None)
    assert (settings.log_level, settings.cores) == ("info", None)


def test_the_default_database_follows_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_DATA", "/srv/freshet")
    assert Settings.load().database_url == "sqlite:////srv/freshet/freshet.sqlite"


def test_a_choice_stands_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_CORES", "2")
    assert Settings.load(cores=None).cores == 2
    assert Settings.load(cores=4).cores == 4


def test_the_former_name_of_the_cores_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_THREADS", "2")
    with pytest.raises(BadSettings, match="FRESHET_THREADS is now FRESHET_CORES: set that"):
        Settings.load()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2008-09-30", datetime(2008, 9, 30, tzinfo=UTC)),
        ("2008-09-30T06:00:00", datetime(2008, 9, 30, 6, tzinfo=UTC)),
        ("2008-09-30T06:00:00+02:00", datetime(2008, 9, 30, 4, tzinfo=UTC)),
    ],
)
def test_as_of_is_in_utc(monkeypatch: pytest.MonkeyPatch, text: str, expected: datetime) -> None:
    monkeypatch.setenv("FRESHET_AS_OF", text)
    as_of = Settings.load().as_of
    assert as_of == expected
    assert as_of.tzinfo is UTC


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CORES", "0"),
        ("CORES", "many"),
        ("AS_OF", "yesterday"),
        ("LOG_LEVEL", "loud"),
        ("CORS_ORIGINS", "map.example.org"),
        ("CORS_ORIGINS", "https://map.example.org/page"),
        ("TRUSTED_PROXIES", "*"),
        ("TRUSTED_PROXIES", "10.0.0.7,proxy.example"),
        ("INGEST_HOSTS", "files.example"),
        ("INGEST_HOSTS", "http://files.example:80"),
        ("INGEST_HOSTS", "::1:80"),
        ("USGS_URL", "api.example/ogcapi"),
        ("USGS_URL", "ftp://api.example"),
        ("OPEN_METEO_ARCHIVE_URL", "https://me:secret@api.example"),
        ("OPEN_METEO_FORECAST_URL", "https://api.example/?apikey=secret"),
        ("USGS_KEY", "two words"),
        ("OPEN_METEO_KEY", ""),
    ],
)
def test_a_bad_value_is_a_sentence_that_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"FRESHET_{name}", value)
    with pytest.raises(BadSettings, match=f"FRESHET_{name}: ") as refused:
        Settings.load()
    assert "Value error" not in str(refused.value)
    assert str(refused.value).count("FRESHET_") == 1  # settings that depend on it are not reported


def test_hosts_that_are_allowed_are_split_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings.load().ingest_hosts == ()
    monkeypatch.setenv("FRESHET_INGEST_HOSTS", "Files.example:8080, [fd00::1]:80,")
    assert Settings.load().ingest_hosts == (("files.example", 8080), ("fd00::1", 80))


def test_urls_are_not_shown() -> None:
    settings = Settings.load(database_url="postgresql://me:secret@host/x", broker_url="redis://:secret@host")
    assert "secret" not in repr(settings)
    assert "secret" not in str(settings)


def test_keys_of_services_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_USGS_KEY", "secret")
    monkeypatch.setenv("FRESHET_OPEN_METEO_KEY", "secret")
    monkeypatch.setenv("FRESHET_WEBHOOK_KEY", "secret" * 6)
    usgs, open_meteo, settings = UsgsService.load(), OpenMeteoServices.load(), Settings.load()
    assert (usgs.usgs_key, open_meteo.open_meteo_key, settings.webhook_key) == ("secret", "secret", "secret" * 6)
    for shown in (usgs, open_meteo, settings):
        assert "secret" not in repr(shown)
        assert "secret" not in str(shown)
    monkeypatch.setenv("FRESHET_WEBHOOK_KEY", "secret")
    with pytest.raises(BadSettings, match=r"FRESHET_WEBHOOK_KEY: .* at least 32 characters") as refused:
        Settings.load()
    assert "secret" not in str(refused.value)


def test_folders_of_data_are_split_by_commas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Settings.load(data=Path("/srv/freshet")).ingest_roots == (Path("/srv/freshet/incoming"),)
    monkeypatch.setenv("FRESHET_INGEST_ROOTS", "/sources, here")
    assert Settings.load().ingest_roots == (Path("/sources"), tmp_path / "here")
    monkeypatch.setenv("FRESHET_INGEST_ROOTS", ",")
    with pytest.raises(BadSettings, match="FRESHET_INGEST_ROOTS"):
        Settings.load()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smtp_host", "a..b"),
        ("smtp_host", "a" * 64 + ".example"),
        ("smtp_user", "d\xfcty"),
        ("smtp_password", "h\xfcsh"),
    ],
)
def test_what_no_mail_server_takes_is_refused(name: str, value: str) -> None:
    with pytest.raises(BadSettings, match=f"FRESHET_{name.upper()}"):
        Settings.load(**{name: value})
    assert Settings.load(smtp_host="::1").smtp_host == "::1"
