"""What shadow mode adds to the core: its gates, its decisions, and the forecasts of versions in the shadow."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    pages=["endpoints:pages"],
    commands={"shadow show": "command:show", "shadow start": "command:start", "shadow end": "command:end"},
    groups={"shadow": "Operate basins and versions that are not public yet, and make them public."},
    after_daily="daily:after_daily",
    settings="settings:ShadowSettings",
    guide=["shadow.md"],
)
