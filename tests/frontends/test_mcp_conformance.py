"""The protocol's own conformance suite, from npm, at our server over HTTP: the release, and the one that is to come.

The latter knows the current revision of the protocol too. The server is ours with the tools and resources that the
suite asks for by name (`tests.fakes.conformance_server`). A scenario passes when something was checked, and nothing was
found wanting. Those that do not pass are about what Pisces does not offer, or has no use for: each has its reason.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.fakes.mcp_clients import mcp_environment
from tests.node_environment import program, surroundings
from tests.source_tree import ROOT

pytestmark = pytest.mark.heavy


class Suite(NamedTuple):
    """How the suite is run."""

    program: str
    arguments: tuple[str, ...]
    passes: tuple[str, ...]


_TOOLS: Final = (
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
)
_RESOURCES: Final = (
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
)
_HANDSHAKE: Final = (
    "server-initialize",
    "ping",
    *_TOOLS,
    *_RESOURCES,
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
SUITES: Final = {
    "0.1, 2025-11-25": Suite("conformance", ("--suite", "all"), _HANDSHAKE),
    "0.2, 2025-11-25": Suite(
        "conformance-next", ("--requirements", "2025-11-25"), (*_HANDSHAKE, "server-session-lifecycle")
    ),
    "0.2, 2026-07-28": Suite(
        "conformance-next",
        ("--requirements", "2026-07-28"),
        (
            *_TOOLS,
            *_RESOURCES,
            "sep-2164-resource-not-found",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
            "http-header-validation",
            "http-custom-header-server-validation",
            "input-required-result-unsupported-methods",
            "input-required-result-ignore-extra-params",
        ),
    ),
}

LACKING: Final = {
    r"prompts-.*": "Pisces has no prompts",
    r"completion-complete": "there is nothing to complete: no prompts, and the ids of resources are listed",
    r"logging-set-level|tools-call-with-logging": "what a cell prints is in its result and in its progress",
    r"tools-call-sampling": "no tool asks the client's model",
    r"tools-call-elicitation|elicitation-.*": "no tool asks the user",
    r"input-required-result-.*": "no tool asks the client, its model or the user while it runs",
    r"tools-call-audio": "results have text and pictures",
    r"tools-call-embedded-resource|tools-call-mixed-content": "results name resources, and do not embed them",
    r"resources-(un)?subscribe": "a resource is read when it is wanted",
    r"server-sse-polling": "a stream that ends is a client that hung up, and stops the cell; none is resumed",
    r"tasks-.*": "an extension; `python` has jobs, which any client can use through the `session` tool",
    r"server-stateless": "no tool needs a capability of the client, so none is refused for lack of one",
    r"caching": "Pisces has no prompts",
}
"""Scenarios that do not pass, and why."""

IN_PART: Final = {
    "server-stateless": {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"},
    "caching": {"sep-2549-prompts-list-caching-hints"},
}
"""Scenarios of which all but these checks pass."""


@contextmanager
def serving(interpreter: str, errors: Path) -> Iterator[str]:
    """The address of the server that the suite is run at."""
    with errors.open("wb") as said:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.conformance_server"],
            cwd=ROOT,
            env=mcp_environment(interpreter),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
        )
        assert server.stdout is not None
        try:
            address = server.stdout.readline().decode().strip()
            assert address, errors.read_text(encoding="utf-8")
            yield address
        finally:
            server.terminate()
            server.communicate(timeout=30)


def run(suite: Suite, address: str, results: Path) -> dict[str, dict[str, str]]:
    """The checks of each scenario, and what became of each."""
    command = [*program(suite.program), "server", "--url", address, "--output-dir", str(results), *suite.arguments]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, env=surroundings(), timeout=240, check=False
    )
    found = {
        re.sub(r"^server-|-\d{4}-\d\d-\d\dT[-\dZ]+$", "", file.parent.name): _checks(file)
        for file in sorted(results.glob("*/checks.json"))
    }
    assert found, done.stderr.decode("utf-8", "replace") + done.stdout.decode("utf-8", "replace")
    return found


def _checks(file: Path) -> dict[str, str]:
    """What became of each check; of one that is made several times, the worst."""
    order = ("INFO", "SKIPPED", "SUCCESS", "WARNING", "FAILURE")
    checks: dict[str, str] = {}
    for check in json.loads(file.read_text(encoding="utf-8")):
        name, status = check["id"], check["status"]
        checks[name] = max(checks.get(name, "INFO"), status, key=order.index)
    return checks


def wanting(checks: Mapping[str, str]) -> set[str]:
    """The checks that found something wanting."""
    return {name for name, status in checks.items() if status in {"WARNING", "FAILURE"}}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", list(SUITES))
def test_the_conformance_suite_passes_but_for_what_is_not_offered(name: str, plain_python: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    with serving(plain_python, tmp_path / "errors") as address:
        seen = run(suite, address, tmp_path / "results")
    passed = {scenario for scenario, checks in seen.items() if "SUCCESS" in checks.values() and not wanting(checks)}
    assert sorted(passed) == sorted(suite.passes)
    assert [scenario for scenario in seen.keys() - passed if not _reason(scenario)] == []
    for scenario in IN_PART.keys() & seen.keys():
        assert wanting(seen[scenario]) == IN_PART[scenario]


def _reason(scenario: str) -> str:
    return next((reason for pattern, reason in LACKING.items() if re.fullmatch(pattern, scenario)), "")
