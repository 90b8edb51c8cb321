"""Work in native code, for the cells of a session and for threads beside them that never stop.

The cells of `test_working_threads.py` import this file, so it runs in the user's interpreter. One round of each kind of
work takes milliseconds, and comes to a value that is the same in every process: what it came to in a process without
checkpoints, it has to come to in a restored kernel.

    python native_work.py available.json

writes down which kinds of work and of values the interpreter has libraries for.
"""

import faulthandler
import hashlib
import importlib
import io
import json
import logging
import lzma
import os
import re
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Round = Callable[[], object]

STACKS = "PI_TEST_STACKS"
"""The variable with the path of a file: SIGUSR1 has the stacks of all threads written there, also in a hang."""
TEXT = b"the quick brown fox jumps over the lazy dog " * 5_000
IMPORTED = ("colorsys", "fileinput", "graphlib", "quopri", "sched")
LOG_BYTES = 1_000_000

if STACKS in os.environ:
    faulthandler.register(signal.SIGUSR1, open(os.environ[STACKS], "a", encoding="utf-8"), all_threads=True)  # noqa: SIM115


def library(name: str) -> Any:
    """A library that this environment may have; the checker need not know it."""
    return importlib.import_module(name)


def products(size: int) -> Round:
    numpy = library("numpy")
    square = (numpy.arange(size * size, dtype=float) % 7).reshape(size, size)
    return lambda: int((square @ square).sum())


def statements_on_a_file() -> Round:
    descriptor, path = tempfile.mkstemp(".db", dir=".")
    os.close(descriptor)
    database = sqlite3.connect(path)
    os.unlink(path)
    database.executescript("pragma journal_mode = off; pragma synchronous = off; create table t (n)")

    def once() -> object:
        with database:
            database.execute("delete from t")
            database.executemany("insert into t values (?)", [(n,) for n in range(300)])
        return database.execute("select sum(n) from t").fetchone()[0]

    return once


def long_queries() -> Round:
    database = sqlite3.connect(":memory:")
    query = "with recursive t(n) as (select 1 union all select n + 1 from t where n < 200000) select sum(n) from t"
    return lambda: database.execute(query).fetchone()[0]


def log_to_a_file() -> Round:
    """All threads and cells of a process share the logger, as programs do."""
    log = logging.getLogger("soak")
    if not log.handlers:
        log.propagate = False
        log.setLevel(logging.INFO)
        log.addHandler(logging.FileHandler("soak.log", encoding="utf-8"))

    def once() -> object:
        for number in range(50):
            log.info("line %d", number)
        if Path("soak.log").stat().st_size > LOG_BYTES:
            os.truncate("soak.log", 0)
        return "logged"

    return once


def printed() -> Round:
    def once() -> object:
        for number in range(3):
            print("printed", number)
        time.sleep(0.01)  # Or the journal of the session would grow by megabytes a second.
        return "printed"

    return once


def imports() -> Round:
    """Modules are imported anew, while other threads may import the same ones."""

    def once() -> object:
        for name in IMPORTED:
            sys.modules.pop(name, None)
            for _ in range(100):
                try:
                    importlib.import_module(name)
                    break
                except (ImportError, KeyError):  # Another thread forgot it in the middle.
                    continue
        return "imported"

    return once


def groups() -> Round:
    pandas = library("pandas")
    frame = pandas.DataFrame({"key": [n % 7 for n in range(20_000)], "value": range(20_000)})
    return lambda: [int(value) for value in frame.groupby("key")["value"].sum()]


def fits() -> Round:
    numpy, cluster = library("numpy"), library("sklearn.cluster")
    rows = numpy.random.default_rng(0).random((3000, 6))
    return lambda: round(float(cluster.KMeans(4, n_init=1, max_iter=20, random_state=0).fit(rows).inertia_), 4)


def solutions() -> Round:
    numpy, sparse, linalg = library("numpy"), library("scipy.sparse"), library("scipy.sparse.linalg")
    size = 3000
    matrix = sparse.diags([-1.0, 4.0, -1.0], [-1, 0, 1], shape=(size, size), format="csc")
    right = numpy.ones(size)
    return lambda: round(float(linalg.spsolve(matrix, right).sum()), 6)


def aggregates() -> Round:
    arrow = library("pyarrow")
    table = arrow.table({"key": [n % 9 for n in range(50_000)], "value": range(50_000)})
    return lambda: sorted(table.group_by("key").aggregate([("value", "sum")])["value_sum"].to_pylist())


def queries() -> Round:
    database = library("duckdb").connect()
    database.execute("create table t as select range as n from range(200000)")
    return lambda: database.execute("select n % 5, sum(n)::bigint from t group by 1 order by 1").fetchall()


def frames() -> Round:
    polars = library("polars")
    frame = polars.DataFrame({"key": [n % 9 for n in range(50_000)], "value": range(50_000)})
    return lambda: frame.group_by("key").agg(polars.col("value").sum()).sort("key").rows()


def documents() -> Round:
    etree = library("lxml.etree")
    text = b"<all>" + b"".join(b"<one n='%d'/>" % n for n in range(3000)) + b"</all>"
    return lambda: int(etree.fromstring(text).xpath("sum(//one/@n)"))


def pictures() -> Round:
    image = library("PIL.Image").effect_mandelbrot((256, 256), (-2, -1.5, 1, 1.5), 50)

    def once() -> object:
        written = io.BytesIO()
        image.resize((128, 128)).save(written, "png")
        return hashlib.sha256(written.getvalue()).hexdigest()

    return once


def tensors() -> Round:
    torch = library("torch")
    square = (torch.arange(200 * 200, dtype=torch.float64) % 5).reshape(200, 200)
    return lambda: int((square @ square).sum().item())


def pure_python() -> Round:
    value = {"numbers": list(range(500)), "text": "word " * 100}
    return lambda: (json.loads(json.dumps(value)) == value, len(re.findall(r"\bw\w+", value["text"])))  # type: ignore[call-overload]


KINDS: dict[str, Callable[[], Round]] = {
    "numpy": lambda: products(300),
    "numpy (long)": lambda: products(1200),
    "sqlite3": statements_on_a_file,
    "sqlite3 (long)": long_queries,
    "zlib": lambda: lambda: len(zlib.decompress(zlib.compress(TEXT, 6))),
    "lzma": lambda: lambda: len(lzma.decompress(lzma.compress(TEXT, preset=0))),
    "hashlib": lambda: lambda: hashlib.sha256(TEXT * 10).hexdigest(),
    "logging": log_to_a_file,
    "print": printed,
    "import": imports,
    "json and re": pure_python,
    "pandas": groups,
    "scikit-learn": fits,
    "scipy": solutions,
    "pyarrow": aggregates,
    "duckdb": queries,
    "lxml": documents,
    "pillow": pictures,
    "torch": tensors,
    "polars": frames,
}


class Worker(threading.Thread):
    """Does rounds of one kind of work until it is stopped, and notes the first that went wrong."""

    def __init__(self, name: str, kind: str, expected: object) -> None:
        super().__init__(name=name, daemon=True)
        self.kind = kind
        self.expected = expected
        self.rounds = 0
        self.wanted = True
        self.error = ""

    def run(self) -> None:
        try:
            once = KINDS[self.kind]()
            while self.wanted:
                value = plain(once())
                if value != self.expected:
                    raise AssertionError(f"{self.kind} came to {value!r}, not {self.expected!r}")
                self.rounds += 1
        except BaseException:  # noqa: BLE001  # It is told with the next look, and fails the soak.
            self.error = traceback.format_exc()


_workers: dict[str, Worker] = {}


def start(name: str, kind: str, expected: object) -> None:
    """Begin a thread that works without end."""
    _workers[name] = Worker(name, kind, expected)
    _workers[name].start()


def stop(name: str) -> None:
    """End it after its round."""
    worker = _workers.pop(name)
    worker.wanted = False
    worker.join()
    if worker.error:
        raise AssertionError(worker.error)


def compute(kind: str, expected: object) -> None:
    """A round in this thread."""
    value = plain(KINDS[kind]()())
    if value != expected:
        raise AssertionError(f"{kind} came to {value!r}, not {expected!r}")


def work_for(seconds: float, kind: str, expected: object) -> None:
    """Rounds in this thread, for a while."""
    end = time.monotonic() + seconds
    while True:
        compute(kind, expected)
        if time.monotonic() > end:
            return


def look(namespace: dict[str, Any], values: dict[str, tuple[str, int]], names: str, folder: str) -> None:
    """Write down which of the values are not there or not right, and which are there and should not be."""
    there = {name: of for name, of in values.items() if name in namespace}
    report = {
        "absent": [name for name in values if name not in namespace],
        "wrong": [name for name, (kind, number) in there.items() if not right(namespace[name], kind, number)],
        "unexpected": [name for name in names if name in namespace and name not in values],
    }
    (Path(folder) / "report.json").write_text(json.dumps(report), encoding="utf-8")


def check(expected: dict[str, object], workers: list[str], folder: str) -> None:
    """See every kind of work come to its value in this thread, and every worker go on.

    What is tried is written down before, for the reader of a hang.
    """
    trying = Path(folder) / "trying.txt"
    for kind, value in expected.items():
        trying.write_text(f"{kind} in the main thread", encoding="utf-8")
        compute(kind, value)
    for name in workers:
        trying.write_text(f"the thread {name!r}, which should go on", encoding="utf-8")
        worker = _workers[name]
        before = worker.rounds
        while worker.rounds == before and worker.is_alive():
            time.sleep(0.002)
        if worker.error:
            raise AssertionError(worker.error)
    trying.write_text("nothing more", encoding="utf-8")


def counted(number: int) -> Iterator[int]:
    while True:
        yield number


def opened(number: int) -> Any:
    path = Path("numbers.txt")
    if not path.exists():
        path.write_text("0123456789" * 1000, encoding="utf-8")
    file = path.open(encoding="utf-8")
    file.seek(number)
    return file


def database_of(number: int) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("create table t (n)")
    database.execute("insert into t values (?)", (number,))
    database.commit()
    return database


def begun(number: int) -> Iterator[int]:
    numbers = counted(number)
    next(numbers)
    return numbers


# How a value is made of a number, and whether it still is the value of that number.
VALUES: dict[str, tuple[Callable[[int], Any], Callable[[Any, int], bool]]] = {
    "number": (lambda n: n, lambda value, n: value == n),
    "list": (lambda n: [n, [n]], lambda value, n: value == [n, [n]]),
    "closure": (lambda n: lambda: n, lambda value, n: value() == n),
    "generator": (begun, lambda value, n: next(value) == n),
    "file": (opened, lambda value, n: value.tell() == n and value.read(1) == str(n % 10) and value.seek(n) == n),
    "database": (database_of, lambda value, n: value.execute("select n from t").fetchone() == (n,)),
    "hash": (lambda n: hashlib.sha256(b"%d" % n), lambda v, n: v.digest() == hashlib.sha256(b"%d" % n).digest()),
    "array": (lambda n: library("numpy").full(20_000, n), lambda value, n: bool((value == n).all())),
    "frame": (lambda n: library("pandas").DataFrame({"n": [n] * 500}), lambda value, n: set(value["n"]) == {n}),
    "table": (lambda n: library("pyarrow").table({"n": [n] * 500}), lambda v, n: set(v["n"].to_pylist()) == {n}),
    "matrix": (
        lambda n: library("scipy.sparse").eye(50, format="csr") * n,
        lambda value, n: int(value.diagonal().sum()) == 50 * n,
    ),
    "tensor": (lambda n: library("torch").full((20,), n), lambda value, n: bool((value == n).all())),
    "element": (lambda n: library("lxml.etree").fromstring(f"<n>{n}</n>"), lambda value, n: value.text == str(n)),
    "duckdb": (
        lambda n: library("duckdb").connect().execute(f"create table t as select {n} as n"),
        lambda value, n: value.execute("select n from t").fetchone() == (n,),
    ),
}  # fmt: skip


def made(kind: str, number: int) -> Any:
    """The value of a number."""
    return VALUES[kind][0](number)


def right(value: Any, kind: str, number: int) -> bool:
    """Whether it still is; a value that does not work is not."""
    try:
        return VALUES[kind][1](value, number)
    except Exception:  # noqa: BLE001  # Whatever a broken object raises.
        return False


def plain(value: object) -> object:
    """As it is after JSON, in which the expected values come."""
    return json.loads(json.dumps(value))


def available() -> tuple[dict[str, object], list[str]]:
    """The kinds of work and of values that this environment has, the former with what they come to."""
    works, values = {}, []
    for kind, prepare in KINDS.items():
        try:
            works[kind] = plain(prepare()())
        except ImportError:
            continue
    for kind, (make, _) in VALUES.items():
        try:
            make(7)
        except ImportError:
            continue
        values.append(kind)
    return works, values


if __name__ == "__main__":
    found = json.dumps(available())
    Path(sys.argv[1]).write_text(found, encoding="utf-8")
