import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pisces.errors import SettingsError
from pisces.settings import LoadedSettings, PythonSettings, Settings, load_settings

WriteUser = Callable[[str], Path]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".pisces").mkdir(parents=True)
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def write_user(tmp_path: Path) -> WriteUser:
    def write(text: str) -> Path:
        file = tmp_path / "home" / ".pisces" / "agent" / "settings.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


def write_project(project: Path, text: str) -> Path:
    file = project / ".pisces" / "settings.toml"
    file.write_text(text, encoding="utf-8")
    return file


def origin(loaded: LoadedSettings, name: str) -> tuple[str, str]:
    found = loaded.provenance[name]
    return found.layer, found.where


def test_without_any_layer_every_value_is_the_default(project: Path, environ: dict[str, str]) -> None:
    loaded = load_settings(project, environ)
    assert loaded.settings == Settings()
    assert {found.layer for found in loaded.provenance.values()} == {"default"}


def test_each_layer_lies_over_the_one_before(project: Path, environ: dict[str, str], write_user: WriteUser) -> None:
    user = write_user("[python]\nidleTimeout = 1\nmaxTimeout = 1\ninterruptGrace = 1\nmaxSessions = 1\n")
    theirs = write_project(project, "[python]\nmaxTimeout = 2\ninterruptGrace = 2\nmaxSessions = 2\n")
    environ |= {"PI_SET__python__interruptGrace": "3", "PI_SET__python__maxSessions": "3"}
    loaded = load_settings(project, environ, {"python.maxSessions": 4})
    python = loaded.settings.python
    assert (python.idle_timeout, python.max_timeout, python.interrupt_grace, python.max_sessions) == (1, 2, 3, 4)
    assert origin(loaded, "python.idleTimeout") == ("user", str(user))
    assert origin(loaded, "python.maxTimeout") == ("project", str(theirs))
    assert origin(loaded, "python.interruptGrace") == ("environment", "PI_SET__python__interruptGrace")
    assert origin(loaded, "python.maxSessions") == ("argument", "")
    assert origin(loaded, "python.backend") == ("default", "")


def test_the_listing_has_every_setting_with_value_and_origin(project: Path, environ: dict[str, str]) -> None:
    loaded = load_settings(project, environ | {"PI_SET__output__maxLines": "50"})
    rows = {info.name: (value, str(where)) for info, value, where in loaded.rows()}
    assert rows["output.maxLines"] == (50, "PI_SET__output__maxLines")
    assert rows["python.kernelMode"] == ("session", "default")
    assert list(rows) == list(loaded.provenance)


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("PI_SET__python__kernelMode", "per-call", "per-call"),
        ("PI_SET__python__variables", "false", False),
        ("PI_SET__python__maxSessions", "auto", "auto"),
        ("PI_SET__python__maxSessions", "7", 7),
        ("PI_SET__python__idleTimeout", "2.5", 2.5),
        ("PI_SET__python__env__allow", "DATABASE_URL, HF_TOKEN", ("DATABASE_URL", "HF_TOKEN")),
        ("PI_SET__python__env__allow", "", ()),
        ("PI_SET__python__interpreter", "7", "7"),
    ],
)
def test_a_variable_is_read_as_the_type_of_its_setting(
    project: Path, environ: dict[str, str], variable: str, text: str, value: object
) -> None:
    loaded = load_settings(project, environ | {variable: text})
    name = variable.removeprefix("PI_SET__").replace("__", ".")
    assert {info.name: found for info, found, _ in loaded.rows()}[name] == value


def test_arguments_may_be_nested_tables(project: Path, environ: dict[str, str]) -> None:
    loaded = load_settings(project, environ, {"python": {"env": {"allow": ["A"]}}, "output.keepDays": 1})
    assert loaded.settings.python.env.allow == ("A",)
    assert loaded.settings.output.keep_days == 1


def test_whole_settings_are_used_as_they_are_and_no_file_is_read(project: Path, environ: dict[str, str]) -> None:
    write_project(project, "this is no TOML")
    given = Settings(python=PythonSettings(kernel_mode="per-call"))
    loaded = load_settings(project, environ | {"PI_SET__python__variables": "false"}, given)
    assert loaded.settings == given
    assert origin(loaded, "python.variables") == ("argument", "")


def test_whole_settings_are_checked_too(project: Path, environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"`python\.interruptGrace` cannot be -1\.0"):
        load_settings(project, environ, Settings(python=PythonSettings(interrupt_grace=-1.0)))


@pytest.mark.parametrize(
    "line", ['interpreter = "./evil"', "[python.env]\nallow = ['AWS_SECRET_ACCESS_KEY']"], ids=["interpreter", "allow"]
)
def test_a_project_cannot_choose_what_is_run_or_which_secrets_pass(
    project: Path, environ: dict[str, str], line: str
) -> None:
    file = write_project(project, f"[python]\n{line}\n")
    with pytest.raises(SettingsError, match="a project's settings cannot set `python") as caught:
        load_settings(project, environ)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("output", "keepDays = 0"),
        ("output", "artifactLimitMb = 1"),
        ("output", "folderLimitMb = 1"),
        ("python", "namedIdleTimeout = 1"),
    ],
)
def test_a_project_cannot_have_what_is_kept_deleted(
    project: Path, environ: dict[str, str], table: str, line: str
) -> None:
    write_project(project, f"[{table}]\n{line}\n")
    with pytest.raises(SettingsError, match=rf"a project's settings cannot set `{table}\.") as caught:
        load_settings(project, environ)
    assert "your own settings file" in caught.value.hint


def test_the_user_can_choose_what_a_project_cannot(
    project: Path, environ: dict[str, str], write_user: WriteUser
) -> None:
    write_user('[python]\ninterpreter = "python3"\nenv.allow = ["HF_TOKEN"]\n')
    python = load_settings(project, environ).settings.python
    assert (python.interpreter, python.env.allow) == ("python3", ("HF_TOKEN",))


@pytest.mark.parametrize(
    ("table", "meant"),
    [
        ({"python.kernelmode": "session"}, "python.kernelMode"),
        ({"python.kernel_mode": "session"}, "python.kernelMode"),
        ({"python": {"idelTimeout": 3}}, "python.idleTimeout"),
        ({"pyton": {"kernelMode": "session"}}, "python"),
        ({"kernelMode": "session"}, "python.kernelMode"),
        ({"output.maxByte": 3}, "output.maxBytes"),
    ],
)
def test_a_mistyped_name_is_refused_with_the_one_that_was_meant(
    project: Path, environ: dict[str, str], table: dict[str, Any], meant: str
) -> None:
    with pytest.raises(SettingsError, match="unknown setting") as caught:
        load_settings(project, environ, table)
    assert caught.value.hint == f"Did you mean `{meant}`?"


def test_a_name_like_no_other_is_answered_with_all_that_are_known(project: Path, environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"unknown setting `zzz` \(given 1\)") as caught:
        load_settings(project, environ, {"zzz": 1})
    assert "output.keepDays" in caught.value.hint


def test_an_empty_table_with_an_unknown_name_is_refused(project: Path, environ: dict[str, str]) -> None:
    write_project(project, "[python.envv]\n")
    with pytest.raises(SettingsError, match=r"unknown setting `python\.envv`"):
        load_settings(project, environ)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("python.kernelMode", "per_call", "per-call or session"),
        ("python.variables", "yes", "true or false"),
        ("python.maxSessions", 0, "auto or a whole number from 1 to 1024"),
        ("python.maxSessions", True, "auto or a whole number"),
        ("python.idleTimeout", float("nan"), "a number from 0.1 to"),
        ("python.maxTimeout", float("inf"), "a number from 1 to 604800"),
        ("python.env.allow", ["A=B"], "a list of names of environment variables"),
        ("python.env.allow", "HF_TOKEN", "a list of names of environment variables"),
        ("python.preload", ["no-module"], "a list of names of modules"),
        ("output.maxBytes", 10, "a whole number from 1024 to"),
        ("output.maxBytes", "51200", "a whole number from 1024 to"),
        ("python.interpreter", 3, "a text"),
        ("python.kernelMode", {"a": 1}, "per-call or session"),
    ],
)
def test_a_bad_value_is_refused_with_what_is_allowed(
    project: Path, environ: dict[str, str], name: str, value: object, allowed: str
) -> None:
    with pytest.raises(SettingsError, match="given as an argument") as caught:
        load_settings(project, environ, {name: value})
    assert f"`{name}` cannot be" in str(caught.value)
    assert allowed in caught.value.hint


def test_a_bad_variable_is_named_with_its_value(project: Path, environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r'Environment variable PI_SET__python__backend: .* cannot be "fork"'):
        load_settings(project, environ | {"PI_SET__python__backend": "fork"})


def test_a_value_where_a_table_belongs_is_answered_with_its_keys(project: Path, environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="`python` is a table of settings") as caught:
        load_settings(project, environ, {"python": 3})
    assert "python.kernelMode" in caught.value.hint


def test_broken_toml_is_named_with_file_and_line(project: Path, environ: dict[str, str]) -> None:
    file = write_project(project, "[python]\nkernelMode = per-call\n")
    with pytest.raises(SettingsError, match="line 2") as caught:
        load_settings(project, environ)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_utf8_is_named_with_line_and_byte(project: Path, environ: dict[str, str]) -> None:
    (project / ".pisces" / "settings.toml").write_bytes(b"[python]\n# caf\xe9\n")
    with pytest.raises(SettingsError, match=r"line 2: not UTF-8 \(byte 0xe9\)"):
        load_settings(project, environ)


def test_a_byte_order_mark_is_no_error(project: Path, environ: dict[str, str]) -> None:
    (project / ".pisces" / "settings.toml").write_bytes(b"\xef\xbb\xbf[output]\nmaxLines = 20\n")
    assert load_settings(project, environ).settings.output.max_lines == 20


def test_a_pipe_in_place_of_the_file_does_not_hold_the_start_up(project: Path, environ: dict[str, str]) -> None:
    os.mkfifo(project / ".pisces" / "settings.toml")
    with pytest.raises(SettingsError, match="is not a regular file"):
        load_settings(project, environ)


def test_a_file_where_the_folder_belongs_counts_as_no_settings(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / ".pisces").write_text("", encoding="utf-8")
    assert load_settings(tmp_path, environ).settings == Settings()


def test_a_huge_file_is_refused_without_being_read(project: Path, environ: dict[str, str]) -> None:
    with (project / ".pisces" / "settings.toml").open("wb") as file:
        file.truncate(10 * 1024 * 1024 * 1024)
    with pytest.raises(SettingsError, match="10737418240 bytes"):
        load_settings(project, environ)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("0", "bash-only"),
        ("bash", "bash-only"),
        ("1", "ipy-only"),
        ("py", "ipy-only"),
        ("mix", "both"),
        ("both", "both"),
        (" BASH ", "bash-only"),
        ("", "ipy-only"),
    ],
)
def test_the_short_variable_sets_the_tool_mode(project: Path, environ: dict[str, str], text: str, mode: str) -> None:
    write_project(project, '[python]\ntoolMode = "ipy-only"\n')
    loaded = load_settings(project, environ | {"PI_PY": text})
    assert loaded.settings.python.tool_mode == mode
    assert origin(loaded, "python.toolMode")[0] == ("environment" if text else "project")


def test_the_short_variable_comes_before_the_long_one_and_after_an_argument(
    project: Path, environ: dict[str, str]
) -> None:
    environ |= {"PI_SET__python__toolMode": "ipy-only", "PI_PY": "bash"}
    assert load_settings(project, environ).settings.python.tool_mode == "bash-only"
    assert load_settings(project, environ, {"python.toolMode": "both"}).settings.python.tool_mode == "both"


def test_a_tool_mode_that_is_none_is_refused(project: Path, environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="Environment variable PI_PY") as refused:
        load_settings(project, environ | {"PI_PY": "ruby"})
    assert refused.value.hint == "Allowed: 0 or bash, 1 or py, mix or both."
