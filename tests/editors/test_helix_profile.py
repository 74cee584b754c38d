"""The `initialize` parameters of real Helix equal those of its fakes in other tests."""

import json

import pytest

from tests.conftest import Part
from tests.editors.profiles import CLIENTS, recorded
from tests.parts import helix
from tests.support.editor_profiles import PROFILES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


@pytest.mark.parametrize(("name", "series"), [("helix", "25.01"), ("helix-master", "25.07")])
def test_helix_declares_the_recorded_capabilities(name: str, series: str, part: Part) -> None:
    part(lambda: helix.ensure(series))
    written = json.loads((CLIENTS / f"{PROFILES[name].file}.json").read_text())
    assert recorded(name) == written, f"python -m tests.editors.profiles {name}"
