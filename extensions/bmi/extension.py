"""What the Basic Model Interface adds to the core: a page of the guide. Frameworks import it themselves."""

from jobspec.extensions import Extension

EXTENSION = Extension(package=__package__, guide=["bmi.md"])
