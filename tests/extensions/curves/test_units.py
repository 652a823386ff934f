"""The loss of a training is shown in the unit that it has."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from records.database.engine import Database
from testing.records import a_member, a_version

CURVE = {"step": [1, 2], "loss": [2.0, 1.0], "learning_rate": [0.1, 0.1], "gradient_norm": [1.0, 1.0]}


@pytest.mark.parametrize(
    ("loss", "share", "title", "unit"),
    [
        ("nse*", 0.0, "Loss nse*", "1"),
        ("mse", 0.0, "Loss mse, mm2/day2", "mm2/day2"),
        ("rmse", 0.0, "Loss rmse, mm/day", "mm/day"),
        ("mse", 0.2, "Loss mse, 20 % on the logarithm of the flow", "1"),
    ],
)
def test_a_loss_is_labelled_by_its_name_and_unit(
    sqlite_database: Database, sqlite_client: TestClient, loss: str, share: float, title: str, unit: str
) -> None:
    config = {"network": {"architecture": "mclstm", "cells": 64}, "loss": loss, "log_share": share}
    with sqlite_database.transaction() as session:
        version = a_version(session, replace(a_member(), log={"curve": CURVE}), config=config).id
    address = f"/v1/models/{version}/curves"
    assert sqlite_client.get(address).json()["units"] == {"loss": unit}
    head = sqlite_client.get(address, params={"format": "csv"}).text.splitlines()[0]
    assert f",loss [{unit}]," in head
    assert f"<h3>{title}</h3>" in sqlite_client.get(f"/models/{version}").text
