"""One gateway for all processes of a user and an interpreter: shared, private, and gone when nobody needs it."""

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import psutil
import pytest

from pisces.errors import KernelGone, KernelStartError
from pisces.kernels.base import Ticket
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.coordinator import (
    acquire_shared_gateway,
    release_shared_gateway,
    shutdown_shared_gateway,
)
from pisces.kernels.gateway.local import LocalBackend
from pisces.kernels.gateway.record import GatewayRecord, gateway_folders
from pisces.settings.paths import Paths
from tests.fakes.drive import PATIENCE, begin, eventually, ok, run, value
from tests.fakes.local_gateways import LocalGateways, ask, finished, gone, kernels_of, said, venv_beside
from tests.integration.native.processes import FAMILY, pids_in, stop

pytestmark = pytest.mark.anyio


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Names of sockets have to be short."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


async def acquire(gateways: LocalGateways, **changes: object) -> GatewayRecord:
    return await acquire_shared_gateway(gateways.plan(**changes), gateways.folder, Deadline.after(PATIENCE))


async def test_a_kernel_runs_cells_in_its_own_folder_and_environment(gateways: LocalGateways, tmp_path: Path) -> None:
    kernel = await gateways.start(cwd=str(tmp_path), injected={"PI_SESSION_FILE": "here"})
    assert await value(kernel, "6 * 7") == "42"
    assert await value(kernel, "import os; os.getcwd()") == repr(str(tmp_path))
    assert await value(kernel, "os.environ['PI_SESSION_FILE']") == "'here'"
    assert kernel.interpreter == gateways.interpreter
    await kernel.shutdown()
    assert await kernels_of(gateways.record) == []


async def test_two_processes_share_one_gateway_and_each_has_its_own_kernel(gateways: LocalGateways) -> None:
    kernel = await gateways.start()
    other = gateways.script(
        "kernel = await gateways.start()\n"
        "print(gateways.record.pid, flush=True)\n"
        "await run(kernel, 'x = 1')\n"
        "await kernel.shutdown()\n"
        "await gateways.backend.aclose()"
    )
    assert await said(other) == gateways.record.pid
    await finished(other)
    assert "NameError" in (await run(kernel, "x")).error.ename
    await kernel.shutdown()


async def test_processes_that_start_at_once_get_one_gateway(gateways: LocalGateways) -> None:
    code = (
        "sys.stdin.readline()\n"
        "kernel = await gateways.start()\n"
        "print(gateways.record.pid, flush=True)\n"
        "await kernel.shutdown()\n"
        "await gateways.backend.aclose()"
    )
    others = [gateways.script(code) for _ in range(3)]
    for other in others:
        assert other.stdin is not None
        other.stdin.write(b"\n")
        other.stdin.flush()
    pids = {await said(other) for other in others}
    for other in others:
        await finished(other)
    assert pids == {gateways.record.pid}
    assert gateways.folder.log.read_text(encoding="utf-8").count("is available at") == 1


async def test_two_interpreters_have_two_gateways(gateways: LocalGateways, tmp_path: Path) -> None:
    second = venv_beside(gateways.interpreter, tmp_path / "venv")
    kernels = [await gateways.start(), await gateways.start(interpreter=second)]
    shown = [await value(kernel, "import sys; sys.prefix") for kernel in kernels]
    assert shown == [repr(str(Path(gateways.interpreter).parents[1])), repr(str(tmp_path / "venv"))]
    assert len(list(gateway_folders(gateways.paths))) == 2
    for kernel in kernels:
        await kernel.shutdown()


async def test_the_python_of_the_gateway_is_its_own_whatever_the_user_has_installed(
    gateways: LocalGateways, own_home: Path
) -> None:
    for name in ("python3", "mine"):
        folder = own_home / ".local" / "share" / "jupyter" / "kernels" / name
        folder.mkdir(parents=True)
        spec = {"argv": ["/bin/false", "{connection_file}"], "display_name": name, "language": "python"}
        (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    # As outside a virtual environment: the user's folder comes first.
    kernel = await gateways.start(env={**gateways.env, "JUPYTER_PREFER_ENV_PATH": "0"})
    assert await value(kernel, "import sys; sys.executable") == repr(gateways.interpreter)
    await kernel.shutdown()
    answer = await ask(gateways.record, "/api/kernelspecs")
    assert "Set-Cookie" not in answer.headers
    offered = answer.json()
    assert offered["default"] == "python3"
    assert {"python3", "mine", "bash"} <= set(offered["kernelspecs"])


async def test_a_kernel_of_another_language_runs_too_and_one_that_is_not_there_is_named(
    gateways: LocalGateways,
) -> None:
    kernel = await gateways.start(kernelspec="bash")
    assert (await ok(kernel, "echo $((6 * 7))")).stdout == "42\n"
    assert kernel.interpreter == "bash"
    await kernel.shutdown()
    with pytest.raises(KernelStartError, match="no kernelspec 'cobol'") as error:
        await gateways.start(kernelspec="cobol")
    assert "bash" in error.value.hint


async def test_release_leaves_the_process_and_shutdown_ends_it_with_its_kernels(gateways: LocalGateways) -> None:
    kernel = await gateways.start()
    pid = int(await value(kernel, "import os; os.getpid()"))
    record = gateways.record
    release_shared_gateway(record)
    assert await acquire(gateways) == record
    assert await shutdown_shared_gateway(gateways.folder, Deadline.after(PATIENCE))
    await gone(record.pid, record.keeper.pid, pid)
    assert not gateways.folder.record_file.exists()
    assert not await shutdown_shared_gateway(gateways.folder, Deadline.after(PATIENCE))
    await kernel.shutdown()


async def test_a_stopped_gateway_is_continued_and_its_kernels_go_on(gateways: LocalGateways) -> None:
    first = await gateways.start()
    await ok(first, "x = 1")
    record = gateways.record
    await stop(record.pid)
    second = await gateways.start()
    assert gateways.record == record
    assert await value(first, "x") == "1"
    await first.shutdown()
    await second.shutdown()


async def test_the_end_of_a_kernel_is_the_end_of_all_it_started(gateways: LocalGateways) -> None:
    kernel = await gateways.start()
    bystander = await gateways.start()
    pids = pids_in((await ok(kernel, FAMILY)).stdout)
    await kernel.shutdown()
    await gone(*pids)
    assert await value(bystander, "1 + 1") == "2"
    await bystander.shutdown()


async def test_a_gateway_that_nobody_needs_ends_itself(gateways: LocalGateways) -> None:
    gateways.backend = LocalBackend(paths=gateways.paths, idle=2.0)
    kernel = await gateways.start()
    record = gateways.record
    assert await value(kernel, "__import__('time').sleep(3.0) or 1") == "1"
    assert record.process.is_running
    await kernel.shutdown()
    await gone(record.pid, record.keeper.pid)


async def test_the_files_are_private_and_the_token_is_in_no_process_and_no_log(
    gateways: LocalGateways, own_home: Path
) -> None:
    kernel = await gateways.start()
    record, folder = gateways.record, gateways.folder
    written = [path for path in [folder.path, *folder.path.rglob("*")] if not path.is_socket()]
    assert folder.runtime in written
    assert [path for path in written if stat.S_IMODE(path.stat().st_mode) & 0o077] == []
    shown = await ok(kernel, "import os; print(dict(os.environ))")
    assert record.token not in shown.stdout
    for process in [psutil.Process(record.pid), *psutil.Process(record.pid).children(recursive=True)]:
        assert record.token not in " ".join(process.cmdline())
        assert record.token not in environment_of(process)
    await kernel.shutdown()
    assert record.token not in folder.log.read_text(encoding="utf-8")
    assert set(os.listdir(own_home)) <= {".pisces", ".ipython"}


def environment_of(process: psutil.Process) -> str:
    try:
        return str(process.environ())
    except psutil.AccessDenied:
        return ""  # That of the gateway itself is closed to everybody but root.


async def test_kernels_are_reached_over_sockets_in_a_private_folder(
    short_folder: Path, gateways: LocalGateways
) -> None:
    gateways.paths = Paths(short_folder)
    gateways.backend = LocalBackend(paths=gateways.paths)
    kernel = await gateways.start()
    (connection,) = [name for name in os.listdir(gateways.folder.runtime) if name.endswith(".json")]
    told = json.loads((gateways.folder.runtime / connection).read_text(encoding="utf-8"))
    assert told["transport"] == "ipc"
    assert told["ip"].startswith(str(gateways.folder.runtime))
    await kernel.shutdown()
    await eventually(lambda: os.listdir(gateways.folder.runtime) == [])


async def test_a_request_without_the_token_is_refused(gateways: LocalGateways) -> None:
    record = await acquire(gateways)
    for path in ("/api/kernels", "/api/kernelspecs", "/api/swagger.json", "/nothing", "/pisces/x"):
        for headers in ({}, {"Authorization": "token no"}, {"Authorization": record.token}):
            assert (await ask(record, path, headers=headers)).status_code == 401
        assert (await ask(record, f"{path}?token={record.token}", headers={})).status_code == 401


async def test_connections_without_the_token_use_up_no_descriptors(gateways: LocalGateways) -> None:
    kernel = await gateways.start()
    port = int(gateways.record.url.rpartition(":")[2])
    async with AsyncExitStack() as ending:
        strangers = [await ending.enter_async_context(await anyio.connect_tcp("127.0.0.1", port)) for _ in range(300)]
        with anyio.fail_after(PATIENCE):  # The oldest are cut.
            for stream in strangers[:40]:
                with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                    await stream.receive()
        assert len(await kernels_of(gateways.record)) == 1
        assert await value(kernel, "1 + 1") == "2"
    await kernel.shutdown()


async def test_a_request_from_another_host_or_page_is_refused(gateways: LocalGateways) -> None:
    record = await acquire(gateways)
    foreign = [
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ]
    for headers in foreign:
        for method in ("GET", "POST", "OPTIONS"):
            both = {"Authorization": f"token {record.token}", **headers}
            answer = await ask(record, "/api/kernels", method=method, headers=both)
            assert answer.status_code == 403
            assert "Access-Control-Allow-Origin" not in answer.headers


async def test_the_user_s_own_gateway_configuration_does_not_count(gateways: LocalGateways, own_home: Path) -> None:
    folder = own_home / ".jupyter"
    folder.mkdir()
    config = "c.KernelGatewayApp.auth_token = ''\nc.KernelGatewayApp.allow_origin = '*'\n"
    for name in ("jupyter_config.py", "jupyter_kernel_gateway_config.py"):
        (folder / name).write_text(config, encoding="utf-8")
    record = await acquire(gateways, env={**gateways.env, "KG_AUTH_TOKEN": "", "KG_ALLOW_ORIGIN": "*"})
    assert (await ask(record, "/api/kernels", headers={})).status_code == 401


async def test_local_gateways_that_are_not_shared_are_refused(gateways: LocalGateways) -> None:
    gateways.backend = LocalBackend(paths=gateways.paths, shared=False)
    with pytest.raises(KernelStartError) as error:
        await gateways.start()
    assert str(error.value) == "Shared Python gateway required; local gateways are disabled"
    assert list(gateway_folders(gateways.paths)) == []


async def test_an_interpreter_without_the_packages_is_told_what_to_install(
    gateways: LocalGateways, plain_python: str
) -> None:
    with pytest.raises(KernelStartError) as error:
        await gateways.start(interpreter=plain_python)
    assert str(error.value) == (
        "kernel_gateway (jupyter-kernel-gateway) or ipykernel not installed. "
        f"Run: {plain_python} -m pip install jupyter_kernel_gateway ipykernel"
    )


async def test_a_kernel_that_is_left_there_outlives_its_process_and_is_found_again(gateways: LocalGateways) -> None:
    other = gateways.script(
        "kernel = await gateways.start(durable=True)\n"
        "await run(kernel, 'x = 41')\n"
        "spare = await gateways.start()\n"
        "ticket = kernel.ticket\n"
        "import json, msgspec\n"
        "print(json.dumps([msgspec.to_builtins(ticket), spare.transport.kernel_id]), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    told, spare = await said(other)
    ticket = Ticket(**told)
    with other:
        await gone(other.pid)
    # A kernel that was not to stay goes when the gateway has noticed the end of its process; the other one does not.
    with anyio.fail_after(PATIENCE):
        while spare in await kernels_of(gateways.record):  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(0.02)
    kernel = gateways.backend.returning(gateways.spec(durable=True), ticket)
    await kernel.start(Deadline.after(PATIENCE))
    assert await value(kernel, "x + 1") == "42"
    await kernel.shutdown()
    again = gateways.backend.returning(gateways.spec(durable=True), ticket)
    with pytest.raises(KernelGone):
        await again.start(Deadline.after(PATIENCE))


async def test_a_ticket_to_a_gateway_that_has_ended_starts_none(gateways: LocalGateways) -> None:
    kernel = await gateways.start(durable=True)
    ticket = kernel.ticket
    assert ticket is not None
    await kernel.detach()
    await shutdown_shared_gateway(gateways.folder, Deadline.after(PATIENCE))
    again = gateways.backend.returning(gateways.spec(durable=True), ticket)
    with pytest.raises(KernelGone, match="has ended"):
        await again.start(Deadline.after(PATIENCE))
    assert list(gateway_folders(gateways.paths)) == []


async def test_how_a_kernel_died_can_be_asked(gateways: LocalGateways) -> None:
    kernel = await gateways.start()
    running = await begin(kernel, "import os; os._exit(3)")
    assert (await running.finish()).done.status == "crashed"
    answer = await ask(gateways.record, f"/pisces/kernels/{kernel.transport.kernel_id}/exit")
    assert answer.json() == {"code": 3, "detail": ""}
    await kernel.shutdown()
