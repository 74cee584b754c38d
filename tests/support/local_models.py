"""The local models for tests.

`small` is installed beforehand with `stet model install small`, `medium` with
`python -m tests.parts --long`.
"""

import functools
import os
import tempfile
from pathlib import Path

import pytest

from stet.llm.weights import model_folder
from stet.llm.weights.catalog import MEDIUM, SMALL
from stet.llm.weights.local_model import LocalModel, UnusableModel, catalog_model, check_file
from tests.parts import medium_model as part
from tests.parts.kept import MissingPart


def small_model() -> LocalModel:
    """Return the small model; skip the test where it is not installed, but for CI."""
    local = catalog_model(SMALL, model_folder.default_folder())
    reason = model_folder.why_no_runtime()
    try:
        check_file(local)
    except UnusableModel as error:
        reason = reason or str(error)
    if reason and os.environ.get("CI") != "true":
        pytest.skip(reason)
    return local


_DATA_HOME = tempfile.TemporaryDirectory(prefix="stet-small-")


@functools.cache
def small_only() -> dict[str, str]:
    """Return the environment of a process that sees the small model and no other.

    The processes of tests have homes of their own, and this user may have a larger one installed.
    """
    installed = model_folder.installed_path(SMALL.weights, model_folder.default_folder())
    folder = Path(_DATA_HOME.name, "stet", "models")
    folder.mkdir(parents=True)
    (folder / installed.name).symlink_to(installed)
    return {"XDG_DATA_HOME": _DATA_HOME.name}


def medium_only() -> dict[str, str]:
    """Return the environment of a process that sees the medium model and no other; skip the test
    where the model can't be had.
    """
    if reason := model_folder.why_no_runtime():
        pytest.skip(reason)
    try:
        return {"XDG_DATA_HOME": str(part.ensure())}
    except MissingPart as missing:
        pytest.skip(f"the local model `medium` is missing: {missing}")


def medium_model() -> LocalModel:
    """Return the medium model; skip the test where it can't be had."""
    return catalog_model(MEDIUM, Path(medium_only()["XDG_DATA_HOME"], "stet", "models"))
