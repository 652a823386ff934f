"""A basin behind the Basic Model Interface, for frameworks that couple models: bmi.md."""

from typing import TYPE_CHECKING, Any

from freshet.own_modules import require_own

require_own()  # before the first of them is imported

if TYPE_CHECKING:
    from extensions.bmi.component import Freshet

__all__ = ["Freshet"]


def __getattr__(name: str) -> Any:
    """Return the component, which loads torch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from extensions.bmi.component import Freshet

    return Freshet
