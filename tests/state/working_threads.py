"""Work that a thread does over and over while the kernel makes its checkpoints and is crashed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """One kind of work: `setup` defines `work_round`, which does a small piece of it in whatever thread calls it."""

    name: str
    setup: str
    modules: tuple[str, ...] = ()
    """What has to be importable for it."""


WORKS: tuple[Work, ...] = (
    Work(
        "BLAS",
        """
import numpy as work_numpy
work_square = work_numpy.full((300, 300), 0.5)
def work_round():
    assert (work_square @ work_square)[0, 0] == 75.0
""",
        modules=("numpy",),
    ),
    Work(
        "sqlite",
        """
import sqlite3 as work_sqlite3
work_base = work_sqlite3.connect(":memory:", check_same_thread=False)
_ = work_base.execute("create table t (n integer)")
_ = work_base.executemany("insert into t values (?)", [(number,) for number in range(20_000)])
work_base.commit()
def work_round():
    assert work_base.execute("select sum(n % 7) > 0 from t").fetchone() == (1,)
""",
    ),
    Work(
        "import",
        """
import importlib as work_importlib, pathlib as work_pathlib, sys as work_sys, tempfile as work_tempfile
import threading as work_threading
work_place = work_tempfile.mkdtemp()
work_names = [f"work_module_{number}" for number in range(8)]
for work_name in work_names:
    _ = work_pathlib.Path(work_place, work_name + ".py").write_text("import json\\nvalue = json.loads('[1, 2]')\\n")
work_sys.path.append(work_place)
def work_round():
    # Each thread has modules of its own: the other would take them away while they are imported.
    in_main = work_threading.current_thread() is work_threading.main_thread()
    for name in work_names[in_main::2]:
        work_sys.modules.pop(name, None)
        assert work_importlib.import_module(name).value == [1, 2]
""",
    ),
    Work(
        "logging",
        """
import logging as work_logging, logging.handlers, os as work_os, tempfile as work_tempfile
work_logger = work_logging.getLogger("work")
work_logger.propagate = False
work_logger.setLevel("INFO")
work_logger.handlers[:] = [
    work_logging.handlers.RotatingFileHandler(
        work_os.path.join(work_tempfile.mkdtemp(), "work.log"), maxBytes=1_000_000, encoding="utf-8"
    )
]
def work_round():
    for number in range(20):
        work_logger.info("round %d", number)
""",
    ),
    Work(
        "print",
        """
import time as work_time
def work_round():
    for number in range(20):
        print("round", number)
    work_time.sleep(0.002)
""",
    ),
    Work(
        "compression",
        """
import zlib as work_zlib
work_text = b"the same and a little more " * 20_000
def work_round():
    assert len(work_zlib.decompress(work_zlib.compress(work_text, 6))) == len(work_text)
""",
    ),
)

THREAD = "work"
"""The name of the thread."""

BEGIN = f"""
import threading as work_threading
work_began = work_threading.Event()
def work_for_ever():
    while True:
        work_round()
        work_began.set()
work_threading.Thread(target=work_for_ever, name="{THREAD}", daemon=True).start()
assert work_began.wait(15)
"""
"""Starts the thread, and ends when it has done its first round."""
