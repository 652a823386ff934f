"""A basin behind the Basic Model Interface, for frameworks that couple models: docs/do/bmi.md."""

from freshet.own_modules import require_own

require_own()  # before the first of them is imported

from freshet.bmi.component import Freshet  # noqa: E402

__all__ = ["Freshet"]
