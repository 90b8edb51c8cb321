"""A configuration file is changed in one place, or not at all."""

import os
from pathlib import Path
from typing import Any

import pytest

from pisces.errors import FileChanged, FileError
from pisces.mcp.clients.catalog import Syntax
from pisces.mcp.clients.configuration import drop_entry, entry_in, set_entry

KEYS = ("mcpServers", "pisces")
ENTRY = {"command": "/opt/python", "args": ["-I"]}
TEXT = '// mine\n{\n  "mcpServers": {\n    "other": {"command": "x"}, // keep\n  },\n}\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text(TEXT, encoding="utf-8")
    return path


def put(path: Path, entry: dict[str, Any] = ENTRY, syntax: Syntax = "json") -> Path | None:
    return set_entry(path, syntax, KEYS, entry).apply(private=True)


def drop(path: Path) -> None:
    drop_entry(path, "json", KEYS).apply(private=True)


def test_nothing_is_written_until_the_change_is_applied(file: Path) -> None:
    change = set_entry(file, "json", KEYS, ENTRY)
    assert file.read_text(encoding="utf-8") == TEXT
    assert change.diff().startswith(f"--- {file}\n+++ {file}\n")
    assert '+      "command": "/opt/python",\n' in change.diff()
    assert "-" not in {line[:1] for line in change.diff().splitlines()[2:]}


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode("utf-8"),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.replace("\n", "\r\n").encode("utf-8"),
        lambda text: text.encode("utf-16"),
    ],
    ids=["plain", "mark", "crlf", "utf-16"],
)
def test_the_same_bytes_come_back_when_the_entry_is_taken_out(file: Path, encode: Any) -> None:
    file.write_bytes(encode(TEXT))
    put(file)
    assert entry_in(file, "json", KEYS) == ENTRY
    drop(file)
    assert file.read_bytes() == encode(TEXT)


def test_a_second_time_changes_nothing_even_if_the_user_added_to_the_entry(file: Path) -> None:
    put(file)
    assert set_entry(file, "json", KEYS, ENTRY).is_none
    put(file, {**ENTRY, "env": {"KEY": "secret"}})
    assert set_entry(file, "json", KEYS, ENTRY).is_none


def test_an_entry_that_differs_gets_our_values_and_keeps_what_the_user_added(file: Path) -> None:
    text = TEXT.replace("// keep", '\n    // ours\n    "pisces": {"env": {"KEY": "x"}, "command": "/old"}, // keep')
    file.write_text(text, encoding="utf-8")
    put(file)
    assert entry_in(file, "json", KEYS) == {"env": {"KEY": "x"}, **ENTRY}
    wanted = text.replace('"/old"}', '"/opt/python", "args": ["-I"]}')
    assert file.read_text(encoding="utf-8") == wanted


def test_an_entry_that_is_reached_in_another_way_is_replaced(file: Path) -> None:
    put(file, {"url": "http://127.0.0.1/mcp", "headers": {}})
    put(file)
    assert entry_in(file, "json", KEYS) == ENTRY


def test_a_link_stays_and_what_it_leads_to_keeps_its_mode(file: Path, tmp_path: Path) -> None:
    file.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(file)
    backup = put(link)
    assert link.is_symlink()
    assert entry_in(file, "json", KEYS) == ENTRY
    assert file.stat().st_mode & 0o777 == 0o640
    assert backup == tmp_path / "mcp.json.pisces-backup"


def test_the_file_as_it_was_is_kept_beside_it_for_those_who_could_read_it(file: Path) -> None:
    file.chmod(0o600)
    first = put(file)
    assert first is not None
    assert first.read_text(encoding="utf-8") == TEXT
    assert first.stat().st_mode & 0o777 == 0o600
    second = put(file, {"command": "/other"})
    assert second == file.with_name("mcp.json.pisces-backup-2")
    assert first.read_text(encoding="utf-8") == TEXT


def test_a_copy_that_is_there_already_is_not_made_again(file: Path) -> None:
    first = put(file)
    drop(file)
    assert put(file) == first


def test_a_new_file_is_made_with_its_folders_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "mcp.json"
    assert put(path) is None
    assert entry_in(path, "json", KEYS) == ENTRY
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["mcp.json"]


def test_a_file_that_changed_after_the_change_was_shown_is_left_alone(file: Path) -> None:
    change = set_entry(file, "json", KEYS, ENTRY)
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(FileChanged):
        change.apply(private=True)
    assert file.read_text(encoding="utf-8") == "{}"
    assert os.listdir(file.parent) == ["mcp.json"]


@pytest.mark.parametrize(
    ("syntax", "data", "why"),
    [
        ("json", b'{\n  "mcpServers": {\n}', "line 3, column 2: `,` or `}` was expected"),
        ("json", b'{"mcpServers": []}', "line 1, column 16: the value of 'mcpServers' has to be an object"),
        ("json", b'{"a": "\xff"}', "is no text in UTF-8: see byte 7"),
        ("json", b'{"a": ' + b"1" * 5000 + b"}", "line 1, column 7: this number is too long"),
        ("toml", b"[a\n", "line 1, column"),
        ("toml", b"mcpServers = {}\n", "line 1, column 1: mcpServers is given as one value"),
        ("toml", b"a = " + b"1" * 5000, "it cannot be read (Exceeds the limit"),
        ("toml", b"a = " + b"[" * 5000 + b"]" * 5000, "it cannot be read (maximum recursion depth"),
    ],
    ids=["broken", "list", "bytes", "number", "toml", "inline", "toml number", "toml depth"],
)
def test_what_cannot_be_edited_is_left_alone_and_the_place_is_told(
    tmp_path: Path, syntax: Syntax, data: bytes, why: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(FileError) as error:
        put(path, syntax=syntax)
    assert str(path) in str(error.value)
    assert why in str(error.value)
    assert "Nothing was written." in str(error.value)
    assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_may_not_be_written_is_told_and_left(file: Path) -> None:
    folder = file.parent / "taken"
    folder.write_text("", encoding="utf-8")
    with pytest.raises(FileError):
        put(folder / "mcp.json")


def test_taking_out_what_is_not_there_is_no_change(file: Path, tmp_path: Path) -> None:
    assert drop_entry(file, "json", KEYS).is_none
    assert drop_entry(tmp_path / "none.json", "json", KEYS).is_none
    assert entry_in(tmp_path / "none.json", "json", KEYS) is None


@pytest.mark.parametrize("data", [b"{", b'"\xff"', b'{"a": ' + b"1" * 5000 + b"}"], ids=["broken", "bytes", "number"])
def test_what_cannot_be_read_is_told_without_a_word_of_writing(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(FileError) as error:
        entry_in(path, "json", KEYS)
    assert "written" not in error.value.explain()
    assert "edited" not in error.value.explain()


def test_a_link_into_a_folder_that_is_not_there_is_told_before_anything_is_shown(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "dotfiles" / "mcp.json"
    link.symlink_to(target)
    with pytest.raises(FileError, match=r"is a link to .*, and that folder is not there"):
        set_entry(link, "json", KEYS, ENTRY)
    target.parent.mkdir()
    put(link)
    assert link.is_symlink()
    assert entry_in(target, "json", KEYS) == ENTRY
