"""What the documentation shows is what happens: its marked snippets are run, and print what it says they print."""

import ast
import doctest
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from pisces.kernels.gateway.record import gateway_folders
from pisces.settings.paths import Paths
from tests.docs.snippets import Snippet, snippets_of, steps_of
from tests.environments import interpreter_of
from tests.fakes.hosts import end_host
from tests.frontends.command import Command
from tests.source_tree import ROOT

pytestmark = pytest.mark.processes

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")), *sorted((ROOT / "examples").glob("*.md"))]
SNIPPETS = [snippet for page in PAGES for snippet in snippets_of(page)]
AGENTS = ("anthropic_agent.py", "openai_agent.py")
"""Examples that need an SDK, and so run in an environment that has it."""
PARTS = ("scripted_model.py",)
"""What examples are made with that are no programs by themselves."""
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.name not in {*AGENTS, *PARTS}]
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL")
SECONDS = 120
BETWEEN = "\x1e\n"
LINK = re.compile(r"\]\((?!\w+:)(?P<target>[^)#\s]+)(?:#[^)]*)?\)")


@pytest.fixture
def folder(tmp_path: Path, plain_python: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in, with a launcher, for a user whose Python has no IPython. A host that is started is ended."""
    launcher = tmp_path / "pisces"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m pisces "$@"\n', encoding="utf-8")
    launcher.chmod(0o755)
    monkeypatch.setenv("PI_SET__python__interpreter", plain_python)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    yield tmp_path
    end_host(Command(plain_python))


def test_the_pages_have_snippets() -> None:
    assert {snippet.language for snippet in SNIPPETS} == {"python", "console"}
    assert EXAMPLES


@pytest.fixture
def jupyter_folder(folder: Path, jupyter_python: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same for a user whose Python has Jupyter. Gateways that are started are ended."""
    monkeypatch.setenv("PI_SET__python__interpreter", jupyter_python)
    yield folder
    end_host(Command(jupyter_python))
    if list(gateway_folders(Paths.locate(os.environ))):
        assert Command(jupyter_python)("gateway", "stop", "--all").returncode == 0


@pytest.mark.parametrize("snippet", [snippet for snippet in SNIPPETS if not snippet.jupyter], ids=str)
def test_a_snippet_does_what_its_page_says(snippet: Snippet, folder: Path) -> None:
    check(snippet, folder)


@pytest.mark.heavy
@pytest.mark.parametrize("snippet", [snippet for snippet in SNIPPETS if snippet.jupyter], ids=str)
def test_a_snippet_about_jupyter_does_what_its_page_says(snippet: Snippet, jupyter_folder: Path) -> None:
    check(snippet, jupyter_folder)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_prints_what_it_says(example: Path, folder: Path) -> None:
    check_program(example.read_text(encoding="utf-8"), promise_of(example), folder)


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_runs_without_a_key_and_prints_what_it_says(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    example = ROOT / "examples" / name
    done = run([interpreter_of("agents"), "-W", "error", str(example)], folder)
    assert done.returncode == 0, done.stdout
    assert_matches(done.stdout, promise_of(example), name)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = [match["target"] for match in LINK.finditer(page.read_text(encoding="utf-8"))]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_a_wrong_promise_is_noticed(folder: Path) -> None:
    wrong = Snippet(folder / "page.md", 1, "console", "$ echo one\none\n$ echo two\nthree\n")
    with pytest.raises(AssertionError, match="two"):
        check_console(wrong, folder)
    with pytest.raises(AssertionError, match="one"):
        check_program("print('one')", "two", folder)


def promise_of(example: Path) -> str:
    """What an example says that it prints."""
    docstring = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
    _, said, expected = docstring.partition("\nPrints:\n\n")
    assert said, f"{example.name} does not say what it prints"
    return textwrap.dedent(expected)


def check(snippet: Snippet, folder: Path) -> None:
    if snippet.language == "console":
        check_console(snippet, folder)
    else:
        check_program(snippet.body, snippet.output, folder)


def check_program(source: str, expected: str, folder: Path) -> None:
    done = run([sys.executable, "-W", "error", "-c", source], folder)
    assert done.returncode == 0, done.stdout
    assert_matches(done.stdout, expected, "the program")


def check_console(snippet: Snippet, folder: Path) -> None:
    steps = list(steps_of(snippet.body))
    # The exit code of a command is there for the next one, as in a terminal.
    pause = f"code=$?; printf '{BETWEEN.encode('unicode_escape').decode('ascii')}'; (exit $code)"
    script = "\n".join(f"{step.command}\n{pause}" for step in steps)
    said = run(["bash", "-c", script], folder).stdout.split(BETWEEN)
    for step, output in zip(steps, said, strict=False):
        assert_matches(output, step.output, step.command)
    assert len(said) == len(steps) + 1, f"a command of {snippet} ended the shell:\n{said[-1]}"


def run(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


def assert_matches(got: str, expected: str, what: str) -> None:
    """Compare, with `...` in what is expected for anything; blank space at the end does not count."""
    got, expected = got.rstrip() + "\n", expected.rstrip() + "\n"
    matches = doctest.OutputChecker().check_output(expected, got, doctest.ELLIPSIS)
    assert matches, f"{what} printed:\n{got}\nand the page says:\n{expected}"
