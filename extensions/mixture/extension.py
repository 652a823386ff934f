"""What the mixture of weather models adds to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    mix="mixing:mix",
    drawn={"each weather model": "endpoints:drawn"},
    guide=["mixture.md"],
)
