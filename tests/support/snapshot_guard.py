"""No run in CI renews a snapshot, whatever a command line or the environment asks for."""

import os

import pytest

ASKED_BY = "INLINE_SNAPSHOT_DEFAULT_FLAGS"


def pytest_configure(config: pytest.Config) -> None:
    """Refuse flags of inline-snapshot under `CI`, but for `disable`.

    Raises:
        pytest.UsageError: If there are others.
    """
    asked = config.getoption("inline_snapshot") or os.environ.get(ASKED_BY, "disable")
    if os.environ.get("CI") and asked != "disable":
        raise pytest.UsageError(f"snapshots are only compared in CI, not: {asked}")
