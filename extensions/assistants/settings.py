"""Settings of the tools for assistants."""

from runtime.settings import EnvironmentSettings, ServiceKey, ServiceUrl


class AssistantSettings(EnvironmentSettings):
    """The API that the tools ask.

    Attributes:
        api_url: address of the API that `freshet mcp` asks.
        api_key: the key that it asks with for the assistant that starts it; over HTTP each assistant sends its own.
            Never shown.
    """

    api_url: ServiceUrl = "http://127.0.0.1:8000"
    api_key: ServiceKey = None
