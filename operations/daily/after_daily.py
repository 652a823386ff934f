"""What extensions do after the daily cycle."""

from collections.abc import Callable, Iterator
from functools import partial

from jobspec.extensions import extensions
from records.database.work import Work


def after_daily(work: Work, show: Callable[[str, int, int, str], None]) -> Iterator[str]:
    """Run the parts of extensions, and yield a sentence for each that has failed.

    Args:
        show: reports the extension and its progress: the number done, the total, and a detail.
    """
    for extension in extensions():
        if extension.after_daily is not None:
            sentence = extension.load(extension.after_daily)(work.database, work.clock, partial(show, extension.name))
            if sentence is not None:
                yield sentence
