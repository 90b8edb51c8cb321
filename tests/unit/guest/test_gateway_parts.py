"""The parts of the local gateway that need nothing of Jupyter: quick imports, and a kernel's last words."""

import subprocess
import sys
import types
from pathlib import Path

import anyio
import pytest

from pisces.guest.gateway_imports import import_quickly
from pisces.guest.gateway_words import LastWords
from tests.leftovers import open_descriptors

TRACE = """\
some warning
Fatal Python error: Segmentation fault

Thread 0x01 (most recent call first):
  File "/lib/threading.py", line 1 in run

Current thread 0x02 (most recent call first):
  File "<cell>", line 3 in touch
  File "<cell>", line 4 in <module>
  File "/lib/IPython/core/interactiveshell.py", line 3823 in run_code

Extension modules: zmq
"""

WHERE = """\
Fatal Python error: Segmentation fault
Current thread 0x02 (most recent call first):
  File "<cell>", line 3 in touch
  File "<cell>", line 4 in <module>"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_what_is_slow_and_optional_is_missing_during_the_import_and_there_afterwards(folder: Path) -> None:
    write(folder, "rfc3987_syntax", "loaded = True")
    write(folder, "quick_one", "try:\n    import rfc3987_syntax\nexcept ImportError:\n    rfc3987_syntax = None")
    assert import_quickly("quick_one").rfc3987_syntax is None
    assert __import__("rfc3987_syntax").loaded


def test_what_else_is_wanted_of_the_server_s_application_the_real_one_has(folder: Path) -> None:
    write(folder, "jupyter_server.__init__", "")
    write(folder, "jupyter_server.serverapp", "def random_ports(port, count): ...\nclass ServerApp: real = True")
    write(folder, "quick_two", "from jupyter_server.serverapp import random_ports")
    write(folder, "quick_three", "from jupyter_server.serverapp import ServerApp")
    try:
        assert list(import_quickly("quick_two").random_ports(8000, 2)) == [8000, 8001]
        assert "jupyter_server.serverapp" not in sys.modules
        assert import_quickly("quick_three").ServerApp.real
    finally:
        for name in ("jupyter_server", "jupyter_server.serverapp"):
            sys.modules.pop(name, None)


def test_an_import_that_fails_leaves_nothing_in_place(folder: Path) -> None:
    write(folder, "quick_four", "1 / 0")
    with pytest.raises(ZeroDivisionError):
        import_quickly("quick_four")
    assert not [name for name, module in sys.modules.items() if module is None and "rfc" in name]
    assert not isinstance(sys.modules.get("jupyter_server.serverapp"), types.ModuleType)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("", ""),
        ("just a warning\n", ""),
        (TRACE, WHERE),
        ("x" * 200_000 + "\nFatal Python error: Aborted\n", "Fatal Python error: Aborted"),
    ],
)
async def test_of_a_kernel_s_last_words_what_tells_of_a_crash_is_kept(
    said: str, told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    await anyio.to_thread.run_sync(int)  # The thread that is used below has descriptors of its own.
    before = open_descriptors().keys()
    words = LastWords()
    kernel = _kernel(words.writing)
    words.begun()
    with kernel:  # In a thread: the kernel may wait for us to read.
        await anyio.to_thread.run_sync(kernel.communicate, said.encode("utf-8"))
    assert words.fatal() == told
    words.close()
    words.close()
    assert open_descriptors().keys() == before
    assert capfd.readouterr().err == said


def _kernel(stderr: int) -> "subprocess.Popen[bytes]":
    """A program that says on its standard error what it is told."""
    program = "import sys; sys.stderr.write(sys.stdin.read())"
    return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=stderr)
