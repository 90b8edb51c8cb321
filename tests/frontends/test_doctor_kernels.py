"""`pisces doctor` where code would run on a Jupyter kernel: it starts one of that kind, or says why it cannot."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pisces.cli.health import examine
from pisces.kernels.gateway.record import gateway_folders
from pisces.settings.paths import Paths
from tests.fakes.servers import Server, ask
from tests.frontends.command import Command

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def jupyter(jupyter_python: str) -> Iterator[Command]:
    """`pisces`, whose interpreter has Jupyter; its gateways end with the test."""
    pisces = Command(jupyter_python)
    yield pisces
    if list(gateway_folders(Paths.locate(os.environ))):
        assert pisces("gateway", "stop", "--all").returncode == 0


def findings(pisces: Command, **variables: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = pisces("doctor", "--json", variables=variables)
    return done.returncode, {found["name"]: found for found in json.loads(done.stdout)["findings"]}


def kernels_on(server: Server) -> set[str]:
    return {kernel["id"] for kernel in ask(server, "/api/kernels")}


@pytest.mark.parametrize("backend", ["zmq", "gateway"])
def test_the_kernel_is_of_the_kind_that_is_chosen(jupyter: Command, backend: str) -> None:
    code, found = findings(jupyter, PI_SET__python__backend=backend)
    assert (code, found["kernel"]["status"]) == (0, "ok")
    assert found["kernel"]["summary"].startswith(f"{backend}; started in")
    assert "checkpoints" not in found


@pytest.mark.parametrize("backend", ["zmq", "gateway"])
def test_a_kernel_of_the_chosen_kind_that_cannot_start_is_a_problem(pisces: Command, backend: str) -> None:
    code, found = findings(pisces, PI_SET__python__backend=backend)
    assert (code, found["kernel"]["status"], found["kernel"]["blocks"]) == (1, "problem", True)
    assert "ipykernel not installed" in found["kernel"]["summary"]
    assert "native" in found["kernel"]["fix"]


def test_a_kernel_on_an_external_gateway_is_started_and_ended(pisces: Command, jupyter_server: Server) -> None:
    before = kernels_on(jupyter_server)
    gateway = {"PI_PYTHON_GATEWAY_URL": jupyter_server.url, "PI_PYTHON_GATEWAY_TOKEN": jupyter_server.token}
    code, found = findings(pisces, **gateway)
    assert (code, found["kernel"]["status"]) == (0, "ok")
    assert found["kernel"]["summary"].startswith("gateway; started in")
    assert kernels_on(jupyter_server) <= before


@pytest.mark.parametrize(
    ("backend", "module"), [("native", "IPython"), ("zmq", "ipykernel_launcher"), ("gateway", "ipykernel_launcher")]
)
def test_modules_of_the_folder_are_imported_only_with_run(
    jupyter: Command,
    plain_python: str,
    tmp_path: Path,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    backend: str,
    module: str,
) -> None:
    mark, temporary = own_home / "mark", own_home / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # As the launcher runs Pisces. Kernels do not get this variable.
    (tmp_path / ".pisces").mkdir()
    (tmp_path / ".pisces" / "settings.toml").write_text(f'[python]\nbackend = "{backend}"\n', encoding="utf-8")
    leave_mark = f"open({str(mark)!r}, 'a').write(__name__ + ' ')\n"
    others = [tmp_path / f"{name}.py" for name in ("types", "sitecustomize", "jupyter_config", "ipython_config")]
    for file in others:
        file.write_text(leave_mark, encoding="utf-8")
    rest = "" if backend == "native" else "from ipykernel import kernelapp\nkernelapp.launch_new_instance()\n"
    (tmp_path / f"{module}.py").write_text(leave_mark + rest, encoding="utf-8")
    # Only where IPython is not installed does the folder's come first.
    python = {"PI_SET__python__interpreter": plain_python} if backend == "native" else {}

    code, found = findings(jupyter, **python)
    assert (code, found["kernel"]["status"]) == (0, "ok"), found
    assert found["kernel"]["summary"].startswith(backend)
    assert not mark.exists(), mark.read_text(encoding="utf-8")
    assert list(temporary.glob("pisces-doctor-*")) == []

    for file in others:
        file.unlink()  # The kernel would not start with them.
    done = jupyter("doctor", "--run", variables=python)
    assert "1+1 in" in done.stdout
    assert mark.exists()


@pytest.mark.anyio
async def test_a_machine_without_a_temporary_folder_is_a_problem_with_a_remedy(
    plain_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_SET__python__interpreter", plain_python)
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    found = {finding.name: finding for finding in await examine(lambda _why: False, in_folder=False)}
    assert found["kernel"].status == "problem"
    assert "temporary folder: No such file" in found["kernel"].summary
    assert "--run" in found["kernel"].fix
