"""What rivals add to the core: their files, their scores beside the own ones, and their flows."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    commands={
        "rivals add": "command:add",
        "rivals scores": "command:scores",
        "rivals show": "command:show",
        "rivals remove": "command:remove",
    },
    groups={"rivals": "Add other models and services, show them beside a version, and remove them."},
    panel="Alerts and skill",
    drawn={"rivals": "section:drawn"},
    model_section="section:section",
    guide=["rivals.md"],
)
"""Rivals, which are other models and services, judged on the same days by the same code."""
