"""`python -m tests [PYTEST OPTION ...]`: run the tests in two processes.

Two tests beside each other slow each other down, and a real editor then misses what a user who types
waits for. As `python -m test --rerun` does for CPython, a failed test that drives a real program (the
marker `slow`) runs once more, alone, with the same checks; it is reported as flaky if it passes then.
Other tests have one run. More than `MAX_RERUNS` failures are no accident and are not run again.
"""

import subprocess
import sys
from collections.abc import Sequence

import pytest

MAX_RERUNS = 8
_FAILED = int(pytest.ExitCode.TESTS_FAILED)


class TestRecord:
    """A plugin of pytest that records which tests have failed, and how long those of agents took.

    Attributes:
        slow: The node ids of failed tests with the marker `slow`.
        others: The node ids of all other failed tests.
        agents: The seconds that the tests with the real programs of other agents have taken.
    """

    __test__ = False

    def __init__(self) -> None:
        self.slow: list[str] = []
        self.others: list[str] = []
        self.agents = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a test; a test can fail in more than one phase."""
        if report.nodeid.startswith("tests/agents/"):
            self.agents += report.duration
        failed = self.slow if "slow" in report.keywords else self.others
        if report.failed and report.nodeid not in failed:
            failed.append(report.nodeid)


def run(options: Sequence[str]) -> int:
    """Run the tests; return the exit code of pytest, 0 if all failed tests have passed alone."""
    record = TestRecord()
    code = int(pytest.main(["--numprocesses", "2", "--dist", "worksteal", *options], [record]))
    if record.agents:
        _report(f"tests/agents: {record.agents:.0f} s, in two processes")
    if code != _FAILED or record.others or not 0 < len(record.slow) <= MAX_RERUNS:
        return code
    _report("These tests have failed beside other tests. Each runs again, alone:", record.slow)
    again = [sys.executable, "-m", "pytest", "--numprocesses", "0", *record.slow]
    code = subprocess.run(again, check=False).returncode
    if not code:
        _report("FLAKY: these tests have failed beside other tests and passed alone:", record.slow)
    return code


def _report(title: str, tests: Sequence[str] = ()) -> None:
    lines = (f"  {test}" for test in tests)
    _ = sys.stdout.write("\n".join(("", title, *lines, "")))
    _ = sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
