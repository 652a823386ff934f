"""`freshet simulation`: the flow that a basin's scores were computed from."""

from typing import Annotated

import numpy as np

from freshet.cli.context import reading
from freshet.cli.options import Basin, option
from freshet.cli.output import Json, answer, table
from freshet.cli.versions.verified import in_training
from records.basins import basins
from records.forecasts.latest import asked_version
from records.simulations import simulated_flow
from records.versions import versions


def simulation(
    basin: Basin,
    version: Annotated[str | None, option("VERSION", "A model version. Default: the basin's current one.")] = None,
    as_json: Json = False,
) -> None:
    """Show simulated and observed flow on the days of a basin's newest evaluation, in mm/day."""
    with reading() as session:
        basins.require(session, basin)
        asked = asked_version(session, basin, version)
        flow = simulated_flow.newest(session, asked.evaluated_as, basin)
        use = versions.get(session, flow.version_id).use_of(flow.period, basin)
    days, simulated = list(flow.period.days), flow.simulated.tolist()
    observed = [None if np.isnan(value) else value for value in flow.observed.tolist()]
    payload = {
        "basin": basin,
        "version": asked.id,
        "scored": flow.version_id,
        "period": str(flow.period),
        "period_use": use,
        "evaluated_at": flow.evaluated_at,
        "unit": "mm/day",
        "time": days,
        "simulated": simulated,
        "observed": observed,
    }
    title = f"{basin}, version {flow.version_id}, {flow.period}, {in_training(use)}, mm/day"
    answer(
        payload,
        as_json,
        table(("day", "simulated", "observed"), list(zip(days, simulated, observed, strict=True)), title),
    )
