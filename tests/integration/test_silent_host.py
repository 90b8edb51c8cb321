"""A background host that is there and does not answer: no command waits for ever, and each says what is known."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from pisces.cli.cells_to_run import CellsToRun
from pisces.cli.run_session import run_in_session
from pisces.cli.session_call import manage
from pisces.errors import PiscesError
from pisces.host import client as client_module
from pisces.host.client import HostClient, HostSilent, connect
from pisces.host.protocol import Call, Place
from tests.fakes.drive import PATIENCE
from tests.fakes.hosts import end_host, files, record
from tests.fakes.notebooks import code as code_cell
from tests.fakes.notebooks import written
from tests.frontends.command import Command

DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
time.sleep(300)
"""


@pytest.fixture
def pisces(plain_python: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    command = Command(plain_python)
    command("run", "--session", "s", "-c", "x = 41")
    for name in ("_ON_TOP", "_STOP_SECONDS"):
        monkeypatch.setattr(client_module, name, 0.5)
    monkeypatch.setattr(client_module, "_HELLO_SECONDS", 1)
    yield command
    os.kill(record().pid, signal.SIGCONT)
    end_host(command)


@contextmanager
def stopped_host() -> Iterator[None]:
    pid = record().pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def connected() -> HostClient:
    client = connect(files())
    assert client is not None
    return client


def call(code: str, *, timeout: float) -> Call:
    params = {"session": "s", "cells": [{"code": code}], "timeout": timeout}
    return Call(tool="python", params=params, place=Place.here(os.getcwd(), {}))


@pytest.mark.usefixtures("pisces")
def test_a_run_whose_host_stops_says_what_is_not_known_and_how_to_go_on(capfd: pytest.CaptureFixture[str]) -> None:
    stop = f"import os, signal\nos.kill({record().pid}, signal.SIGSTOP)"
    params = {"session": "s", "cells": [{"code": stop}], "timeout": 1.0}
    began = time.monotonic()
    code = run_in_session(CellsToRun(cwd=None, settings={}, params=params, show="json"))
    assert time.monotonic() - began < PATIENCE
    result = msgspec.json.decode(capfd.readouterr().out)
    assert code == 1
    assert result["details"]["outcome"] == "disconnected"
    assert result["content"][0]["text"].startswith("[State: unknown] The background host does not answer within")
    assert "pisces host stop --force" in result["content"][0]["text"]


@pytest.mark.usefixtures("pisces")
def test_a_command_about_sessions_says_that_it_may_have_been_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_USUAL_TIMEOUT", 0.5)
    send = HostClient._send

    def stop_and_send(client: HostClient, request: Call) -> None:
        os.kill(record().pid, signal.SIGSTOP)
        send(client, request)

    monkeypatch.setattr(HostClient, "_send", stop_and_send)
    with pytest.raises(PiscesError, match="Whether `variables` was done is not known") as silent:
        manage("variables", {"session": "s"}, as_json=False)
    assert "pisces host stop --force" in silent.value.hint


@pytest.mark.heavy
@pytest.mark.usefixtures("pisces")
def test_a_call_that_takes_longer_in_a_host_that_lives_is_waited_for() -> None:
    deaf = call(DEAF, timeout=1)
    client = connected()
    result = msgspec.json.decode(client.call(deaf))
    client.close()
    assert result["details"]["outcome"] == "timeout"


@pytest.mark.usefixtures("pisces")
def test_a_notebook_whose_time_only_the_host_knows_is_waited_for_while_the_host_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_MOST_ON_TOP", 0.0)
    monkeypatch.setattr(client_module, "_USUAL_FOR_NOTEBOOKS", 0.0)
    path = written(tmp_path / "a.ipynb", code_cell("import time; time.sleep(2); 'done'"))
    params = {"session": "s", "action": "run_all", "notebook_path": str(path)}
    running = Call(tool="notebook", params=params, place=Place.here(os.getcwd(), {}))
    client = connected()
    result = msgspec.json.decode(client.call(running))
    client.close()
    assert result["details"]["outcome"] == "ok"


@pytest.mark.heavy
@pytest.mark.usefixtures("pisces")
def test_a_host_that_lives_and_never_answers_is_given_up_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_MOST_ON_TOP", 1.0)
    client = connected()
    with pytest.raises(HostSilent):
        client.call(call(DEAF, timeout=1))
    client.close()


@pytest.mark.usefixtures("pisces")
def test_a_host_that_does_not_end_when_it_is_asked_to_is_not_waited_for() -> None:
    client = connected()
    with stopped_host(), pytest.raises(HostSilent):
        client.stop(with_sessions=True)
    client.close()


@pytest.mark.usefixtures("pisces")
def test_a_host_that_says_no_hello_or_lets_nobody_in_is_not_waited_for() -> None:
    waiting: list[socket.socket] = []
    with stopped_host():
        with pytest.raises(HostSilent):
            connect(files())
        while True:  # Until as many wait to be let in as the system allows.
            waiting.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            waiting[-1].setblocking(False)
            try:
                waiting[-1].connect(os.fspath(files().socket))
            except BlockingIOError:
                break
        with pytest.raises(HostSilent):
            connect(files())
        for connection in waiting:
            connection.close()
