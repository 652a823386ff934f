"""The handler of each kind of job: `HANDLERS`. A handler is thin: the operations do the work.

Only the operations load torch, in the computing process.
"""

from jobspec.kinds import handlers_of_extensions
from workers.job import Handler
from workers.tasks import data, forecasting, judging, training, upkeep

HANDLERS: dict[str, Handler] = {
    "ingest": data.ingest,
    "upload": data.upload,
    "weather": data.weather,
    "fetch": data.fetch,
    "backfill": forecasting.backfill,
    "bridge": data.bridge,
    "daily": forecasting.daily,
    "replay": forecasting.replay,
    "basin": data.basin,
    "climate": data.climate,
    "training": training.training,
    "retraining": training.retraining,
    "member": training.member,
    "members": training.members,
    "forecast": forecasting.forecast,
    "what-if": forecasting.what_if,
    "volumes": forecasting.volumes,
    "evaluation": judging.evaluation,
    "calibration": judging.calibration,
    "reforecast": judging.reforecast,
    "verification": judging.verification,
    "levels": judging.levels,
    "comparison": judging.comparison,
    "pretrained": training.pretrained,
    "check": upkeep.check,
    "prune": upkeep.prune,
    "delivery": upkeep.delivery,
    **handlers_of_extensions(),
}
