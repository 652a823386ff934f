"""A Model Context Protocol server: assistants ask the API of a service through tools."""
