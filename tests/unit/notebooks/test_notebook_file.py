"""A notebook on disk: changed as it is now, under a lock, and cells that are found again."""

import json
import threading
from pathlib import Path

import pytest

from pisces.errors import FileChanged, FileError, NotebookError
from pisces.files.whole_file import locked, read_whole
from pisces.notebooks.document import Document
from pisces.notebooks.notebook_file import CellRef, NotebookFile
from tests.fakes.notebooks import cells_in, code, markdown, sources_in, written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "a.ipynb", code("a"), code("b"))


def append(source: str, path: Path) -> None:
    NotebookFile(path, "a.ipynb").change(lambda document: document.with_new(len(document.cells), "code", source))


def same(document: Document) -> Document:
    return document


def test_a_change_is_made_to_what_is_there_now(path: Path) -> None:
    file = NotebookFile(path, "a.ipynb")
    file.read()
    append("theirs", path)
    file.change(lambda document: document.without(0))
    assert sources_in(path) == ["b", "theirs"]


def test_a_change_of_nothing_writes_nothing(path: Path) -> None:
    before = path.stat().st_mtime_ns, path.stat().st_ino
    NotebookFile(path, "a.ipynb").change(same)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before


def test_an_error_of_the_change_writes_nothing(path: Path) -> None:
    before = path.read_bytes(), path.stat().st_ino

    def refuse(document: Document) -> Document:
        document.without(0)
        raise NotebookError("no")

    with pytest.raises(NotebookError, match="no"):
        NotebookFile(path, "a.ipynb").change(refuse)
    assert (path.read_bytes(), path.stat().st_ino) == before
    with locked(path, wait=0):
        pass


def test_a_version_that_is_not_there_any_more_is_refused(path: Path) -> None:
    _, version = read_whole(path)
    append("theirs", path)
    before = path.read_bytes()
    with pytest.raises(FileChanged, match=r"a\.ipynb has changed on disk since it was read; nothing was done\."):
        NotebookFile(path, "a.ipynb").change(lambda document: document.without(0), unless_changed_since=version)
    assert path.read_bytes() == before


def test_a_program_that_knows_no_lock_is_not_overwritten(path: Path) -> None:
    """It writes after the file was read and before it is replaced, which is done once more then."""
    seen: list[int] = []

    def meanwhile(document: Document) -> Document:
        seen.append(len(document.cells))
        if len(seen) == 1:
            value = json.loads(path.read_text(encoding="utf-8"))
            value["cells"].append(markdown("theirs", "theirs"))
            path.write_text(json.dumps(value), encoding="utf-8")
        return document.without(0)

    file = NotebookFile(path, "a.ipynb")
    file.change(meanwhile)
    assert (seen, sources_in(path)) == ([2, 3], ["b", "theirs"])


def test_a_file_that_changes_all_the_time_is_given_up(path: Path) -> None:
    tries: list[int] = []

    def meanwhile(document: Document) -> Document:
        tries.append(len(tries))
        written(path, *(code(f"theirs {number}") for number in tries))
        return document.without(0)

    with pytest.raises(FileChanged):
        NotebookFile(path, "a.ipynb").change(meanwhile)
    assert (len(tries), len(cells_in(path))) == (10, 10)


def test_who_made_a_version_knows_what_came_of_it(path: Path) -> None:
    file = NotebookFile(path, "a.ipynb")
    file.read()
    first = file.version
    file.change(lambda document: document.without(0))
    second = file.version
    file.change(lambda document: document.with_new(0, "code", "mine"))
    assert [file.comes_from(version) for version in (first, second, file.version, None)] == [True, True, True, False]
    append("theirs", path)
    file.change(lambda document: document.without(0))
    assert [file.comes_from(version) for version in (first, second, file.version)] == [False, False, True]


def test_a_file_that_is_broken_for_a_moment_can_be_changed_after_that(path: Path) -> None:
    file = NotebookFile(path, "a.ipynb")
    file.read()
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(NotebookError, match="Invalid JSON"):
        file.change(lambda document: document.without(0))
    path.write_bytes(whole)
    file.change(lambda document: document.without(0))
    assert sources_in(path) == ["b"]


def test_threads_that_insert_at_once_lose_nothing(path: Path) -> None:
    def insert(name: str) -> None:
        for number in range(10):
            append(f"{name}{number}", path)

    threads = [threading.Thread(target=insert, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = [f"{name}{number}" for name in "xyz" for number in range(10)]
    assert sorted(sources_in(path)) == sorted(["a", "b", *made])


def test_a_notebook_that_is_not_there_is_called_as_it_was_given(tmp_path: Path) -> None:
    file = NotebookFile(tmp_path / "no.ipynb", "as/given.ipynb")
    with pytest.raises(NotebookError, match=r"Notebook not found: as/given\.ipynb"):
        file.read()
    with pytest.raises(NotebookError, match=r"Notebook not found: as/given\.ipynb"):
        file.change(same)


def test_a_folder_is_no_notebook(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a folder"):
        NotebookFile(tmp_path, "x").read()


def document_of(path: Path) -> Document:
    return NotebookFile(path, "a.ipynb").read()


def test_a_cell_is_found_where_it_was_and_where_it_went(path: Path) -> None:
    document = document_of(path)
    ref = CellRef.of(document, 1)
    assert ref.find(document) == 1
    assert ref.find(document.with_moved(1, 0)) == 0
    assert ref.find(document.with_new(0, "markdown", "above")) == 2
    assert ref.find(document.without(0)) == 0


def test_a_cell_that_is_gone_or_has_another_source_is_not_found(path: Path) -> None:
    document = document_of(path)
    ref = CellRef.of(document, 1)
    assert ref.find(document.without(1)) is None
    assert ref.find(document.with_cell(1, document.cells[1].with_source("other"))) is None


def test_of_two_that_are_alike_the_one_in_its_place_is_meant_and_else_none(tmp_path: Path) -> None:
    path = written(tmp_path / "old.ipynb", code("a"), code("same"), code("same"), minor=4)
    document = document_of(path)
    ref = CellRef.of(document, 2)
    assert ref.find(document) == 2
    assert ref.find(document.without(0)) is None
    assert CellRef.of(document, 0).find(document.with_new(0, "code", "above")) == 1
