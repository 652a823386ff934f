"""How each kind of problem is mended, in a sentence. The `detail` of an error says it of that one case."""

from collections.abc import Mapping

from app.http.problems import (
    Changed,
    Forbidden,
    HostNotAllowed,
    Internal,
    MethodNotAllowed,
    NotAcceptable,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    UnsupportedMedia,
)
from app.models.comparisons.service import NotCompared
from app.models.scores.service import NotEvaluated
from app.models.verification.service import NotVerified
from hydrology.base.errors import DataProblem, InvalidInput, NotFound, Problem
from records.access.permissions import NotAllowed
from records.alerts.deliveries import NotEnded
from records.alerts.webhook_signature import NoWebhookKey
from records.database.engine import DatabaseProblem, StorageFull
from records.database.ids import Corrupt
from records.database.retention import Gone
from records.forecasts.latest import NoForecast, NoModel
from records.jobs.job_limits import TooManyUnfinishedJobs
from records.jobs.jobs import IdempotencyConflict
from records.jobs.schedules import ScheduleConflict
from records.series.damaged_years import DamagedSeries
from records.series.series import NoObservations
from records.versions.promotions import NotOwnersBasin
from records.weather.feeds import FeedConflict
from records.weather.product_credits import ProductConflict

# Said of a class, or of the nearest class above it.
MENDING: Mapping[type[Problem], str] = {
    Problem: "Read `detail`: it says what is wrong this time and how to mend it.",
    NotFound: "Check the spelling. The address without its last part lists what there is.",
    Gone: "It is not kept any more: let an administrator lengthen the rule of retention for those to come.",
    NoForecast: "Make one: `freshet forecast --basin BASIN`, or post a job of the kind `forecast`.",
    NoModel: "Promote a version for it: `freshet models install-pretrained --promote`, or `models promote VERSION`.",
    NoObservations: "Ask for a product and days that `/v1/basins/{basin}` lists, or ingest what is missing.",
    NotCompared: "Ask for a metric that `detail` names.",
    NotEvaluated: "Evaluate the version: `freshet evaluate`, or post a job of the kind `evaluation`.",
    NotVerified: "Verify the version: `freshet verify`, or post a job of the kind `verification`.",
    InvalidInput: "Change what `detail` and `errors` name, and send the request again.",
    IdempotencyConflict: "Send a new `Idempotency-Key` with a new request.",
    TooManyUnfinishedJobs: "Wait until some of the key's jobs have ended, or cancel some, and send the request again.",
    DataProblem: "Mend the data that `detail` names (ingest them again, for example), and send the request again.",
    DamagedSeries: "Ingest all of the year that `detail` names again, which replaces it, or restore a backup.",
    Corrupt: "Restore the database from a backup: what it holds is not what was stored.",
    DatabaseProblem: "Try again shortly. If it lasts, run `freshet doctor` on the service's machine.",
    StorageFull: "Free space on the disk of the database and of the data folder (see `/v1/status`), and send it again.",
    Unauthorized: "Send a key: `Authorization: Bearer TOKEN`. `freshet keys make NAME` makes one.",
    Forbidden: "Use a key of a larger scope (`freshet keys make NAME --scope admin`), or the key that made the thing.",
    NotAllowed: "Leave out what belongs to others, use the key that it belongs to, or an admin's key.",
    NotOwnersBasin: "Name only basins that the operator's key registered, or promote a version of the service.",
    ScheduleConflict: "Read the schedule again and send its new `ETag` as `If-Match`, or choose another name.",
    FeedConflict: "Choose another name, or remove the feed that has it.",
    ProductConflict: "Choose another name for the product: what one source brought stays its own.",
    NoWebhookKey: "Restore the file that `detail` names, or delete it and rotate the secret of every subscription.",
    NotEnded: "Wait until the delivery has ended, then replay it.",
    HostNotAllowed: "Use the address that the service listens on, or add the name to FRESHET_ALLOWED_HOSTS.",
    Changed: "Read the thing again, and send its new `ETag` as `If-Match`.",
    TooLarge: "Send less at once: in several requests, or as an ingest job that reads files.",
    TooManyRequests: "Wait as many seconds as `Retry-After` says.",
    NotAcceptable: "Ask for a format that `detail` names, with `Accept` or `format=`.",
    Internal: "Tell those who run the service: its log says what happened.",
    MethodNotAllowed: "Use a method that `Allow` names; /docs lists the operations of every address.",
    UnsupportedMedia: "Send the body in a format that `detail` names, and say so with `Content-Type`.",
}


def mending_of(problem: type[Problem]) -> str:
    """Return how a kind of problem is mended, in a sentence."""
    return next(MENDING[above] for above in problem.__mro__ if above in MENDING)
