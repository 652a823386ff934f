"""What the value of decisions adds to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    commands={"decision-value": "command:decision_value"},
    panel="Alerts and skill",
)
