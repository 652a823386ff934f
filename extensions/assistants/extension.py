"""What the tools for assistants add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    commands={"mcp": "command:mcp"},
    settings="settings:AssistantSettings",
    guide=["assistants.md"],
)
