"""What a server says of itself, which of its kernelspecs is taken, and what it is asked for."""

import math
from collections.abc import Mapping

import pytest

from pisces.errors import KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.flavors import Flavor, ServerKind, choose_kernelspec, recognise, wish_for
from pisces.kernels.gateway.models import Kernelspecs, SpecEntry, SpecFile
from pisces.kernels.gateway.rest import GatewayRest
from tests.fakes.scripted_gateway import Reply, scripted_gateway

SPEC = LaunchSpec("/usr/bin/python3", "/home/ada/project", {"PATH": "/bin", "KERNEL_CPUS": "2"})


def offered(default: str = "", **languages: str) -> Kernelspecs:
    return Kernelspecs({name: SpecEntry(SpecFile(language)) for name, language in languages.items()}, default)


@pytest.mark.parametrize(
    ("answer", "status", "kind"),
    [
        (Reply(200, {"version": "1.24.0", "gateway_version": "3.3.0"}), 404, (Flavor.ENTERPRISE_GATEWAY, "3.3.0")),
        (Reply(200, {"version": "2.21.1"}), 404, (Flavor.KERNEL_GATEWAY, "2.21.1")),
        (Reply(200, {"version": "2.21.1"}), 200, (Flavor.JUPYTER_SERVER, "2.21.1")),
        (Reply(200, {"version": "2.1"}, {"X-JupyterHub-Version": "5.2"}), 200, (Flavor.JUPYTERHUB, "2.1")),
        (Reply(404), 404, (Flavor.UNKNOWN, "")),
        (Reply(200, ["something else"]), 200, (Flavor.UNKNOWN, "")),
        (Reply(200, {"version": "2.1"}, half=True), 200, (Flavor.UNKNOWN, "")),
    ],
    ids=["enterprise", "kernel gateway", "server", "hub", "nothing", "foreign", "half"],
)
async def test_a_server_is_recognised_by_what_it_says(answer: Reply, status: int, kind: tuple[Flavor, str]) -> None:
    async with scripted_gateway({"GET /api": [answer], "GET /api/status": [Reply(status)]}) as server:
        rest = GatewayRest(server.url)
        assert await recognise(rest, Deadline.after(10)) == ServerKind(*kind)
        await rest.aclose()


@pytest.mark.parametrize(
    ("specs", "wanted", "chosen"),
    [
        (offered("python3", python3="python", r="R"), "", "python3"),
        (offered("r", python3="python", r="R"), "", "python3"),
        (offered("gone", spark_python="Python", r="R"), "", "spark_python"),
        (offered("python3", python3="python", r="R"), "r", "r"),
    ],
    ids=["default", "default of another language", "default that is not there", "asked for"],
)
def test_a_kernelspec_of_python_is_taken_unless_another_is_asked_for(
    specs: Kernelspecs, wanted: str, chosen: str
) -> None:
    assert choose_kernelspec(specs, wanted, "Gateway") == chosen


def test_a_kernelspec_that_is_not_there_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(KernelStartError) as failure:
        choose_kernelspec(offered("r", r="R", bash="bash"), "julia", "Gateway at X")
    assert failure.value.explain() == "Gateway at X has no kernelspec 'julia'\nIt has: bash (bash), r (R)"


@pytest.mark.parametrize(
    ("specs", "hint"), [(offered("r", r="R"), "It has: r (R)"), (offered(), "It has none at all.")]
)
def test_a_server_without_python_is_an_error_that_says_what_it_has(specs: Kernelspecs, hint: str) -> None:
    with pytest.raises(KernelStartError) as failure:
        choose_kernelspec(specs, "", "Gateway at X")
    assert failure.value.explain() == f"Gateway at X has no kernelspec that runs Python\n{hint}"


@pytest.mark.parametrize("flavor", [flavor for flavor in Flavor if flavor is not Flavor.ENTERPRISE_GATEWAY])
def test_no_other_server_is_sent_variables(flavor: Flavor) -> None:
    body = wish_for(SPEC, "python3", ServerKind(flavor), shares_machine=False).body()
    assert set(body) == {"name", "kernel_id"}


def test_a_server_on_this_machine_is_told_the_folder() -> None:
    wish = wish_for(SPEC, "python3", ServerKind(Flavor.KERNEL_GATEWAY), shares_machine=True)
    assert wish.body()["path"] == "/home/ada/project"


def environment_for_enterprise(env: Mapping[str, str]) -> Mapping[str, str]:
    spec = LaunchSpec("python", "/home/ada/project", env)
    return wish_for(spec, "python3", ServerKind(Flavor.ENTERPRISE_GATEWAY), shares_machine=False).env


def test_enterprise_gateway_is_told_for_whom_and_where_and_what_the_user_wants_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    assert environment_for_enterprise(SPEC.env) == {
        "KERNEL_CPUS": "2",
        "KERNEL_USERNAME": "ada",
        "KERNEL_WORKING_DIR": "/home/ada/project",
    }
    assert environment_for_enterprise({"KERNEL_USERNAME": "team"})["KERNEL_USERNAME"] == "team"


def test_root_asks_enterprise_gateway_in_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "root")
    assert environment_for_enterprise({})["KERNEL_USERNAME"] == "pisces"


def test_a_user_without_a_name_asks_enterprise_gateway_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 1000")

    monkeypatch.setattr("getpass.getuser", nameless)
    assert environment_for_enterprise({})["KERNEL_USERNAME"] == "pisces"


@pytest.mark.parametrize("cwd", ["/tmp/$(id)", "/tmp/`id`", '/tmp/"', "/tmp/\\", "/tmp/\n"])
def test_a_folder_that_a_shell_would_read_otherwise_is_not_named(cwd: str) -> None:
    spec = LaunchSpec("python", cwd, {})
    wish = wish_for(spec, "python3", ServerKind(Flavor.ENTERPRISE_GATEWAY), shares_machine=False)
    assert "KERNEL_WORKING_DIR" not in wish.env


@pytest.mark.parametrize(("patience", "told"), [(29.3, "30"), (0.2, "1"), (math.inf, None)])
def test_enterprise_gateway_is_told_how_long_a_kernel_is_waited_for(patience: float, told: str | None) -> None:
    kind = ServerKind(Flavor.ENTERPRISE_GATEWAY)
    wish = wish_for(SPEC, "python3", kind, shares_machine=False, patience=patience)
    assert wish.env.get("KERNEL_LAUNCH_TIMEOUT") == told
