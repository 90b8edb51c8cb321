from pathlib import Path

from pisces.environment import Interpreter, kernel_environment
from pisces.settings import EnvSettings, PythonSettings, Settings

VENV = Interpreter(path="/v/bin/python", source=".venv", prefix="/v", base_prefix="/usr")
SYSTEM = Interpreter(path="/usr/bin/python3", source="PATH", prefix="/usr", base_prefix="/usr")


def test_a_venv_is_active_for_its_kernels() -> None:
    env = kernel_environment(VENV, {"PATH": "/usr/bin:/v/bin:/bin"}, Settings())
    assert env["PATH"] == "/v/bin:/usr/bin:/bin"
    assert env["VIRTUAL_ENV"] == "/v"


def test_a_venv_that_was_active_and_is_not_used_is_no_longer_active() -> None:
    env = kernel_environment(SYSTEM, {"PATH": "/old/bin:/usr/bin", "VIRTUAL_ENV": "/old/"}, Settings())
    assert env["PATH"] == "/usr/bin"
    assert "VIRTUAL_ENV" not in env


def test_a_conda_environment_comes_first_on_path(tmp_path: Path) -> None:
    (tmp_path / "conda-meta").mkdir()
    conda = Interpreter(
        path=f"{tmp_path}/bin/python", source="CONDA_PREFIX", prefix=str(tmp_path), base_prefix=str(tmp_path)
    )
    env = kernel_environment(conda, {"PATH": "/usr/bin", "CONDA_PREFIX": str(tmp_path)}, Settings())
    assert env["PATH"] == f"{tmp_path}/bin:/usr/bin"
    assert "VIRTUAL_ENV" not in env


def test_without_a_path_there_is_still_one() -> None:
    assert kernel_environment(VENV, {}, Settings())["PATH"] == "/v/bin:/bin:/usr/bin"


def test_allowed_names_pass_and_other_tokens_do_not() -> None:
    settings = Settings(python=PythonSettings(env=EnvSettings(allow=("HF_TOKEN",))))
    env = kernel_environment(VENV, {"HF_TOKEN": "h", "OTHER_TOKEN": "o"}, settings)
    assert env["HF_TOKEN"] == "h"
    assert "OTHER_TOKEN" not in env


def test_a_relative_pythonpath_is_relative_to_the_folder_of_the_session() -> None:
    env = kernel_environment(SYSTEM, {"PATH": "/bin", "PYTHONPATH": "src:/abs:../lib"}, Settings(), cwd="/srv/project")
    assert env["PYTHONPATH"] == "/srv/project/src:/abs:/srv/project/../lib"
