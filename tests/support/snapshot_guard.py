"""A guard: no run in CI updates a snapshot, whatever the command line or the environment says."""

import os

import pytest

ASKED_BY = "INLINE_SNAPSHOT_DEFAULT_FLAGS"


def pytest_configure(config: pytest.Config) -> None:
    """Refuse flags of inline-snapshot under `CI`, except `disable`.

    Raises:
        pytest.UsageError: If there are other flags.
    """
    asked = config.getoption("inline_snapshot") or os.environ.get(ASKED_BY, "disable")
    if os.environ.get("CI") and asked != "disable":
        raise pytest.UsageError(f"snapshots are only compared in CI, not: {asked}")
