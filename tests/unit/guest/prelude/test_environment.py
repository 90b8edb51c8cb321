"""Environment variables, as `env` gives and tells them."""

import os
from typing import Any

import pytest

from pisces.environment.secret_names import looks_secret
from pisces.guest.prelude.names import env

SECRET = (
    "OPENAI_API_KEY",
    "WATSONX_APIKEY",
    "PI_TOOL_BRIDGE_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "CLIENT_SECRET",
    "AWS_SECRET_ACCESS_KEY",
    "PGPASSWORD",
    "db_password",
    "MYSQL_PWD",
    "SSH_PASSPHRASE",
    "GOOGLE_CREDENTIALS",
    "GITHUB_PAT",
    "SENTRY_DSN",
    "BASIC_AUTH",
    "PI_KERNEL_COOKIE",
    "DB_PASS",
    "AWS_CREDS",
    "SIGNING_KEYS",
)
PLAIN = ("PATH", "HOME", "KEYBOARD", "PWD", "MONKEY", "AUTHOR", "PATIENCE", "COOKIES_FOLDER", "COMPASS", "BYPASS")


@pytest.mark.parametrize("name", [*SECRET, *PLAIN])
def test_what_the_host_would_mask_is_masked_in_the_event(
    name: str, events: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "hunter2")
    assert env(name) == env(name, "hunter2") == "hunter2"
    shown = "***" if name in SECRET else "hunter2"
    assert [(told["key"], told["value"], told["action"]) for told in events] == [
        (name, shown, "get"),
        (name, shown, "set"),
    ]
    assert looks_secret(name) == (name in SECRET)


def test_all_variables_are_told_by_twenty_names(events: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        monkeypatch.setenv(f"A_{number:02}", "value")
    found = env()
    assert found == dict(os.environ)
    assert found is not os.environ
    assert events == [{"op": "env", "count": len(os.environ), "keys": sorted(os.environ)[:20]}]


def test_a_variable_that_is_not_there_is_none_and_told_so(
    events: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    assert env("NOT_THERE") is None
    assert events == [{"op": "env", "key": "NOT_THERE", "value": None, "action": "get"}]


def test_a_long_value_is_told_by_its_beginning(events: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONG", "x" * 600)
    assert env("LONG") == "x" * 600
    assert events[0]["value"] == "x" * 500


def test_a_value_that_no_variable_can_have_is_an_error(events: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="null byte"):
        env("A_NAME", "a\0b")
    assert "A_NAME" not in os.environ
    assert events[0]["error"].startswith("ValueError")
