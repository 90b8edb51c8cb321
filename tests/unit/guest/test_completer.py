"""What could stand at a cursor, as the built-in shell tells: by looking, never by running."""

import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pisces.guest.completing import completion
from pisces.guest.flusher import InterruptGuard
from tests.unit.guest.recording import RecordedShell

ANIMALS = """
ran = []
class Animal:
    legs = 4
    def __init__(self):
        self.name = "Ada"
    @property
    def friend(self):
        ran.append("friend")
        return Animal()
    def __getattr__(self, name):
        ran.append(name)
        raise AttributeError(name)
    def graze(self, meadow, *, hours=1): ...
    def __call__(self, *, hours=1): ...
    @classmethod
    def born(cls, *, year=1): ...
class Slotted:
    __slots__ = ("inner",)
    def __init__(self):
        self.inner = Animal()
animal, slotted = Animal(), Slotted()
stripes = {"alpha": 1, "alpine": 2, "it's": 3, 4: 5}
"""

SLOW = """
import time
class Slow:
    def __dir__(self):
        for _ in range(3):
            try:
                time.sleep(60)
            except {swallows}:
                pass
        return ["x"]
slow = Slow()
"""


@pytest.fixture
def animals(shell: RecordedShell) -> RecordedShell:
    shell.ok(ANIMALS)
    return shell


def told(shell: RecordedShell, code: str) -> list[str]:
    """The code as it could go on."""
    matches, start, end = shell.shell.complete(code, len(code))
    assert end == len(code)
    return [code[:start] + match for match in matches]


@pytest.mark.parametrize(
    ("code", "first"),
    [
        ("animal.le", "animal.legs"),
        ("x = animal.na", "x = animal.name"),
        ("animal.name.upp", "animal.name.upper"),
        ("slotted.inner.le", "slotted.inner.legs"),
        ("animal.graze.__fu", "animal.graze.__func__"),
        ("Animal.born.__fu", "Animal.born.__func__"),
        ("stri", "stripes"),
        ("print(stri", "print(stripes"),
        ("stripes['al", "stripes['alpha"),
        ('stripes["', 'stripes["alpha'),
        ("animal.graze(", "animal.graze(meadow="),
        ("animal.graze(1,\n  ho", "animal.graze(1,\n  hours="),
        ("Animal.born(ye", "Animal.born(year="),
        ("f'{animal.le", "f'{animal.legs"),
        ("f'{{}} {stripes[\"alp", "f'{{}} {stripes[\"alpha"),
        ("import coll", "import collections"),
        ("import os, js", "import os, json"),
        ("import os.pa", "import os.path"),
        ("import xml.et", "import xml.etree"),
        ("from xml.etree import Elem", "from xml.etree import ElementInclude"),
        ("from os.path import joi", "from os.path import join"),
        ("from os.path import (join,\n  spli", "from os.path import (join,\n  split"),
        ("lamb", "lambda"),
        ("isinst", "isinstance"),
        ("%tim", "%time"),
        ("x = 1\n%%writ", "x = 1\n%%writefile"),
    ],
)
def test_what_fits_is_told(animals: RecordedShell, code: str, first: str) -> None:
    assert told(animals, code)[:1] == [first]


@pytest.mark.parametrize(
    "code",
    [
        "",
        "animal.friend.",
        "animal.friend.na",
        "animal.no_such.",
        "no_such.",
        "animal().le",
        "[animal][0].le",
        "(animal).le",
        "'animal.le",
        "# animal.le",
        "5.re",
        "stripes[4].",
        "def graze(sel",
        "stripes['no",
        "import no_such_module.",
        "import ..",
        "from . import ",
    ],
)
def test_where_nothing_can_be_known_nothing_is_told(animals: RecordedShell, code: str) -> None:
    assert told(animals, code) == []


def test_no_code_of_the_user_is_run_to_find_out(animals: RecordedShell) -> None:
    for code in ("animal.friend.", "animal.friend.name.", "animal.anything.", "slotted.inner.friend.", "animal."):
        told(animals, code)
    assert told(animals, "animal(ho") == ["animal(hours="]
    assert animals.namespace["ran"] == []


def test_private_names_are_told_where_one_is_begun(animals: RecordedShell) -> None:
    assert not [text for text in told(animals, "animal.") if "._" in text]
    assert "animal.__class__" in told(animals, "animal.__cl")


def test_the_users_own_names_come_first(shell: RecordedShell) -> None:
    shell.ok("prize = 1\npriority = 2")
    assert told(shell, "pri") == ["priority", "prize", "print"]


def test_files_are_told_in_quotes_and_in_commands(shell: RecordedShell, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.csv").touch()
    (tmp_path / ".hidden").touch()
    assert told(shell, "open('da") == ["open('data/"]
    assert told(shell, "open('data/o") == ["open('data/one.csv"]
    assert told(shell, "!cat data/") == ["!cat data/one.csv"]
    assert told(shell, "%cd da") == ["%cd data/"]
    assert told(shell, "open('.hi") == ["open('.hidden"]
    assert told(shell, "open('") == ["open('data/"]


def test_many_names_with_a_remark_between_them_take_no_time(shell: RecordedShell) -> None:
    names = "".join(f"    name_{number},\n" for number in range(60))
    began = time.process_time()
    told(shell, f"from os.path import (  # noqa\n{names}  spli")
    assert time.process_time() - began < 1


def test_a_module_that_comes_to_a_folder_is_found(shell: RecordedShell, tmp_path: Path) -> None:
    sys.path.insert(0, "")
    try:
        assert told(shell, "import zebra_mod") == []
        (tmp_path / "zebra_module.py").touch()
        assert told(shell, "import zebra_mod") == ["import zebra_module"]
        assert "zebra_module" not in sys.modules
    finally:
        sys.path.remove("")


def complete(shell: RecordedShell, code: str) -> dict[str, Any]:
    return completion(shell.shell, code, len(code), InterruptGuard())


@pytest.mark.parametrize("swallows", ["Exception", "BaseException"])
def test_names_that_do_not_come_in_time_are_not_told(shell: RecordedShell, swallows: str) -> None:
    shell.ok(SLOW.format(swallows=swallows))
    began = time.monotonic()
    complete(shell, "slow.")
    assert time.monotonic() - began < 5


def test_a_timer_of_the_users_goes_on(shell: RecordedShell) -> None:
    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 2.0)
        complete(shell, "prin")
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 2.0
        end = time.monotonic() + 20
        while not rang and time.monotonic() < end:
            time.sleep(0.01)
        assert rang == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_is_printed_meanwhile_is_dropped_and_other_threads_are_heard(
    shell: RecordedShell, capsys: pytest.CaptureFixture[str]
) -> None:
    def in_a_thread() -> list[str]:
        other = threading.Thread(target=print, args=("from a thread",))
        other.start()
        other.join()
        print("from the names")
        print("from the names", file=sys.stderr)
        return ["alpha"]

    shell.namespace["Loud"] = type("Loud", (), {"__dir__": lambda self: in_a_thread()})
    shell.ok("loud = Loud()")
    out, err = sys.stdout, sys.stderr
    assert complete(shell, "loud.")["matches"] == ["alpha"]
    assert (sys.stdout, sys.stderr) == (out, err)
    assert tuple(capsys.readouterr()) == ("from a thread\n", "")


def test_no_more_is_told_than_somebody_reads(shell: RecordedShell) -> None:
    shell.namespace.update({f"name_{n}": n for n in range(1000)})
    shell.namespace["name_" + "x" * 5000] = 1
    found = complete(shell, "name_")
    assert len(found["matches"]) == 200
    assert max(map(len, found["matches"])) < 300
