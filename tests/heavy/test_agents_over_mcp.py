"""Real agents from npm, with a model that follows a script: what their model gets to see of our results."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.scripted_models import PYTHON, ScriptedMessages, ScriptedResponses, serving
from tests.node_environment import program, surroundings

pytestmark = [pytest.mark.heavy, pytest.mark.processes]

PICTURE = """
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
class Picture:
    def __repr__(self):
        return "a picture"
    def _repr_png_(self):
        head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
        return b"\\x89PNG\\r\\n\\x1a\\n" + head + chunk(b"IDAT", zlib.compress(b"\\0\\xff\\0\\0")) + chunk(b"IEND", b"")
Picture()
"""
SCRIPT = [{"code": "x = 41\nprint('one')"}, {"code": "x + 1"}, {"code": "1 / 0"}, {"code": PICTURE}]


def our_entry(interpreter: str, *arguments: str) -> dict[str, Any]:
    """Our server, as a client's configuration has it."""
    environment = {"PI_SET__python__interpreter": interpreter}
    return {"command": sys.executable, "args": ["-I", "-m", "pisces", "mcp", *arguments], "env": environment}


def run(command: list[str], folder: Path, variables: Mapping[str, str]) -> str:
    environ = {"HOME": str(folder), "PATH": surroundings()["PATH"], **variables}
    done = subprocess.run(
        command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=100, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode("utf-8", "replace")
    return done.stdout.decode()


def run_claude_code(folder: Path, entry: Mapping[str, Any], model: ScriptedMessages) -> None:
    configuration = folder / "mcp.json"
    configuration.write_text(json.dumps({"mcpServers": {"pisces": entry}}), encoding="utf-8")
    command = [*program("claude"), "-p", "go", "--mcp-config", str(configuration), "--strict-mcp-config"]
    variables = {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    run([*command, "--allowedTools", "mcp__pisces__python"], folder, variables)


def test_claude_code_shows_its_model_texts_errors_and_pictures(plain_python: str, tmp_path: Path) -> None:
    with serving(ScriptedMessages(SCRIPT)) as model:
        run_claude_code(tmp_path, our_entry(plain_python), model)
        first, second, third, fourth = model.heard()
        assert PYTHON in [tool["name"] for tool in model.requests[0]["tools"]]  # It need not be searched for.
    assert first == [{"type": "text", "text": "one"}]
    assert second == [{"type": "text", "text": "42"}]
    assert "ZeroDivisionError: division by zero" in str(third)
    assert [block["type"] for block in fourth][:2] == ["text", "image"]  # It has words of its own about a picture.
    assert fourth[0]["text"] == "a picture"


def test_claude_code_would_hide_all_that_behind_data(plain_python: str, tmp_path: Path) -> None:
    """The reason why it gets none: should that change, it may have data too."""
    with serving(ScriptedMessages(SCRIPT[:1])) as model:
        run_claude_code(tmp_path, our_entry(plain_python, "--structured", "always"), model)
        (heard,) = model.heard()
    assert json.loads(heard)["text"] == "one"


def run_codex(folder: Path, entry: Mapping[str, Any], model: ScriptedResponses) -> None:
    lines = [
        'model = "scripted"',
        'model_provider = "scripted"',
        "[model_providers.scripted]",
        'name = "scripted"',
        f'base_url = "{model.url}/v1"',
        'env_key = "SCRIPTED_KEY"',
        'wire_api = "responses"',
        "[mcp_servers.pisces]",
        f"command = {json.dumps(entry['command'])}",
        f"args = {json.dumps(entry['args'])}",
        "required = true",  # Or its first turn does not wait for the server, which a busy machine is slow to start.
        "[mcp_servers.pisces.env]",
        *(f"{name} = {json.dumps(value)}" for name, value in entry["env"].items()),
    ]
    (folder / ".codex").mkdir()
    (folder / ".codex" / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    command = [*program("codex"), "exec", "--skip-git-repo-check"]
    run([*command, "--dangerously-bypass-approvals-and-sandbox", "go"], folder, {"SCRIPTED_KEY": "none"})


def test_codex_shows_its_model_texts_errors_and_pictures(plain_python: str, tmp_path: Path) -> None:
    with serving(ScriptedResponses(SCRIPT)) as model:
        run_codex(tmp_path, our_entry(plain_python), model)
        heard = model.heard()
    texts = [[block.get("text") for block in output if block["type"] == "input_text"][1:] for output in heard]
    assert (texts[0], texts[1]) == (["one"], ["42"])
    assert "ZeroDivisionError: division by zero" in str(heard[2])
    assert [block["type"] for block in heard[3]] == ["input_text", "input_text", "input_image"]


def test_codex_would_hide_all_that_behind_data(plain_python: str, tmp_path: Path) -> None:
    """The reason why it gets none: should that change, it may have data too."""
    with serving(ScriptedResponses([SCRIPT[-1]])) as model:
        run_codex(tmp_path, our_entry(plain_python, "--structured", "always"), model)
        (heard,) = model.heard()
    assert json.loads(heard.partition("Output:\n")[2])["text"] == "a picture"
    assert "input_image" not in str(heard)
