"""`kill -9` at random moments: nothing reported as done is lost, nothing is half done."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
KILLS = int(os.environ.get("STET_TEST_KILLS", "200"))
"""Set a larger number for a longer run: `STET_TEST_KILLS=10000 pytest --timeout 0 ...`."""
PROCESSES = 2


def test_nothing_acknowledged_is_lost_and_nothing_is_half_done(tmp_path: Path) -> None:
    seed = int(os.environ.get("STET_TEST_SEED") or random.randrange(10**6))
    runs = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.support.crash_oracle"),
                *(str(tmp_path / str(nth)), str(KILLS // PROCESSES), str(seed + nth)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
        )
        for nth in range(PROCESSES)
    ]
    reported = caught = 0
    for nth, run in enumerate(runs):
        stdout, stderr = run.communicate()
        assert run.returncode == 0, f"STET_TEST_SEED={seed + nth}: {stderr.decode()[-2000:]}"
        found = json.loads(stdout)
        assert found["kills"] == KILLS // PROCESSES
        reported, caught = reported + found["told"], caught + found["caught"]
    # A run without operations, or without a kill during one, would prove nothing.
    assert reported > 5 * KILLS
    assert caught > KILLS // 20
