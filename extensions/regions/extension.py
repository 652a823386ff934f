"""What regions add to the core: their addresses, their page and their commands."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    pages=["endpoints:pages"],
    tags={"regions": "Basins by a rule; lists, keys and subscriptions name them."},
    commands={"regions show": "command:show", "regions set": "command:put", "regions remove": "command:remove"},
    groups={"regions": "Show, set and remove regions: basins by a rule, for keys, lists and subscriptions."},
    guide=["regions.md"],
)
