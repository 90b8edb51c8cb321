"""Extension modules on disk: which there are, in which order, and which takes the place of which."""

import os
from pathlib import Path

import pytest

from pisces.environment.modules import ModuleFolders, read_module
from pisces.settings.paths import Paths


@pytest.fixture
def folders(tmp_path: Path) -> ModuleFolders:
    found = ModuleFolders.of(Paths(tmp_path / "home"), tmp_path / "project")
    for folder in (found.user, found.project):
        folder.mkdir(parents=True)
    return found


def write(folder: Path, *names: str, content: str = "") -> None:
    for name in names:
        (folder / name).write_text(content, encoding="utf-8")


def names(folders: ModuleFolders) -> list[tuple[str, str]]:
    return [(file.name, file.origin) for file in folders.in_force()]


def test_modules_are_in_the_agents_folder_and_in_the_project(tmp_path: Path) -> None:
    found = ModuleFolders.of(Paths(tmp_path / "home"), tmp_path / "project")
    assert found.user == tmp_path / "home" / "agent" / "modules"
    assert found.project == tmp_path / "project" / ".pisces" / "modules"
    assert found.files() == []


def test_both_folders_are_put_in_order_of_file_name(folders: ModuleFolders) -> None:
    write(folders.user, "20_b.py", "b.py", "z.py")
    write(folders.project, "10_a.py", "c.py", "B.py")
    assert [name for name, _ in names(folders)] == ["10_a.py", "20_b.py", "B.py", "b.py", "c.py", "z.py"]


def test_a_projects_module_takes_the_place_of_the_users_of_the_same_name(folders: ModuleFolders) -> None:
    write(folders.user, "a.py", "both.py")
    write(folders.project, "both.py")
    assert names(folders) == [("a.py", "user"), ("both.py", "project")]
    assert [(file.origin, file.overridden) for file in folders.files() if file.name == "both.py"] == [
        ("user", True),
        ("project", False),
    ]


def test_hidden_and_private_files_folders_and_other_files_are_left_out(folders: ModuleFolders) -> None:
    write(folders.user, ".hidden.py", "_private.py", "__init__.py", "notes.txt", "a.pyc", "kept.py")
    (folders.user / "folder.py").mkdir()
    assert names(folders) == [("kept.py", "user")]


def test_a_module_is_read_as_utf_8_with_or_without_a_mark(folders: ModuleFolders) -> None:
    (folders.user / "a.py").write_bytes(b"\xef\xbb\xbfx = '\xc3\xa9'\r\n")
    (file,) = folders.in_force()
    assert read_module(file).text == "x = 'é'\r\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"x = '\xff'", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 5: invalid start byte"),
        (b"#" * ((1 << 20) + 1), "ValueError: it is larger than 1048576 bytes"),
    ],
    ids=["no UTF-8", "too large"],
)
def test_a_file_that_is_no_text_or_too_large_is_a_module_that_fails(
    folders: ModuleFolders, content: bytes, problem: str
) -> None:
    (folders.user / "a.py").write_bytes(content)
    (file,) = folders.in_force()
    assert read_module(file).problem == problem
    assert read_module(file).text == ""


def test_a_file_of_the_largest_size_is_read(folders: ModuleFolders) -> None:
    write(folders.user, "a.py", content="#" * (1 << 20))
    (file,) = folders.in_force()
    assert read_module(file).problem == ""


def test_what_is_no_regular_file_is_never_opened(folders: ModuleFolders) -> None:
    os.mkfifo(folders.user / "pipe.py")
    (folders.user / "nowhere.py").symlink_to("missing")
    (folders.user / "round.py").symlink_to("round.py")
    assert [(file.name, read_module(file).problem) for file in folders.in_force()] == [
        ("nowhere.py", "FileNotFoundError: No such file or directory"),
        ("pipe.py", "OSError: it is not a regular file"),
        ("round.py", "OSError: Too many levels of symbolic links"),
    ]


def test_a_file_that_goes_away_meanwhile_is_a_module_that_fails(folders: ModuleFolders) -> None:
    write(folders.user, "a.py")
    (file,) = folders.in_force()
    (folders.user / "a.py").unlink()
    assert read_module(file).problem == "FileNotFoundError: No such file or directory"


def test_a_name_that_no_text_can_have_is_told_in_ascii(folders: ModuleFolders) -> None:
    Path(os.fsdecode(bytes(folders.user) + b"/\xff.py")).write_text("", encoding="utf-8")
    (file,) = folders.in_force()
    assert file.path.endswith("\\udcff.py")
    assert read_module(file).problem == "ValueError: the name of the file is not UTF-8"


def test_a_folder_that_cannot_be_looked_into_is_told(tmp_path: Path) -> None:
    found = ModuleFolders.of(Paths(tmp_path), tmp_path / "project")
    found.user.parent.mkdir(parents=True)
    found.user.symlink_to("modules")  # A folder without permissions is no obstacle for root; one in a circle is.
    (file,) = found.in_force()
    assert (file.path, file.problem) == (str(found.user), "OSError: Too many levels of symbolic links")


def test_a_changed_file_has_another_stamp(folders: ModuleFolders) -> None:
    write(folders.user, "a.py", content="x = 1")
    before = folders.in_force()
    assert folders.in_force() == before
    write(folders.user, "a.py", content="x = 12")
    assert folders.in_force() != before
