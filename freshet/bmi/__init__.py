"""A basin behind the Basic Model Interface, for frameworks that couple models: docs/bmi.md."""

from freshet.bmi.component import Freshet

__all__ = ["Freshet"]
