"""Weather forecasts, feeds and bridges."""

from collections.abc import Iterator

from app.jobs.schemas import Job
from app.weather.bridges.schemas import Bridge, BridgeDetail, Bridges
from app.weather.schemas import BasinWeather, Feed, FeedDetail, Feeds, WeatherDetail, WeatherIssue, WeatherPage
from freshet.client.resource import Body, Resource


class Weather(Resource):
    """Weather forecasts, feeds and bridges."""

    def weather(
        self, *, basin: str | None = None, source: str | None = None, model: str | None = None
    ) -> Iterator[WeatherIssue]:
        """Yield stored weather forecasts, the latest stored first."""
        return self._items(WeatherPage, "/v1/weather", "weather", basin=basin, source=source, model=model)

    def weather_issue(self, weather: str) -> WeatherDetail:
        """Return a weather forecast: its basins, days, traces and variables."""
        return self._read(WeatherDetail, f"/v1/weather/{weather}")

    def weather_of_basin(self, weather: str, basin: str) -> BasinWeather:
        """Return a weather forecast's values for a basin."""
        return self._read(BasinWeather, f"/v1/weather/{weather}/basins/{basin}")

    def post_weather(self, content: bytes, *, media_type: str = "application/json") -> Job:
        """Post a weather forecast: JSON, CSV or NetCDF."""
        return self._upload("/v1/weather", content, media_type)

    def feeds(self) -> Iterator[Feed]:
        """Yield the feeds in the order of their names."""
        return self._items(Feeds, "/v1/feeds", "feeds")

    def feed(self, feed: str) -> FeedDetail:
        """Return a feed and the outcome of its last fetch."""
        return self._read(FeedDetail, f"/v1/feeds/{feed}")

    def create_feed(self, new: Body) -> Feed:
        """Create a feed."""
        return self._send(Feed, "POST", "/v1/feeds", new)

    def delete_feed(self, feed: str) -> None:
        """Remove a feed; its data stay."""
        self._delete(f"/v1/feeds/{feed}")

    def bridges(self) -> Iterator[Bridge]:
        """Yield the bridges between weather products."""
        return self._items(Bridges, "/v1/bridges", "bridges")

    def bridge(self, bridge: str) -> BridgeDetail:
        """Return the corrections and skill of a bridge."""
        return self._read(BridgeDetail, f"/v1/bridges/{bridge}")
