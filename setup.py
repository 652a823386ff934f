"""Builds the recurrence of MC-LSTM for each kind of processor of a platform; pyproject.toml declares everything else.

`python setup.py build_ext --inplace` puts the libraries beside their sources, `--plat-name linux-aarch64` (or
`macosx-11.0-arm64`, `macosx-11.0-x86_64`) compiles for another platform. The compiler is clang as it comes in the wheel
`ziglang`, so that no machine needs one of its own, and its libraries need nothing but the C library. CXXFLAGS adds
options for it.
"""

import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError
from setuptools.modified import newer_group

sys.path.insert(0, str(Path(__file__).parent))
from models.nets.compiled.variants import VARIANTS, Variant, fingerprint, machine_of

SOURCES = Path("models/nets/compiled")
FLAGS = (
    "-std=c++20", "-O3", "-ffp-contract=fast", "-fno-exceptions", "-fno-rtti", "-fno-sanitize=undefined",
    "-nostdlib", "-lc", "-shared", "-fPIC", "-s",
)  # fmt: skip
SYSTEMS = {"linux": "linux-gnu.2.28", "macosx": "macos.11.0"}  # the oldest that torch runs on


class Library(Extension):
    """The library of a variant."""

    def __init__(self, variant: Variant) -> None:
        declared = [Path("setup.py"), *SOURCES.glob("*.h"), SOURCES / "variants.py"]
        name = f"models.nets.compiled.recurrence-{variant.name}"
        super().__init__(name, [str(SOURCES / "library.cpp")], depends=sorted(map(str, declared)))
        self.variant = variant


class BuildLibraries(build_ext):
    """Compiles the libraries of the platform, as many at a time as there are processors."""

    def finalize_options(self) -> None:
        """Leave out the variants for other processors than the platform's."""
        super().finalize_options()
        self.parallel = self.parallel or True
        system, _, machine = self.plat_name.replace("universal2", platform.machine()).partition("-")
        self.system, self.machine = SYSTEMS.get(system), machine_of(machine)
        self.extensions = [one for one in self.extensions if self.system and one.variant.machine == self.machine]

    def get_ext_filename(self, fullname: str) -> str:
        """Return the file of a library: it is not a Python module, so any Python can load it."""
        return f"{fullname.replace('.', os.sep)}.so"

    def build_extension(self, ext: Library) -> None:
        """Compile the library of a variant, or take that beside its sources where they have not changed since."""
        path, beside = Path(self.get_ext_fullpath(ext.name)), Path(self.get_ext_filename(ext.name))
        path.parent.mkdir(parents=True, exist_ok=True)
        own_flags = shlex.split(os.environ.get("CXXFLAGS", ""))
        if not (self.force or own_flags or newer_group([*ext.sources, *ext.depends], str(beside))):
            self.copy_file(str(beside), str(path))
            return
        target = ["-target", f"{self.machine}-{self.system}", f"-mcpu={ext.variant.processor}"]
        if self.machine == "x86_64":
            target.append("-mprefer-vector-width=512")
        target.append(f"-DFRESHET_SOURCES={fingerprint(SOURCES)}")
        cache = str(Path(self.build_temp).absolute() / "zig")
        done = subprocess.run(
            [sys.executable, "-m", "ziglang", "c++", *FLAGS, *target, *own_flags, *ext.sources, "-o", str(path)],
            env=os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache},
            check=False,
        )
        if done.returncode:
            raise CompileError(f"{path.name} was not compiled: see above. Without a compiler: pip install ziglang.")


class PlatformWheel(bdist_wheel):
    """A wheel for any Python on one platform."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tag: the libraries know nothing of Python."""
        return "py3", "none", super().get_tag()[2].replace("universal2", platform.machine())


setup(
    ext_modules=[Library(variant) for variant in VARIANTS],
    cmdclass={"build_ext": BuildLibraries, "bdist_wheel": PlatformWheel},
)
