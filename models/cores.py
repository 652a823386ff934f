"""The number of blocks of basins that a process computes in parallel, one thread each."""

_cores = 1


def use_cores(count: int) -> None:
    """Let this process compute up to `count` blocks of basins in parallel. Results do not depend on it."""
    global _cores  # noqa: PLW0603 - a property of the process, as torch's own number of threads
    _cores = count


def cores_in_use() -> int:
    """Return the number of blocks that this process computes in parallel. 1 by default."""
    return _cores
