"""`freshet mcp`: tools for assistants."""

from typing import Annotated

import structlog

from extensions.assistants.settings import AssistantSettings
from freshet.cli.options import flag
from freshet.commands.serve import Host, Port, base, check_free
from runtime.process import log_to_stderr
from runtime.settings import Settings

log = structlog.get_logger()


def mcp(
    http: Annotated[bool, flag("--http", "Serve HTTP at /mcp instead of standard input and output.")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8008,
) -> None:
    """Offer a service's forecasts to assistants, as tools of the Model Context Protocol.

    It asks the API at FRESHET_API_URL: with the key FRESHET_API_KEY for the assistant that starts it, and over HTTP
    with the key that each assistant sends.
    """
    from extensions.assistants.server import serve_http, serve_stdio

    settings, asked = Settings.load(), AssistantSettings.load()
    log_to_stderr(settings.log_level)
    if not http:
        serve_stdio(asked)
        return
    check_free(host, port)
    log.info("assistants.address", url=f"{base(host, port)}/mcp", api=asked.api_url)
    serve_http(settings, asked.api_url, host, port)
