"""A web page in a real browser, beside a server on the same machine: nothing of what it tries reaches a cell."""

import sys
from pathlib import Path

import pytest

from pisces.mcp.http.guard import Guard, Head, Refusal
from tests.fakes.hostile_site import PAGE_ADDRESS, REBOUND, hostile_site, visit
from tests.fakes.mcp_http import Site, modern_cell, serving
from tests.fakes.runtimes import pool_of, runtime_on

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason=f"only Linux has the address {PAGE_ADDRESS} without being told"),
]

SIMPLE = {"simple post", "simple get", "image", "form"}
"""What a page may send anywhere, without reading the answer."""
ASKED_FOR = {"post with headers", "post without the token", "delete"}
"""What a browser asks the server about beforehand."""


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None]]:
    """What came to the server, and how it was answered: so that what was refused is known to have come."""
    seen: list[tuple[str, int | None]] = []
    judge = Guard.refusal

    def refusal(guard: Guard, head: Head) -> Refusal | None:
        found = judge(guard, head)
        seen.append((head.method, None if found is None else found.status))
        return found

    monkeypatch.setattr(Guard, "refusal", refusal)
    return seen


def headers(site: Site) -> dict[str, str]:
    """All that a call needs: this page has even come to know the token."""
    return site.modern_headers("tools/call", "python")


async def test_a_page_of_another_origin_runs_nothing(
    plain_python: str, tmp_path: Path, judged: list[tuple[str, int | None]]
) -> None:
    runtime = runtime_on(plain_python, tmp_path)
    async with (
        serving(runtime) as site,
        hostile_site(0, site.port, url=site.url, headers=headers(site), cell=modern_cell("1 + 1").decode()) as hostile,
    ):
        report = await visit(hostile, f"http://{PAGE_ADDRESS}:{hostile.port}/page")
        assert {name for name, outcome in report.items() if outcome == "opaque"} == SIMPLE
        assert {name for name, outcome in report.items() if outcome == "blocked"} == ASKED_FOR | {"post with cookies"}
        assert pool_of(runtime).sessions == []
    assert ("POST", 403) in judged
    assert ("OPTIONS", 403) in judged
    assert ("GET", 401) in judged  # A picture is asked for without saying by whom.
    assert None not in {status for _, status in judged}


async def test_a_page_whose_name_leads_here_now_runs_nothing(
    plain_python: str, tmp_path: Path, judged: list[tuple[str, int | None]]
) -> None:
    runtime = runtime_on(plain_python, tmp_path)
    async with (
        serving(runtime) as site,
        hostile_site(
            site.port, site.port, url="/mcp", headers=headers(site), cell=modern_cell("1 + 1").decode()
        ) as hostile,
    ):
        report = await visit(hostile, f"http://{REBOUND}:{site.port}/page")
        assert report["post with headers"] == report["post without the token"] == report["delete"] == "403"
        assert pool_of(runtime).sessions == []
    assert {status for _, status in judged} == {403}


async def test_only_a_name_that_the_server_was_given_makes_such_a_page_one_of_ours(
    plain_python: str, tmp_path: Path
) -> None:
    runtime = runtime_on(plain_python, tmp_path)
    async with (
        serving(runtime, names=(REBOUND,)) as site,
        hostile_site(
            site.port, site.port, url="/mcp", headers=headers(site), cell=modern_cell("1 + 1").decode()
        ) as hostile,
    ):
        report = await visit(hostile, f"http://{REBOUND}:{site.port}/page")
        assert report["post with headers"] == "200"
        assert report["post without the token"] == "401"
        assert len(pool_of(runtime).sessions) == 1
