"""What the exam in physics adds to the core: results beside those of the probes that every version gets."""

from jobspec.extensions import Extension

EXTENSION = Extension(package=__package__, examine="examination:examine", guide=["physics.md"])
