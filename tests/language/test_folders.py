"""A folder can be read at a glance: it holds few files."""

import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_FILES = 20


def test_no_folder_holds_many_files() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    folders = Counter(str(Path(name).parent) for name in listed.split("\0") if name)
    del folders["migrations/versions"]  # a sequence, which only grows
    crowded = {folder: files for folder, files in folders.items() if files > MAX_FILES}
    assert not crowded, f"group these by subject, {MAX_FILES} files in a folder at most: {crowded}"
