"""`pisces doctor`: it tries what it tells about, and says how to mend what does not work."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.command import Command

pytestmark = pytest.mark.usefixtures("elsewhere")


def findings(pisces: Command, variables: Mapping[str, str] | None = None) -> tuple[int, dict[str, dict[str, Any]]]:
    done = pisces("doctor", "--json", variables=variables)
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert report["ok"] is (done.returncode == 0)
    return done.returncode, {finding["name"]: finding for finding in report["findings"]}


def test_a_working_machine_is_found_to_work(pisces: Command, plain_python: str) -> None:
    code, found = findings(pisces)
    assert code == 0
    assert plain_python in found["interpreter"]["summary"]
    assert found["kernel"]["status"] == "ok"
    assert "1+1 in" in found["kernel"]["summary"]
    assert found["IPython"]["status"] == "off"
    assert found["IPython"]["fix"] == f"{plain_python} -m pip install ipython"
    assert found["gateway"]["status"] == "off"
    assert found["checkpoints"]["status"] == "ok"
    assert found["host"]["summary"].startswith("not running")


def test_checkpoints_that_are_turned_off_are_said_to_be(pisces: Command) -> None:
    code, found = findings(pisces, variables={"PI_SET__python__checkpoint": "off"})
    assert code == 0
    assert found["checkpoints"]["status"] == "off"
    assert "python.checkpoint" in found["checkpoints"]["summary"]


def test_ipython_is_told_with_its_version(pisces: Command, ipython_python: str) -> None:
    _, found = findings(pisces, variables={"PI_SET__python__interpreter": ipython_python})
    assert found["IPython"]["status"] == "ok"
    assert found["IPython"]["summary"].endswith("; its shell runs the cells")


def test_an_interpreter_that_does_not_work_is_a_problem_with_a_remedy(pisces: Command) -> None:
    code, found = findings(pisces, variables={"PI_SET__python__interpreter": "/no/such/python"})
    assert code == 1
    assert "/no/such/python" in found["interpreter"]["summary"]
    assert found["interpreter"]["fix"]
    assert "kernel" not in found


def test_places_that_were_passed_over_are_listed(pisces: Command, plain_python: str) -> None:
    path = str(Path(plain_python).parent)
    variables = {"PI_SET__python__interpreter": "", "VIRTUAL_ENV": "/no/such/venv", "PATH": path}
    _, found = findings(pisces, variables)
    assert found["interpreter"]["details"] == ["passed over: /no/such/venv (VIRTUAL_ENV) no such folder"]


def test_a_wrong_setting_is_a_problem_and_the_rest_is_examined(pisces: Command, plain_python: str) -> None:
    path = str(Path(plain_python).parent)
    code, found = findings(pisces, variables={"PI_SET__python__kernelMode": "sometimes", "PATH": path})
    assert code == 1
    assert "sometimes" in found["settings"]["summary"]
    assert "per-call" in found["settings"]["fix"]
    assert found["kernel"]["status"] == "ok"


def test_artifacts_that_others_can_read_are_a_problem_but_code_runs(pisces: Command, own_home: Path) -> None:
    artifacts = own_home / ".pisces" / "agent" / "artifacts"
    artifacts.mkdir(parents=True)
    artifacts.chmod(0o755)
    code, found = findings(pisces)
    assert code == 0
    assert found["folders"]["fix"] == f"chmod go-rwx {artifacts}"


def test_the_text_marks_problems_and_their_remedies(pisces: Command) -> None:
    done = pisces("doctor", variables={"PI_SET__python__interpreter": "/no/such/python"})
    assert done.returncode == 1
    assert any(line.startswith("PROBLEM  interpreter") for line in done.stdout.splitlines())
    assert "→ Correct `python.interpreter`" in done.stdout
