"""Compile the recurrence for this processor, once, and load it.

The compiler comes as a wheel (ziglang: clang), so that no machine needs one of its own. What it made is kept in the
user's cache folder under a name that tells sources, compiler and processor apart. Where nothing can be compiled the
networks run on torch's own operations, several times slower.
"""

import ctypes
import hashlib
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
from functools import cache
from importlib import metadata
from pathlib import Path

import structlog

SOURCES = Path(__file__).parent
FLAGS = (
    "-std=c++20", "-O3", "-march=native", "-ffp-contract=fast", "-fno-exceptions", "-fno-rtti",
    "-fno-sanitize=undefined", "-nostdlib++", "-shared", "-fPIC",
    *(["-mprefer-vector-width=512"] if platform.machine() in ("x86_64", "AMD64") else []),
)  # fmt: skip
DIGEST_BYTES = 32
PRECISIONS = ("double", "float", "half")
HALF_UNITS = (None, "vector unit", "matrix unit")

log = structlog.get_logger()


class CannotCompileError(Exception):
    """The recurrence cannot be compiled or loaded here; the sentence says why."""


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled recurrence, or None where there can be none (which is logged once)."""
    try:
        return load()
    except CannotCompileError as problem:
        log.warning("recurrence.slow", reason=str(problem))
        return None


def load() -> ctypes.CDLL:
    """Compile the recurrence, unless that is done already, and load it.

    Raises:
        CannotCompileError: there is no compiler, it failed, or what it made cannot be loaded.
    """
    path = location()
    try:
        if not _is_whole(path):  # a damaged library would end the process that loads it
            _compile(path)
        loaded = ctypes.CDLL(str(path))
    except OSError as problem:
        raise CannotCompileError(f"{path} cannot be made or loaded ({problem}): set XDG_CACHE_HOME.") from problem
    for precision in PRECISIONS:
        function = getattr(loaded, f"freshet_{precision}")
        function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_int], ctypes.c_int
    return loaded


@cache
def half_unit() -> str | None:
    """Return what this processor multiplies bfloat16 with, if it can: its matrix unit (AMX) or its vector unit."""
    loaded = library()
    return None if loaded is None else HALF_UNITS[loaded.freshet_half_unit()]


def location() -> Path:
    """Return where the compiled recurrence of this processor is kept, or will be.

    Raises:
        CannotCompileError: the folder cannot be used, or there is no compiler.
    """
    return _folder() / f"recurrence-{_fingerprint()}.so"


def _folder() -> Path:
    """Return the folder of what is compiled; nobody else may write there: what lies in it is run."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "freshet"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o022:
            raise CannotCompileError(f"{folder} can be written by others: `chmod go-w` it, or set XDG_CACHE_HOME.")
    except (OSError, RuntimeError) as problem:  # RuntimeError: the user has no home
        raise CannotCompileError(f"The cache folder cannot be used ({problem}): set XDG_CACHE_HOME.") from problem
    return folder


def _fingerprint() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    processor = {line for line in lines if line.startswith(("flags", "Features", "model name"))}
    parts = [*FLAGS, _compiler_version(), platform.platform(), platform.processor(), *sorted(processor)]
    parts += [source.read_text() for source in sorted(SOURCES.glob("*.[hc]*"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _compiler_version() -> str:
    if importlib.util.find_spec("ziglang") is None:
        raise CannotCompileError("The compiler is missing: `pip install ziglang`.")
    return metadata.version("ziglang")


def _compile(path: Path) -> None:
    log.info("recurrence.compile", to=str(path))
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        command = [sys.executable, "-m", "ziglang", "c++", *FLAGS, str(SOURCES / "library.cpp"), "-o", str(made)]
        caches = {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | caches, check=False)
        if done.returncode:
            raise CannotCompileError(f"The compiler failed: {done.stderr[-500:]}")
        # The end of the file tells whether it is whole; the loader does not look there.
        made.write_bytes(made.read_bytes() + _digest(made.read_bytes()))
        made.replace(path)


def _is_whole(path: Path) -> bool:
    content = path.read_bytes() if path.exists() else b""
    return content[-DIGEST_BYTES:] == _digest(content[:-DIGEST_BYTES])


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
