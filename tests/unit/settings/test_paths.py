import stat
from pathlib import Path

import pytest

from pisces.settings import Paths, Switches, make_private, read_switches


def test_the_home_is_below_the_users() -> None:
    paths = Paths.locate({"HOME": "/home/ada"})
    assert paths.home == Path("/home/ada/.pisces")
    assert paths.settings_file == Path("/home/ada/.pisces/agent/settings.toml")
    assert paths.managed_venv == Path("/home/ada/.pisces/python-env")


@pytest.mark.parametrize(
    ("moved", "home"),
    [("/data/fish", "/data/fish"), ("~/fish", "/home/ada/fish"), ("~", "/home/ada"), ("", "/home/ada/.pisces")],
)
def test_a_variable_moves_the_home(moved: str, home: str) -> None:
    assert Paths.locate({"HOME": "/home/ada", "PISCES_HOME": moved}).home == Path(home)


def test_a_relative_home_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Paths.locate({"PISCES_HOME": "fish"}).home == tmp_path / "fish"


def test_every_place_is_below_the_home() -> None:
    paths = Paths(Path("/h"))
    places = [paths.agent, paths.artifacts, paths.cache, paths.managed_venv, paths.managed_venv_unfinished]
    assert all(place.is_relative_to("/h") for place in [*places, paths.log_file, paths.settings_file])


def test_folders_are_made_private_at_every_level(tmp_path: Path) -> None:
    made = make_private(tmp_path / "a" / "b" / "c")
    assert made.is_dir()
    for folder in (made, made.parent, made.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_is_there_keeps_its_permissions(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    there.chmod(0o755)
    make_private(there / "new")
    assert stat.S_IMODE(there.stat().st_mode) == 0o755


def test_a_file_in_the_way_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for wanted in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FileExistsError, match="file"):
            make_private(wanted)


@pytest.mark.parametrize("off", ["", "0", "false", "NO", " off "])
def test_a_switch_is_off_for_the_words_that_say_so(off: str) -> None:
    assert read_switches({"PI_DEBUG": off, "PI_PYTHON_IPC_TRACE": off}) == Switches()


def test_each_switch_has_its_variable() -> None:
    assert read_switches({"PI_PYTHON_SKIP_CHECK": "1"}) == Switches(skip_check=True)
    assert read_switches({"PI_PYTHON_IPC_TRACE": "yes"}) == Switches(ipc_trace=True)
    assert read_switches({"PI_DEBUG_STARTUP": "true"}) == Switches(debug_startup=True)
    assert read_switches({"PI_DEBUG": "2"}) == Switches(debug=True)
