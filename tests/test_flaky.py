"""`.ci/run` forgives a test that fails by bad luck once, and no more than once."""

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.source_tree import ROOT

MAKEFILE = """\
test:
	@{python} -m pytest -n 2 -m "not heavy" $(ARGS)
test-heavy:
	@{python} -m pytest -m heavy $(ARGS)
"""
QUICK = """\
from pathlib import Path

def test_good(pytestconfig):
    assert pytestconfig.inipath is not None, "the run does not have the configuration of the project"

def test_unlucky():
    runs = Path("runs")
    with runs.open("a") as file:
        file.write("x")
    assert len(runs.read_text()) not in {bad}, "bad luck"
"""
HEAVY = "import pytest\n\n@pytest.mark.heavy\ndef test_heavy():\n    pass\n"
UNLUCKY = "tests/test_quick.py::test_unlucky"


class Project:
    """A small project with our `.ci/run`, whose one unlucky test fails in its first, second, … runs as told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (".ci/run", "scripts/flaky.py", "tests/flaky.txt"):
            target = folder / name
            target.parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, target)
        python = folder / ".envs" / "dev" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
        python.chmod(0o700)
        (folder / "Makefile").write_text(MAKEFILE.format(python=python), encoding="utf-8")
        (folder / "tests" / "test_heavy.py").write_text(HEAVY, encoding="utf-8")
        (folder / "pytest.ini").write_text(
            "[pytest]\ntestpaths = tests\nmarkers =\n    heavy\n    soak\n", encoding="utf-8"
        )

    @property
    def flaky_list(self) -> Path:
        return self.folder / "tests" / "flaky.txt"

    def ci(self, failing_runs: set[int], quick: str = QUICK) -> tuple[int, list[str]]:
        """Run `.ci/run`; return its exit code and its last lines."""
        (self.folder / "runs").unlink(missing_ok=True)
        source = quick.format(bad=failing_runs or set[int]())
        (self.folder / "tests" / "test_quick.py").write_text(source, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "MAKE"))}
        done = subprocess.run(
            ["bash", ".ci/run"],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=200,
        )
        return done.returncode, done.stdout.splitlines()[-4:]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_run_without_failures_passes(project: Project) -> None:
    code, closing = project.ci(set())
    assert code == 0, closing
    assert closing[-2].startswith("make test: exit code 0: ===")


def test_a_test_that_fails_once_is_named_as_flaky_and_forgiven(project: Project) -> None:
    code, closing = project.ci({1})
    assert code == 0, closing
    assert closing[-2] == f"flaky: {UNLUCKY} failed once, then passed 2 times alone; it is now in tests/flaky.txt"
    today = datetime.now(UTC).date()
    assert project.flaky_list.read_text(encoding="utf-8").splitlines()[-1] == f"{today} {UNLUCKY}"


@pytest.mark.parametrize("failing_runs", [{1, 2}, {1, 3}], ids=["in the first round", "in the second round"])
def test_a_test_that_fails_again_alone_fails_the_run(project: Project, failing_runs: set[int]) -> None:
    code, closing = project.ci(failing_runs)
    assert code == 1, closing
    assert closing[-2] == f"broken: {UNLUCKY} failed again when it ran alone"


def test_a_test_that_is_flaky_for_the_second_time_fails_the_run(project: Project) -> None:
    with project.flaky_list.open("a", encoding="utf-8") as file:
        file.write(f"2026-01-31 {UNLUCKY}\n")
    code, closing = project.ci({1})
    assert code == 1, closing
    assert closing[-2] == f"flaky again: {UNLUCKY} has been in tests/flaky.txt since 2026-01-31; fix it"


def test_a_test_that_does_not_run_again_has_not_passed(project: Project) -> None:
    skips = QUICK.replace(
        "    assert len", "    if len(runs.read_text()) > 1:\n        pytest.skip('no luck')\n    assert len"
    )
    code, closing = project.ci({1}, quick=f"import pytest\n{skips}")
    assert code == 1, closing
    assert closing[-2] == f"broken: {UNLUCKY} failed again when it ran alone"


def test_a_failure_is_not_forgiven_where_a_file_could_not_be_imported(project: Project) -> None:
    """Also if that, too, is by bad luck: nobody ran its tests."""
    once = (
        "import pathlib\nif not pathlib.Path('once').exists():\n    pathlib.Path('once').touch()\n    import missing\n"
    )
    (project.folder / "tests" / "test_once.py").write_text(once, encoding="utf-8")
    code, closing = project.ci({1})
    assert code == 1, closing
    assert " 1 error " in closing[-2]


def test_the_list_may_lack_the_newline_at_its_end(project: Project) -> None:
    project.flaky_list.write_text("2026-01-31 tests/test_quick.py::test_other", encoding="utf-8")
    code, closing = project.ci({1})
    assert code == 0, closing
    listed = project.flaky_list.read_text(encoding="utf-8").splitlines()
    assert listed[0] == "2026-01-31 tests/test_quick.py::test_other"
    assert listed[1].endswith(f" {UNLUCKY}")


def test_a_run_that_fails_before_its_tests_is_not_forgiven(project: Project) -> None:
    code, closing = project.ci(set(), quick="import no_such_module\n")
    assert code == 1, closing
    assert closing[-2].startswith("make test: exit code 2: ===")
