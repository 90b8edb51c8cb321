"""Put each mended failure back, one at a time, and see that its tests notice.

    mutants.py [--only NAME] [--jobs N] [--timeout SECONDS]

A mutant is a patch in tests/mutants that undoes a fix; its first lines name the tests that must fail with it and say
why it matters. Each is applied to a copy of the tree, so nothing here is touched, and several can run at once. The
copy is what gets imported; the environments of this tree are used as they are.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "tests" / "mutants"
ENVIRONMENTS = ROOT / ".envs"
TESTS_FAILED = 1
SHOWN_LINES = 25


class BadMutant(Exception):
    """The patch file itself is wrong."""


@dataclass(frozen=True)
class Mutant:
    """A patch that brings a failure back, and the tests that must see it."""

    name: str
    patch: Path
    tests: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant. `caught` is what everybody wants."""

    mutant: Mutant
    outcome: str
    seconds: float
    detail: str = ""

    @property
    def caught(self) -> bool:
        """Whether the tests failed, as they must."""
        return self.outcome == "caught"


def read_mutant(patch: Path) -> Mutant:
    """Read the header of a patch: lines `# test: …`, which may repeat, and one `# why: …`."""
    tests: list[str] = []
    why = ""
    for line in patch.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        key, _, value = line.lstrip("# ").partition(":")
        if key == "test":
            tests += value.split()
        elif key == "why":
            why = value.strip()
    if not tests or not why:
        raise BadMutant(f"{patch.name}: its first lines must be `# test: tests/…::test_…` and `# why: …`")
    return Mutant(patch.stem, patch, tuple(tests), why)


def copy_tree(target: Path) -> None:
    """Copy what git would commit, with the changes that are not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        source, copy = ROOT / name, target / name
        if source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)


def try_mutant(mutant: Mutant, timeout: float) -> Verdict:
    """Apply the patch to a copy and run its tests there, first without it: a test that always fails shows nothing."""
    started = time.monotonic()

    def verdict(outcome: str, detail: str = "") -> Verdict:
        return Verdict(mutant, outcome, time.monotonic() - started, detail)

    with tempfile.TemporaryDirectory(prefix="pisces-mutant-") as folder:
        tree = Path(folder)
        copy_tree(tree)
        code, output = run_tests(tree, mutant, timeout)
        if code != 0:
            return verdict("not green before", output)
        applied = apply(tree, mutant.patch)
        if applied.returncode != 0:
            return verdict("does not apply", applied.stderr)
        code, output = run_tests(tree, mutant, timeout)
        end_remains(tree)
    if code == TESTS_FAILED:
        return verdict("caught")
    if code == 0:
        return verdict("SURVIVED", mutant.why)
    return verdict("hung" if code is None else f"broken (pytest {code})", output)


def apply(tree: Path, patch: Path) -> "subprocess.CompletedProcess[str]":
    """Apply a patch to the copy, strictly: one that only fits roughly may mutate something else."""
    return subprocess.run(
        ["git", "apply", "--whitespace=nowarn", str(patch)],
        cwd=tree,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def run_tests(tree: Path, mutant: Mutant, timeout: float) -> tuple[int | None, str]:
    """Run the mutant's tests in the copy; the exit code of pytest, None when time ran out, and what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PISCES_TEST_ENVS": str(ENVIRONMENTS)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "", *mutant.tests]
    with subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            output, _ = process.communicate()
            return None, output
    return process.returncode, output


def end_remains(tree: Path) -> None:
    """End what a mutant left running: leaving processes behind is the very failure that some bring back."""
    for process in psutil.process_iter():
        try:
            if any(str(tree) in argument for argument in process.cmdline()):
                process.kill()
        except psutil.Error:
            continue  # Someone else's, or gone while we looked.


def choose(only: list[str]) -> list[Mutant]:
    """The mutants to run, by name or by the beginning of a name."""
    mutants = [read_mutant(patch) for patch in sorted(MUTANTS.glob("*.patch"))]
    for name in only:
        if not any(mutant.name.startswith(name) for mutant in mutants):
            raise BadMutant(f"there is no mutant {name!r} in {MUTANTS}")
    return [mutant for mutant in mutants if not only or mutant.name.startswith(tuple(only))]


def show(verdict: Verdict) -> None:
    """One line of the table, and the end of the output where something is wrong."""
    print(f"{verdict.outcome:<20} {verdict.seconds:6.1f} s  {verdict.mutant.name}", flush=True)
    if not verdict.caught:
        for line in verdict.detail.splitlines()[-SHOWN_LINES:]:
            print(f"    {line}", flush=True)


def main() -> int:
    """Run the mutants; 0 when each was caught."""
    parser = argparse.ArgumentParser(description="Put each mended failure back and see that its tests notice.")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this one, or all that begin so")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="how many at once (2)")
    parser.add_argument("--timeout", type=float, default=180.0, metavar="SECONDS", help="for one run of tests (180)")
    arguments = parser.parse_args()
    try:
        mutants = choose(arguments.only)
    except BadMutant as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(arguments.jobs) as pool:
        caught = 0
        for verdict in pool.map(lambda mutant: try_mutant(mutant, arguments.timeout), mutants):
            show(verdict)
            caught += verdict.caught
    print(f"{caught} of {len(mutants)} caught")
    return 0 if caught == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
