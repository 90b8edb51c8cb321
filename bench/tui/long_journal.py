"""A session with a long past: its journal as if many cells had been run."""

import time
from itertools import cycle, islice
from pathlib import Path

from pisces.journal.entries import CellBegan, CellEnded, Output
from pisces.journal.line import encode_line
from pisces.model.events import AnyEvent, Error, Result, Status, Stream

_STORIES: tuple[tuple[str, tuple[AnyEvent, ...]], ...] = (
    ("import json\nrows = [n * n for n in range(100)]", ()),
    ("for row in rows[:8]:\n    print('row', row)", (Stream("stdout", "".join(f"row {n * n}\n" for n in range(8))),)),
    ("sum(rows)", (Result({"text/plain": "328350"}, 3),)),
    ("read('data.csv')", (Status("read", {"path": "data.csv", "chars": 512}), Result({"text/plain": "'a,b'"}, 4))),
    ("rows['a']", (Error("TypeError", "list indices must be integers", ("Traceback", "TypeError: list indices")),)),
)


def add_cells(journal: Path, count: int) -> None:
    """Write so many cells behind what is there."""
    now = time.time()
    with journal.open("ab") as file:
        for number, (code, said) in enumerate(islice(cycle(_STORIES), count), 1000):
            file.write(encode_line(CellBegan(now, number, code, call=number)))
            for event in said:
                file.write(encode_line(Output(now, number, event)))
            failed = any(isinstance(event, Error) for event in said)
            ended = CellEnded(
                now, number, "error" if failed else "ok", 1, execution_count=number, duration_ms=12.5, exit_code=failed
            )
            file.write(encode_line(ended))
