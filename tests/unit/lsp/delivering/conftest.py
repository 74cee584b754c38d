"""Every wait of a delivery is cut short here."""

import pytest

from stet.lsp.delivering import arrival, file_sight


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARRIVAL_SECONDS", "OUTRUN_SECONDS", "UNSEEN_SECONDS", "SHOWN_SECONDS"):
        monkeypatch.setattr(arrival, name, 0.02)
    monkeypatch.setattr(file_sight, "SEEN_SECONDS", 0.02)
    monkeypatch.setattr(arrival, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(file_sight, "LOOK_SECONDS", 0.001)
