"""A year of daily operation on 12 real basins through 40 outages: missing issues, late ones, messages to operators.

A server of this machine gives discharge and weather of what FRESHET_CAMELS holds, as in `live-replay`. A scheduler and
a worker, in this process, stand at the time that is replayed and are looked at six times a day; feed, worker, scheduler
or database are out, or the disk is full, for some hours to some days, drawn from a seed. At the end every day must have
a closed issue, those that no cycle began on in time must be marked late, and no late run may ever have been a latest
forecast.
"""

import os
import tempfile
import time
from datetime import time as hour
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.regional import data
from benchmarks.replays.live import FIRST, HORIZON, begin, gauge_of, issue_time, settings_of
from hydrology.base.calendar import as_date
from jobspec.subscriptions import NewSubscription
from records.access import keys
from records.alerts import subscriptions
from records.database.engine import Database
from testing.feed_services.server import replacing_services, serving
from testing.feed_services.world import World
from testing.jobs.outages import STATED_AT, ReplayedService, drawn
from testing.webhook_receiver import Receiver, receiving

SEED = 52
WITHIN = timedelta(minutes=10)


def measure(basins: int = 12, short: bool = False) -> dict[str, Any]:
    """Return the issues that are missing at the end, the late ones, and the messages in time."""
    days, count = (15, 6) if short else (365, 40)
    names = data.basins()[:: len(data.basins()) // basins][:basins]
    read = {name: data.source().read(name) for name in names}
    gauges = {name: gauge_of(of_basin) for name, of_basin in read.items()}
    first = issue_time(FIRST).replace(hour=0)
    outages = drawn(SEED, first, days, count)
    took = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "freshet.sqlite")
        begin(file, read, gauges)
        world = World(gauges, first)
        with serving(world) as url, replacing_services(url), receiving(Receiver(lambda: 204)) as receiver:
            settings = settings_of(file.parent, url).model_copy(
                update={"webhook_hosts": (receiver.host,), "issues_complete_by": hour(STATED_AT)}
            )
            os.environ["FRESHET_INGEST_HOSTS"] = url.removeprefix("http://")
            database = Database(settings.database_url)
            with database.transaction() as session:
                key = keys.make(session, "duty", "admin", None, first)[0].id
                subscriptions.create(session, NewSubscription(url=receiver.url, about="issues"), key, first, settings)
            database.close()
            outcome = ReplayedService(settings, world, outages, names, HORIZON).replay(first, days)
    replayed = {str(as_date(FIRST + ahead)) for ahead in range(days)}
    in_time = [
        stated
        for stated in outcome.incomplete
        if (known := [one for one in outcome.notices if one.at <= stated + WITHIN]) and known[-1].causes
    ]
    return {
        "shape": f"{basins} basins x {days} days, {count} outages, seed {SEED}",
        "missing": len(outcome.missing),
        "late": len(outcome.late),
        "late_and_marked": len(outcome.late & (replayed - outcome.on_time)),
        "not_begun_in_time": len(replayed - outcome.on_time),
        "late_as_latest": outcome.late_as_latest,
        "incomplete_at_stated_time": len(outcome.incomplete),
        "noticed_within_10_minutes": len(in_time),
        "messages": len(outcome.notices),
        "cpu_seconds": round(time.process_time() - took),
    }
