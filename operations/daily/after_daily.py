"""What extensions do after the daily cycle."""

from collections.abc import Iterator

from jobspec.extensions import extensions
from records.database.work import Work


def after_daily(work: Work) -> Iterator[str]:
    """Run the parts of extensions, and yield a sentence for each that has failed."""
    for extension in extensions():
        if extension.after_daily is not None:
            sentence = extension.load(extension.after_daily)(work.stage(extension.name))
            if sentence is not None:
                yield sentence
