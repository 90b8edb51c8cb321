"""What a test needs of Debian is looked for first, and its absence has a reason that a person can act on."""

import sys

import pytest

from scripts.debian_packages import find_or_install
from scripts.find_cpython_suite import find_suite, has_modules
from scripts.make_environment import SetUpFailed


def test_what_is_there_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_or_install("a-package", lambda: "/usr/bin/there", "there is none") == "/usr/bin/there"


def test_without_a_package_manager_the_reason_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetUpFailed, match="there is none: install a-package"):
        find_or_install("a-package", lambda: None, "there is none")


def test_an_interpreter_that_has_the_modules_is_taken_itself() -> None:
    assert find_suite(sys.executable, "json.decoder", "email") == sys.executable


def test_a_module_that_no_interpreter_has_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert not has_modules(sys.executable, ("json", "json.no_such_module"))
    assert not has_modules(sys.executable, ("no_such_package.module",))
    with pytest.raises(SetUpFailed, match=r"installed without .* of CPython's own tests"):
        find_suite(sys.executable, "json.no_such_module")
