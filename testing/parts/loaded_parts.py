"""What the process loads that parts are forked from (`testing.parts.forked_parts`)."""

from runtime.process import use_one_thread


def _load() -> None:
    use_one_thread()  # before numpy is loaded, whose threads a fork would lack
    from freshet.supervisor.supervised_process import load_parts

    load_parts()


_load()
