"""However saving ends, what was written whole can be read."""

import os
import tempfile

from hypothesis import given
from hypothesis import strategies as st

from pisces.guest.by_value_records import RecordWriter, Saved, read_records

PICKLES = st.dictionaries(st.text(max_size=5), st.lists(st.binary(max_size=20), max_size=3), max_size=5)


def read_bytes(data: bytes) -> Saved:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return read_records(file.fileno())


def written(pickles: dict[str, list[bytes]]) -> bytes:
    with tempfile.TemporaryFile() as file:
        writer = RecordWriter(file.fileno())
        writer.plan(list(pickles))
        for name, pieces in pickles.items():
            writer.begin([name])
            for piece in pieces:
                writer.write(piece)
            writer.end([name, "lost"])
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        return file.read()


@given(PICKLES)
def test_what_is_written_is_read(pickles: dict[str, list[bytes]]) -> None:
    saved = read_bytes(written(pickles))
    assert saved.plan == list(pickles)
    assert saved.pickles == {(name,): b"".join(pieces) for name, pieces in pickles.items()}
    assert saved.losses == {(name,): [name, "lost"] for name in pickles}
    assert saved.given_up == {}


@given(PICKLES, st.data())
def test_a_cut_costs_what_comes_after_it(pickles: dict[str, list[bytes]], data: st.DataObject) -> None:
    whole = written(pickles)
    saved = read_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    names = list(pickles)
    assert list(saved.pickles) == [(name,) for name in names[: len(saved.pickles)]]
    assert all(content == b"".join(pickles[name]) for (name,), content in saved.pickles.items())
    assert len(saved.pickles) < max(1, len(names))
    assert list(saved.given_up) in ([], [(name,) for name in names[len(saved.pickles) :][:1]])


def test_a_pickle_that_is_given_up_is_not_there() -> None:
    with tempfile.TemporaryFile() as file:
        writer = RecordWriter(file.fileno())
        writer.begin(["a", "b"])
        writer.write(b"half")
        writer.give_up("too large \udc80")
        writer.begin(["c"])
        writer.end([])
        writer.torn(("a", "c"))
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        saved = read_records(file.fileno())
    assert saved.given_up == {("a", "b"): "too large \\udc80"}
    assert saved.pickles == {("c",): b""}
    assert saved.torn == [("a", "c")]
