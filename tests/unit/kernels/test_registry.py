"""Which backend runs the code: by settings and environment, each made once."""

import builtins
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pisces.errors import KernelError
from pisces.kernels.memory import MemoryBackend
from pisces.kernels.registry import BackendChoice, Backends
from pisces.settings.load import Layer, LoadedSettings, Origin
from pisces.settings.paths import Paths
from pisces.settings.schema import PythonSettings, Settings
from pisces.settings.switches import Switches

URL = "http://127.0.0.1:9"
NOWHERE = Switches()
ELSEWHERE = Switches(gateway_url=URL, gateway_token="t")


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    made = Backends(Paths(tmp_path), idle=60, cull=60)
    yield made
    await made.aclose()


def loaded(backend: Any, switches: Switches, layer: Layer = "user") -> LoadedSettings:
    settings = Settings(python=PythonSettings(backend=backend))
    return LoadedSettings(settings, {"python.backend": Origin(layer)}, switches)


@pytest.mark.parametrize(
    ("backend", "switches", "name"),
    [
        ("auto", NOWHERE, "native"),
        ("auto", ELSEWHERE, "external"),
        ("native", ELSEWHERE, "native"),
        ("zmq", ELSEWHERE, "zmq"),
        ("gateway", NOWHERE, "gateway"),
        ("gateway", ELSEWHERE, "external"),
    ],
)
def test_the_settings_and_the_environment_choose(backend: Any, switches: Switches, name: str) -> None:
    assert BackendChoice.of(loaded(backend, switches)).name == name


def test_a_project_does_not_take_code_away_from_the_gateway_that_the_user_named() -> None:
    assert BackendChoice.of(loaded("native", ELSEWHERE, "project")).name == "external"
    assert BackendChoice.of(loaded("zmq", NOWHERE, "project")).name == "zmq"


def test_kernels_that_only_jupyter_can_run_do_not_run_on_ours() -> None:
    for switches, name in ((NOWHERE, "zmq"), (ELSEWHERE, "external")):
        assert BackendChoice.of(loaded("auto", switches)).for_kernelspecs().name == name


@pytest.mark.parametrize(
    ("name", "kind"), [("native", "native"), ("zmq", "jupyter"), ("gateway", "jupyter"), ("external", "jupyter")]
)
async def test_every_backend_of_the_table_can_be_made_once(backends: Backends, name: Any, kind: str) -> None:
    choice = BackendChoice(name, url=URL)
    made = backends.get(choice)
    assert made.kind == kind
    assert backends.get(choice) is made


async def test_another_gateway_is_another_backend(backends: Backends) -> None:
    first, second = (backends.get(BackendChoice("external", url=URL, token=token)) for token in "ab")
    assert first is not second


async def test_a_backend_that_was_given_takes_the_place_of_all(tmp_path: Path) -> None:
    given = MemoryBackend({})
    backends = Backends(Paths(tmp_path), idle=60, cull=60, given=given)
    assert backends.get(BackendChoice("zmq")) is given


async def test_what_is_not_installed_is_named_with_the_way_to_it(
    backends: Backends, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = builtins.__import__

    def without_zmq(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "zmq":
            raise ModuleNotFoundError(f"No module named {name!r}", name="zmq")
        return plain(name, *rest)

    import sys

    for module in [name for name in sys.modules if name.startswith(("pisces.kernels.zmq", "zmq"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without_zmq)
    with pytest.raises(KernelError, match="need zmq") as raised:
        backends.get(BackendChoice("zmq"))
    assert "pisces-runtime[zmq]" in raised.value.hint
