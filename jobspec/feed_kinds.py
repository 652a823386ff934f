"""The kinds of feed: `FEED_KINDS` is the one list of them. Outside services are kinds of extensions."""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, NamedTuple, get_args

from pydantic import Field, TypeAdapter, ValidationError

from jobspec.extensions import SETTING, extensions, left_out
from jobspec.feeds import FeedSettings, FilesSettings
from jobspec.fields import Name, RequestModel, examples, faults
from jobspec.kinds import InvalidRequest


class MissingFeedKind(InvalidRequest):
    """A stored feed is of a kind whose extension is not loaded."""

    kind = "missing-feed-kind"

    def __init__(self, adapter: str) -> None:
        super().__init__(
            f"No loaded extension has the kind of feed {adapter[:64]!r}: install its extension or name it in "
            "FRESHET_EXTENSIONS, or remove the feed."
        )


class FeedKind(NamedTuple):
    """A kind of feed: the model of its settings and, as `module:object`, what opens it.

    Both functions get the settings and an `ingestion.feeds.http.FeedAccess`: `feed` returns an
    `ingestion.feeds.base.Feed`, `past_forecasts` (None where its service has none) an
    `ingestion.feeds.base.PastForecasts`.
    """

    settings: type[FeedSettings]
    feed: str
    past_forecasts: str | None = None

    @property
    def adapter(self) -> str:
        """The name of the kind."""
        return str(get_args(self.settings.model_fields["adapter"].annotation)[0])


_KINDS = [
    FeedKind(
        extension.load(settings),
        extension.reference(feed),
        extension.reference(past) if (past := extension.past_forecasts.get(settings)) else None,
    )
    for extension in reversed(extensions())
    for settings, feed in extension.feed_kinds.items()
]
FEED_KINDS = {kind.adapter: kind for kind in [*_KINDS, FeedKind(FilesSettings, "ingestion.feeds.files:files_feed")]}
USUAL: dict[str, FeedSettings] = {
    name: kind.settings.model_validate({"adapter": adapter, **settings})
    for adapter, kind in FEED_KINDS.items()
    for name, settings in kind.settings.usual.items()
}
"""The feeds that a new service of gauges starts with, by name."""


def usual_left_out() -> str:
    """Return which of the usual feeds are of extensions that are not loaded, and how to add them; empty if none."""
    feeds = [
        f"{feed} (extension {extension.name})"
        for extension in left_out()
        for settings in extension.feed_kinds
        for feed in extension.load(settings).usual
    ]
    return f"Not started: {', '.join(sorted(feeds))}. Name their extensions in {SETTING}, or unset it." if feeds else ""


if TYPE_CHECKING:
    AnyFeedSettings = FeedSettings
elif len(FEED_KINDS) == 1:
    AnyFeedSettings = FilesSettings
else:
    AnyFeedSettings = Annotated[
        reduce(or_, (kind.settings for kind in FEED_KINDS.values())), Field(discriminator="adapter")
    ]


class NewFeed(RequestModel):
    """A feed: its name and its settings."""

    model_config = examples({"name": "usgs-flow", "settings": {"adapter": "usgs"}})

    name: Name = Field(description="A name that no other feed has.", examples=["usgs-flow"])
    settings: AnyFeedSettings


_ADAPTER: TypeAdapter[AnyFeedSettings] = TypeAdapter(AnyFeedSettings)


def read_settings(settings: object) -> FeedSettings:
    """Read the settings of a feed."""
    try:
        return _ADAPTER.validate_python(settings)
    except ValidationError as error:
        sentence = faults(error, settings)
        raise InvalidRequest(f"The feed is not possible: {sentence}.") from None


def kind_of(adapter: str) -> FeedKind:
    """Return the kind of a stored feed; MissingFeedKind where its extension is not loaded."""
    if adapter not in FEED_KINDS:
        raise MissingFeedKind(adapter)
    return FEED_KINDS[adapter]
