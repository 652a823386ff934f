"""The local server: it answers on loopback as USGS, Open-Meteo and Daymet do, from what a `World` knows."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

from testing.feed_services import gauge_tables, meteo, usgs
from testing.feed_services.reply import Reply, as_json
from testing.feed_services.world import World


@contextmanager
def serving(world: World) -> Iterator[str]:
    """Answer until the block ends; gives the server's address."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            pass

        def _answer(self, body: bytes | None) -> None:
            parts = urlsplit(self.path)
            world.requests.append((self.command, parts.path, parts.query, dict(self.headers.items())))
            if world.key is not None and self.headers.get("X-Api-Key") != world.key:
                result = f"The key {self.headers.get('X-Api-Key')} is not known."
                reply = as_json({"error": {"code": "API_KEY_INVALID", "message": result}}, 403)
            else:
                reply = answer(world, f"http://{self.headers['Host']}", parts.path, parts.query, body)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}"
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


SERVICES = {
    "FRESHET_USGS_URL": "/ogcapi/v0",
    "FRESHET_USGS_RATINGS_URL": "/stac/v0",
    "FRESHET_NWPS_URL": "/nwps/v1",
    "FRESHET_DAYMET_URL": "",
    "FRESHET_OPEN_METEO_ARCHIVE_URL": "",
    "FRESHET_OPEN_METEO_FORECAST_URL": "",
    "FRESHET_OPEN_METEO_ENSEMBLE_URL": "",
    "FRESHET_OPEN_METEO_RUNS_URL": "",
}
"""The path of each service at the server, by its setting."""


@contextmanager
def replacing_services(url: str, **chosen: str) -> Iterator[None]:
    """Let feeds ask the server at an address instead of the services, until the block ends."""
    wanted = {name: f"{url}{path}" for name, path in SERVICES.items()} | chosen
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def answer(world: World, host: str, path: str, query: str, body: bytes | None) -> Reply:
    """Return the answer to a request."""
    asked, sent = dict(parse_qsl(query)), json.loads(body) if body else None
    match path.strip("/").split("/"):
        case ["ogcapi", ("v0" | "v1") as version, "collections", name, "items"]:
            return usgs.collection(world, f"{host}/ogcapi/{version}/collections", name, asked, sent)
        case ["stac", "v0", "search"]:
            return gauge_tables.search(world, host, asked)
        case ["stac-files", "ratings", name]:
            return gauge_tables.file(world, name)
        case ["nwps", "v1", "gauges", number]:
            return gauge_tables.gauge(world, number)
        case ["v1", "archive" | "forecast" | "ensemble"] if sent is not None:
            return meteo.answer(world, path, sent)
        case ["data", _, "static", "meta.json"]:
            return meteo.meta(world)
        case ["single-pixel", "api", "data"]:
            return meteo.pixel(world, asked)
    return as_json({"message": "nothing is here"}, 404)
