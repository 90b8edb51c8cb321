"""Kernelspecs are found where Jupyter looks, read as they are, and filled in without harm to what is not ours."""

import json
import os
import sys
from pathlib import Path
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.errors import KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.zmq.command import recipe_for, start_error
from pisces.kernels.zmq.kernelspecs import KernelSpecInfo, expand, fill, find, installed, places, prefix_of

NAMES = st.from_regex(r"[A-Za-z0-9_]{1,8}", fullmatch=True)
VARIABLES = st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True), st.text(max_size=8))


def install(place: Path, name: str, **content: object) -> Path:
    """Write a kernelspec below a folder of Jupyter's."""
    folder = place / "kernels" / name
    folder.mkdir(parents=True)
    argv = ["run-it", "{connection_file}"]
    (folder / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": name, "language": "x", **content}), encoding="utf-8"
    )
    return folder


def spec(folder: str, *argv: str, **more: str) -> KernelSpecInfo:
    return KernelSpecInfo("x", "x", "X", folder, argv, more)


@given(st.lists(st.text(max_size=20)), st.dictionaries(NAMES, st.text(max_size=20)))
def test_only_placeholders_that_have_a_value_are_replaced(argv: list[str], values: dict[str, str]) -> None:
    filled = fill(tuple(argv), values)
    assert len(filled) == len(argv)
    for before, after in zip(argv, filled, strict=True):
        if not any(f"{{{name}}}" in before for name in values):
            assert after == before


@given(st.dictionaries(NAMES, st.text(max_size=20), min_size=1), st.text(alphabet="ab/ -", max_size=10))
def test_each_placeholder_is_replaced_once_and_its_value_is_taken_as_it_is(values: dict[str, str], text: str) -> None:
    template = text.join(f"{{{name}}}" for name in values)
    assert fill((template,), values) == (text.join(values.values()),)


@given(st.text(max_size=30), VARIABLES)
def test_variables_are_expanded_as_by_the_standard_library(text: str, env: dict[str, str]) -> None:
    if text.isascii():  # Elsewhere the library takes letters of other scripts for letters of ours.
        assert expand(text, env) == Template(text).safe_substitute(env)


@given(VARIABLES)
def test_a_known_variable_is_expanded_in_both_spellings(env: dict[str, str]) -> None:
    for name, value in env.items():
        assert expand(f"<${{{name}}}>", env) == f"<{value}>"
        assert expand(f"<${name}>", env) == f"<{value}>"


def test_kernels_are_found_in_every_place_and_the_first_place_wins(tmp_path: Path) -> None:
    named, home, prefix = tmp_path / "named", tmp_path / "home", tmp_path / "venv"
    environ = {"JUPYTER_PATH": f"{named}{os.pathsep}{tmp_path / 'none'}", "HOME": str(home)}
    user = places(None, environ)[2].parent
    install(named, "both", language="first")
    install(user, "both", language="second")
    install(user, "users")
    install(prefix / "share" / "jupyter", "near")
    found = {one.name: one for one in installed(str(prefix / "bin" / "python"), environ)}
    assert {"both", "users", "near"} <= set(found)
    assert found["both"].language == "first"
    assert found["near"].prefix == str(prefix)


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"HOME": "/h", "JUPYTER_DATA_DIR": "/data"}, "/data/kernels"),
        ({"HOME": "/h", "XDG_DATA_HOME": "/xdg"}, "/xdg/jupyter/kernels"),
        ({"HOME": "/h"}, "/h/.local/share/jupyter/kernels"),
    ],
)
@pytest.mark.skipif(sys.platform == "darwin", reason="the folder of the user is another one there")
def test_the_folder_of_the_user_is_where_jupyter_has_it(environ: dict[str, str], place: str) -> None:
    assert Path(place) in places(None, environ)


def test_what_cannot_be_read_is_left_out_and_named_when_it_is_asked_for(tmp_path: Path) -> None:
    environ = {"JUPYTER_PATH": str(tmp_path), "HOME": str(tmp_path)}
    install(tmp_path, "good")
    (install(tmp_path, "torn") / "kernel.json").write_text("{", encoding="utf-8")
    (install(tmp_path, "list") / "kernel.json").write_text("[]", encoding="utf-8")
    install(tmp_path, "bare", argv=[])
    install(tmp_path, "odd", argv=["x", 1])
    (tmp_path / "kernels" / "empty").mkdir()
    names = {one.name for one in installed(None, environ)}
    assert "good" in names
    assert not names & {"torn", "list", "bare", "odd", "empty"}
    for broken in ("torn", "list", "bare", "odd"):
        with pytest.raises(KernelStartError, match=f"{broken}/kernel.json cannot be used"):
            find(broken, None, environ)


def test_a_kernel_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    environ = {"JUPYTER_PATH": str(tmp_path), "HOME": str(tmp_path)}
    install(tmp_path, "Julia-1.9")
    with pytest.raises(KernelStartError, match="no Jupyter kernel named 'cobol'") as caught:
        find("cobol", None, environ)
    assert "julia-1.9" in caught.value.hint
    assert find("JULIA-1.9", None, environ).folder.endswith("Julia-1.9")


def test_a_bare_python_is_that_of_the_environment_the_kernel_was_installed_into(tmp_path: Path) -> None:
    interpreter = str(tmp_path / "bin" / "python")
    here = str(tmp_path / "share" / "jupyter" / "kernels" / "x")
    ours = os.path.join(sys.prefix, "share", "jupyter", "kernels", "x")
    assert spec(here, "python3.11", "-f", "{connection_file}").command("c", interpreter) == (interpreter, "-f", "c")
    assert spec(ours, "python").command("c", interpreter) == (sys.executable,)
    assert spec("/elsewhere/x", "python3").command("c", interpreter) == ("python3",)
    assert spec(here, "/opt/python").command("c", interpreter) == ("/opt/python",)


def test_a_command_knows_its_folder_and_its_prefix(tmp_path: Path) -> None:
    folder = str(tmp_path / "share" / "jupyter" / "kernels" / "x")
    command = spec(folder, "{prefix}/bin/x", "{resource_dir}/boot", "{unknown}").command("c", "/usr/bin/python3")
    assert command == (f"{tmp_path}/bin/x", f"{folder}/boot", "{unknown}")


def test_the_kernels_own_variables_stand_on_top_of_the_environment_and_ours_on_top_of_both(tmp_path: Path) -> None:
    install(tmp_path, "x", env={"A": "${B}/x", "B": "own", "MINE": "theirs"}, interrupt_mode="message")
    launch = LaunchSpec("/p/bin/python", "/", {"B": "given", "C": "c"}, {"MINE": "ours"}, kernelspec="x")
    recipe = recipe_for(launch, {"JUPYTER_PATH": str(tmp_path), "HOME": str(tmp_path)})
    assert recipe.environment() == {"A": "given/x", "B": "own", "C": "c", "MINE": "ours"}
    assert recipe.wants_message
    assert not recipe.listens_on_files
    assert recipe.name == "x"


def test_without_a_kernelspec_it_is_the_ipykernel_of_the_interpreter() -> None:
    recipe = recipe_for(LaunchSpec("/p/bin/python", "/", {"A": "1"}), {})
    assert recipe.command("c.json") == ("/p/bin/python", "-m", "ipykernel_launcher", "-f", "c.json")
    assert (recipe.listens_on_files, recipe.wants_message) == (True, False)
    assert recipe.environment() == {"A": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


@pytest.mark.parametrize(
    "words",
    [
        "/p/bin/python: No module named ipykernel_launcher",
        "Traceback…\nModuleNotFoundError: No module named 'ipykernel'",
    ],
)
def test_an_interpreter_without_ipykernel_is_told_what_to_do(words: str) -> None:
    error = start_error("/p/bin/python", "exited with code 1", words)
    assert str(error) == "ipykernel not installed. Run: /p/bin/python -m pip install ipykernel"


def test_the_environment_of_an_interpreter_is_where_its_link_lies(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    link = tmp_path / "bin" / "python"
    link.symlink_to(sys.executable)
    assert prefix_of(str(link)) == str(tmp_path)
