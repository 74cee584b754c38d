"""The `initialize` parameters of real Eglot equal those of its fake in other tests."""

import json

import pytest

from tests.conftest import Part
from tests.editors.profiles import CLIENTS, recorded
from tests.parts.emacs import ensure
from tests.support.editor_profiles import PROFILES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


def test_eglot_declares_the_recorded_capabilities(part: Part) -> None:
    part(ensure)
    written = json.loads((CLIENTS / f"{PROFILES['eglot'].file}.json").read_text())
    assert recorded("eglot") == written, "python -m tests.editors.profiles eglot"
