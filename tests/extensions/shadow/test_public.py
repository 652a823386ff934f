"""Nothing public has anything of a basin or a version in the shadow; an administrator sees all of it, labelled."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from starlette.testclient import TestClient

from records.access import keys
from records.database.engine import Database
from testing.filled_store import FILLED_UNTIL
from tests.app.alerts.test_mail_pages import MAIL
from tests.app.conftest import bearer, serving
from tests.extensions.shadow.store import HIDDEN, Filled, everything, lists, read, remove_shadow

pytestmark = pytest.mark.extended

OF_THE_MACHINE = re.compile(
    r"freshet_(?:disk|database|storage|request)_.*|\"(?:disk|checked|last_seen)[a-z_]*\":[^,}]+"
)
"""Room, times and counts of requests."""
LISTS_WITH_IT = ["/", "/models", "/v1/basins", "/v1/comparisons", "/v1/forecasts", "/v1/models", "/v1/runs"]
UNKNOWN = {"basin": "SYNTH-04", "version": "01a1f95d3e400000000009"}


@pytest.fixture(scope="module")
def client(filled: Filled) -> Iterator[TestClient]:
    with serving(f"sqlite:///{filled.file}", at=FILLED_UNTIL, **MAIL) as started:
        yield started


def leaks(answers: dict[str, tuple[int, str]], filled: Filled) -> set[str]:
    """Return the addresses whose answers have anything of the shadow."""
    shown = {path: text for path, (_, text) in answers.items()}
    return {path for path, text in shown.items() if any(one in text.replace(path, "") for one in filled.secrets)}


def test_no_address_and_no_page_has_anything_of_it(client: TestClient, filled: Filled) -> None:
    admin, operator = _key(filled, "admin"), _key(filled, "operator")
    shown = read(client, LISTS_WITH_IT, admin)  # first, for what it leaves in caches
    answers = read(client, everything(client, filled), operator)
    assert {status for status, _ in answers.values()} == {200, 403, 404}
    assert len(answers) > 70
    assert leaks(answers, filled) == set()
    assert leaks(shown, filled) == {*LISTS_WITH_IT}, "an administrator sees it, and so would this test"


def test_lists_counts_and_pages_are_those_of_a_database_without_it(on_postgresql: Database, filled: Filled) -> None:
    operator = bearer(on_postgresql)
    with serving(on_postgresql.url, at=FILLED_UNTIL) as client:
        addresses = lists(client)
        assert len(addresses) > 30
        hidden = read(client, addresses, operator)
        remove_shadow(on_postgresql, filled)
        without = read(client, addresses, operator)
    differ = {path for path in addresses if _of_content(hidden[path]) != _of_content(without[path])}
    assert differ == set()


def _of_content(answer: tuple[int, str]) -> tuple[int, str]:
    return answer[0], OF_THE_MACHINE.sub("", answer[1])


def test_its_addresses_answer_as_those_of_what_is_not_stored(client: TestClient, filled: Filled) -> None:
    operator = _key(filled, "operator")
    secrets = {"basin": HIDDEN, "version": filled.version}
    names = {"instance": filled.stored.run, "collection": "forecasts", "which": "latest", "image": "svg"}
    asked = 0
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for name in {*secrets} & {*re.findall(r"{(\w+)}", path)}:
            others = {of: getattr(filled.stored, of, "none") for of in re.findall(r"{(\w+)}", path)} | names
            others |= {"day": filled.stored.t0} | {of: one for of, one in _public(filled).items() if of != name}
            for method in methods:
                secret, unknown = (
                    client.request(method.upper(), path.format_map(others | {name: one[name]}), headers=operator)
                    for one in (secrets, UNKNOWN)
                )
                assert secret.status_code == unknown.status_code, (method, path)
                assert secret.text.replace(secrets[name], UNKNOWN[name]) == unknown.text, (method, path)
                asked += 1
    assert asked > 60


def _key(filled: Filled, scope: keys.Scope) -> dict[str, str]:
    with closing(Database(f"sqlite:///{filled.file}")) as database:
        return bearer(database, scope)


def _public(filled: Filled) -> dict[str, str]:
    return {"basin": "SYNTH-01", "version": filled.stored.version}


def test_an_administrator_sees_it_with_its_label_and_no_shared_cache_stores_that(
    client: TestClient, filled: Filled
) -> None:
    admin = _key(filled, "admin")
    basin = client.get(f"/v1/basins/{HIDDEN}", headers=admin)
    assert (basin.status_code, basin.json()["kind"]) == (200, "shadow")
    assert "public" not in basin.headers["Cache-Control"]
    assert "Authorization" in basin.headers["Vary"]
    assert client.get(f"/v1/basins/{HIDDEN}/forecasts/latest", headers=admin).json()["basin_kind"] == "shadow"
    assert client.get(f"/v1/models/{filled.version}", headers=admin).json()["status"] == "shadow"
    assert f"/v1/basins/{HIDDEN}/shadow" not in client.get("/shadow", headers=admin).text, "no gate is met"
    assert HIDDEN in client.get("/shadow", headers=admin).text
    assert client.get("/shadow", headers=_key(filled, "operator")).status_code == 403
    assert client.get(f"/v1/basins/{HIDDEN}", headers={"Authorization": "Bearer freshet_wrong"}).status_code == 404


def test_the_public_form_for_alerts_knows_it_as_little_as_what_is_not_stored(client: TestClient) -> None:
    sign_ups = [
        client.post("/alerts", data={"email": "duty@rivers.example", "least_severity": "watch", "basins": basin})
        for basin in (HIDDEN, UNKNOWN["basin"])
    ]
    assert [answer.status_code for answer in sign_ups] == [422, 422]
    assert sign_ups[0].text.replace(HIDDEN, UNKNOWN["basin"]) == sign_ups[1].text
