"""Signals that end the talk, whatever it waits for."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = str(Path(__file__).resolve().parents[4] / "src")
WAITING = """
import signal, time
from pisces.tui.plain.ending import EndSignals
with EndSignals() as ending:
    ending.watch()
    {sent}
    time.sleep(60)
"""


@pytest.mark.parametrize(
    "sent",
    [
        "signal.raise_signal(signal.SIGTERM)",
        # What the system leaves of a signal that came when nothing waited for it yet.
        "ending._sign.send(bytes([signal.SIGTERM]))",
    ],
    ids=["heard", "unheard"],
)
def test_a_signal_is_heard_although_nothing_waited_for_it_yet(sent: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WAITING.format(sent=sent)], env={"PYTHONPATH": SOURCE}, timeout=30, check=False
    )
    assert done.returncode == 128 + 15


def test_a_signal_that_is_to_be_ignored_stays_ignored() -> None:
    code = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + WAITING.replace("time.sleep(60)", "pass")
    sent = "signal.raise_signal(signal.SIGHUP); ending._sign.send(bytes([signal.SIGHUP])); time.sleep(0.5)"
    done = subprocess.run(
        [sys.executable, "-c", code.format(sent=sent)], env={"PYTHONPATH": SOURCE}, timeout=30, check=False
    )
    assert done.returncode == 0
