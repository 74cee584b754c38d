"""Every wait of a delivery is cut short here."""

import pytest

from stet.lsp.edits import edit_confirmation, file_hunk_applier


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "CONFIRM_SECONDS",
        "CONFIRM_AFTER_CHANGE_SECONDS",
        "UNOPENED_SECONDS",
        "OPENED_SECONDS",
    ):
        monkeypatch.setattr(edit_confirmation, name, 0.02)
    monkeypatch.setattr(file_hunk_applier, "FILE_CONFIRM_SECONDS", 0.02)
    monkeypatch.setattr(edit_confirmation, "DISK_POLL_SECONDS", 0.001)
    monkeypatch.setattr(file_hunk_applier, "FILE_POLL_SECONDS", 0.001)
