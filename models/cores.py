"""The number of blocks of basins that a process computes at once, each on a thread of its own."""

_cores = 1


def use_cores(count: int) -> None:
    """Let this process compute up to `count` blocks of basins at once. No result depends on it."""
    global _cores  # noqa: PLW0603 - a property of the process, as torch's own number of threads
    _cores = count


def cores_in_use() -> int:
    """Return how many blocks of basins this process computes at once; one unless `use_cores` was called."""
    return _cores
