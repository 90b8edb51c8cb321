"""Run failed tests again, alone, to tell a flaky test from a broken one.

    pytest -p scripts.flaky --failures-to=FILE …     write the ids of the tests that failed into FILE
    python -m scripts.flaky FILE [-m MARKER]         run each of them again, twice, and print a verdict for each

A test that passes both times is flaky. It is a defect to fix with the next change, so its id goes into tests/flaky.txt
with the date, and the run still counts as passed. A test that is flaky while it stands on that list, or that fails
again, fails the run. The output of the tests goes to standard error, the verdicts to standard output.
"""

import argparse
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

FLAKY_LIST = Path("tests/flaky.txt")
ROUNDS = 2
MOST_FAILURES = 10
"""More failures than this in one run are not bad luck, and running them again would take too long."""
SECONDS_FOR_ONE = 600.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the file."""
    parser.addoption("--failures-to", type=Path, help="write the ids of the tests that failed into this file")


def pytest_configure(config: pytest.Config) -> None:
    """Collect failures where the whole run is seen: not in a worker of xdist."""
    if config.getoption("failures_to") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Failures(config.getoption("failures_to")))


class _Failures:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._failures: dict[str, None] = {}
        self._could_collect_all = True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # A file that cannot be imported has tests that nobody ran. With xdist that is one failure like the others.
        if report.failed:
            self._could_collect_all = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failures[report.nodeid] = None

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the file, unless the run ended for another reason than failed tests."""
        if self._failures and self._could_collect_all and exitstatus == pytest.ExitCode.TESTS_FAILED:
            self._file.write_text("\n".join(self._failures) + "\n", encoding="utf-8")


def passes_alone(test: str, marker: str | None) -> bool:
    """Whether the test passes in a pytest of its own."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junit-xml={report}", test]
        if marker:
            command += ["-m", marker]
        try:
            done = subprocess.run(
                command, stdout=sys.stderr, stdin=subprocess.DEVNULL, timeout=SECONDS_FOR_ONE, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        # The exit code is 0 also where all that was run was skipped.
        return done.returncode == pytest.ExitCode.OK and "<skipped" not in report.read_text(encoding="utf-8")


def listed_tests(flaky_list: Path) -> dict[str, str]:
    """The tests of the list, each with its date. A line is `2026-11-18 tests/unit/test_x.py::test_y`."""
    listed = {}
    for line in flaky_list.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            date, _, test = line.partition(" ")
            listed[test.strip()] = date
    return listed


def judge(test: str, marker: str | None, flaky_list: Path) -> tuple[bool, str]:
    """Run one failed test again: whether the run may still pass, and the verdict to print."""
    if not all(passes_alone(test, marker) for _ in range(ROUNDS)):
        return False, f"broken: {test} failed again when it ran alone"
    since = listed_tests(flaky_list).get(test)
    if since:
        return False, f"flaky again: {test} has been in {flaky_list} since {since}; fix it"
    lines = flaky_list.read_text(encoding="utf-8").splitlines()
    lines.append(f"{datetime.now(UTC).date()} {test}")
    flaky_list.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return True, f"flaky: {test} failed once, then passed {ROUNDS} times alone; it is now in {flaky_list}"


def main() -> int:
    """Judge the tests that the file names."""
    parser = argparse.ArgumentParser(description="Run failed tests again, alone, to tell flaky tests from broken ones.")
    parser.add_argument("failures", type=Path, help="a file of test ids, one on each line")
    parser.add_argument("-m", dest="marker", help="the marker expression of the run that failed")
    given = parser.parse_args()
    tests = given.failures.read_text(encoding="utf-8").splitlines()
    if len(tests) > MOST_FAILURES:
        print(f"broken: {len(tests)} tests failed; only up to {MOST_FAILURES} are run again")
        return 1
    passed = True
    for test in tests:
        forgiven, verdict = judge(test, given.marker, FLAKY_LIST)
        passed = passed and forgiven
        print(verdict, flush=True)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
