"""Journals of anything: what is written is read, a cut loses the end only, and every notebook is valid."""

import json
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from hypothesis import given
from hypothesis import strategies as st

from pisces.journal.entries import (
    AnyEntry,
    Branched,
    BranchPoint,
    CellBegan,
    CellEnded,
    CheckpointNamed,
    Output,
    Reset,
    SessionBegan,
    SessionClosed,
    StateChanged,
    TextCut,
    WentBack,
)
from pisces.journal.export import export_notebook, notebook
from pisces.journal.line import encode_line
from pisces.journal.reader import read_journal
from pisces.model.events import (
    ClearOutput,
    Display,
    Error,
    InputRequested,
    ProcessExit,
    Restore,
    Result,
    Status,
    Stream,
)
from pisces.model.results import Outcome

TIMES = st.floats(0, 2e9)
NUMBERS = st.integers(0, 6)
TEXT = st.text(max_size=8)
NAMES = st.sampled_from(["x", "y", ""])
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
MIMES = st.sampled_from(["text/plain", "image/png", "application/json", "application/geo+json", "x", ""])
BUNDLES = st.dictionaries(MIMES, JSON, max_size=3)
COUNTS = st.none() | NUMBERS
EVENTS = st.one_of(
    st.builds(Stream, st.sampled_from(["stdout", "stderr"]), TEXT),
    st.builds(Display, BUNDLES, st.dictionaries(TEXT, JSON, max_size=1), st.none() | NAMES, st.booleans()),
    st.builds(Result, BUNDLES, COUNTS),
    st.builds(Error, TEXT, TEXT, st.lists(TEXT, max_size=2).map(tuple)),
    st.builds(ClearOutput, st.booleans()),
    st.builds(Status, TEXT, st.dictionaries(TEXT, JSON, max_size=1)),
    st.builds(InputRequested, TEXT),
)
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(["ok", "error", "timeout", "interrupted", "crashed", "aborted"])
EXITS = st.builds(ProcessExit, st.none() | st.integers(0, 255), st.none() | st.integers(1, 90), TEXT)
ENTRIES: st.SearchStrategy[AnyEntry] = st.one_of(
    st.builds(SessionBegan, TIMES, TEXT, branched_from=st.none() | st.builds(BranchPoint, TEXT, TEXT, NUMBERS)),
    st.builds(CellBegan, TIMES, NUMBERS, TEXT, TEXT, NUMBERS, NUMBERS),
    st.builds(Output, TIMES, NUMBERS, EVENTS),
    st.builds(TextCut, TIMES, NUMBERS, NUMBERS),
    st.builds(
        CellEnded, TIMES, NUMBERS, OUTCOMES, NUMBERS, st.booleans(), st.booleans(), COUNTS,
        process_exit=st.none() | EXITS, artifact_id=st.none() | TEXT, left_out=NUMBERS,
    ),
    st.builds(
        StateChanged, TIMES, st.sampled_from(["restored", "lost"]), TEXT, NUMBERS,
        st.none() | st.builds(Restore, st.sampled_from(["exact", "by_value"]), NUMBERS),
    ),
    st.builds(CheckpointNamed, TIMES, NAMES, NUMBERS),
    st.builds(WentBack, TIMES, st.sampled_from(["undo", "restore"]), NUMBERS, NAMES),
    st.builds(Reset, TIMES),
    st.builds(Branched, TIMES, TEXT, TEXT, NUMBERS),
    st.builds(SessionClosed, TIMES, TEXT),
)  # fmt: skip
JOURNALS = st.lists(ENTRIES, max_size=12)


@given(entries=JOURNALS, cut=st.floats(0, 1))
def test_a_journal_is_read_as_it_was_written_and_a_cut_loses_the_end_only(entries: list[AnyEntry], cut: float) -> None:
    data = b"".join(map(encode_line, entries))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "j.jsonl")
        path.write_bytes(data)
        assert list(read_journal(path).entries) == entries
        kept = data[: int(len(data) * cut)]
        path.write_bytes(kept)
        reading = read_journal(path)
        assert list(reading.entries) == entries[: kept.count(b"\n")]
        assert reading.torn == reading.unknown == 0


@given(entries=JOURNALS)
def test_every_journal_makes_a_valid_notebook(entries: list[AnyEntry]) -> None:
    nbformat.validate(notebook(entries), version=4, version_minor=5, relax_add_props=False)


@given(events=st.lists(EVENTS, max_size=8))
def test_a_notebook_is_written_as_it_was_made(events: list[Any]) -> None:
    entries: list[AnyEntry] = [SessionBegan(1.0, "s"), CellBegan(2.0, 1, "x"), *(Output(2.0, 1, e) for e in events)]
    with tempfile.TemporaryDirectory() as folder:
        journal, target = Path(folder, "j.jsonl"), Path(folder, "n.ipynb")
        journal.write_bytes(b"".join(map(encode_line, entries)))
        export_notebook(journal, target)
        read = json.loads(target.read_text(encoding="utf-8"))
        nbformat.validate(read)
        assert len(read["cells"][0]["outputs"]) == len(notebook(entries)["cells"][0]["outputs"])
