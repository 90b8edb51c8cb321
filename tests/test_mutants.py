"""Mutants stay usable: a patch that no longer fits, or names a test that is gone, shows nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.mutants import MUTANTS, BadMutant, apply, read_mutant
from tests.source_tree import ROOT, has_test

PATCHES = sorted(MUTANTS.glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_a_mutant_names_tests_that_exist(patch: Path) -> None:
    assert [test for test in read_mutant(patch).tests if not has_test(test)] == []


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")
@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_a_mutant_fits_the_source(patch: Path) -> None:
    command = ["git", "apply", "--check", str(patch)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("header", ["", "# test: tests/test_mutants.py::test_x\n", "# why: Nobody knows.\n"])
def test_a_mutant_without_tests_or_reason_is_refused(tmp_path: Path, header: str) -> None:
    patch = tmp_path / "01-it-breaks.patch"
    patch.write_text(header + "diff --git a/x b/x\n", encoding="utf-8")
    with pytest.raises(BadMutant, match=r"01-it-breaks\.patch"):
        read_mutant(patch)


def test_the_header_may_name_several_tests(tmp_path: Path) -> None:
    patch = tmp_path / "01-it-breaks.patch"
    patch.write_text("# test: a::test_b c::test_d\n# test: e::test_f\n# why: It: breaks.\n", encoding="utf-8")
    mutant = read_mutant(patch)
    assert mutant.tests == ("a::test_b", "c::test_d", "e::test_f")
    assert (mutant.name, mutant.why) == ("01-it-breaks", "It: breaks.")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")
def test_a_patch_is_applied_below_its_header(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "x").write_text("one\n", encoding="utf-8")
    patch = tmp_path / "01-two.patch"
    patch.write_text("# why: x\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n", encoding="utf-8")
    assert apply(tree, patch).returncode == 0
    assert (tree / "x").read_text(encoding="utf-8") == "two\n"
    assert apply(tree, patch).returncode != 0
