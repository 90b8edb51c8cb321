"""Whatever a server answers, or does not, becomes a kernel or an error that says what to do.

The server here is a scripted one: no real one can be made to fail on the second.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest

from pisces.errors import DeadlineExceeded
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway import rest as rest_module
from pisces.kernels.gateway.failure import GatewayError
from pisces.kernels.gateway.local import LocalWish
from pisces.kernels.gateway.models import KernelWish
from pisces.kernels.gateway.rest import GatewayRest
from tests.fakes.drive import eventually
from tests.fakes.scripted_gateway import Reply, ScriptedGateway, scripted_gateway
from tests.fakes.servers import free_port

TOKEN = "sesame-5a1d"
KERNEL = {"id": "k-1", "name": "python3", "execution_state": "starting"}
SOON = 10.0


@asynccontextmanager
async def talking(**script: Sequence[Reply]) -> AsyncIterator[tuple[GatewayRest, ScriptedGateway]]:
    """A client and its server; `POST`, `GET` and so on are answered as the script says."""
    async with scripted_gateway(script) as server:
        rest = GatewayRest(server.url + "/", TOKEN, label=f"External gateway at {server.url}")
        try:
            yield rest, server
        finally:
            await rest.aclose()


def soon() -> Deadline:
    return Deadline.after(SOON)


async def failure_of_check(*replies: Reply) -> tuple[str, str]:
    """What a check says to such answers, and the label of the server."""
    async with scripted_gateway({"GET /api/kernelspecs": replies}) as server:
        rest = GatewayRest(server.url, TOKEN, label=f"External gateway at {server.url}")
        with pytest.raises(GatewayError) as failure:
            await rest.check(soon())
        await rest.aclose()
    assert TOKEN not in failure.value.explain()
    return str(failure.value), rest.label


async def test_a_check_asks_with_the_token_in_a_header() -> None:
    async with talking() as (rest, server):
        specs = await rest.check(soon())
    assert specs.kernelspecs["python3"].spec.language == "python"
    (asked,) = server.asked
    assert asked.headers["authorization"] == f"token {TOKEN}"
    assert TOKEN not in asked.path


@pytest.mark.parametrize("status", [401, 403])
async def test_a_server_that_refuses_wants_a_token(status: int) -> None:
    said, label = await failure_of_check(Reply(status))
    assert said == f"{label} requires authentication. Set PI_PYTHON_GATEWAY_TOKEN."


async def test_a_server_that_sends_us_to_its_login_page_wants_a_token() -> None:
    said, label = await failure_of_check(Reply(302, headers={"Location": "/hub/login?next=x"}))
    assert said == f"{label} requires authentication. Set PI_PYTHON_GATEWAY_TOKEN."


@pytest.mark.parametrize("status", [302, 404, 500, 503])
async def test_another_status_is_named(status: int) -> None:
    said, label = await failure_of_check(Reply(status))
    assert said == f"{label} returned status {status}"


async def test_a_server_that_is_not_there_is_named_with_the_reason() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    rest = GatewayRest(url, TOKEN, label=f"External gateway at {url}")
    with pytest.raises(GatewayError) as failure:
        await rest.check(soon())
    await rest.aclose()
    assert str(failure.value) == f"External gateway at {url} is not reachable: Connection refused"


async def test_a_name_that_nobody_has_is_not_reachable() -> None:
    rest = GatewayRest("http://no-such-host.invalid", label="External gateway at X")
    with pytest.raises(GatewayError, match=r"^External gateway at X is not reachable: .+"):
        await rest.check(soon())
    await rest.aclose()


@pytest.mark.parametrize(
    "reply", [Reply(200, after=anyio.Event()), Reply(200, trickle=True)], ids=["silence", "drop by drop"]
)
async def test_a_server_that_takes_too_long_is_not_reachable(reply: Reply, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_module, "CHECK_CAP", 0.2)
    said, label = await failure_of_check(reply)
    assert said == f"{label} is not reachable (timeout)"


async def test_a_check_ends_with_the_call_that_asked_for_it() -> None:
    async with scripted_gateway({"GET /api/kernelspecs": [Reply(200, after=anyio.Event())]}) as server:
        rest = GatewayRest(server.url)
        with pytest.raises(DeadlineExceeded):
            await rest.check(Deadline.after(0.1))
        await rest.aclose()


async def test_half_an_answer_is_no_answer() -> None:
    said, label = await failure_of_check(Reply(200, {"default": "python3", "kernelspecs": {}}, half=True))
    assert said.startswith(f"{label} is not reachable: ")


@pytest.mark.parametrize("body", [["no", "object"], {"kernelspecs": 3}, "<html>"])
async def test_an_answer_of_another_kind_is_refused(body: object) -> None:
    said, label = await failure_of_check(Reply(200, body))
    assert said.startswith(f"{label} does not answer as a Jupyter server does: ")


async def test_an_endless_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_module, "_BODY_LIMIT", 1 << 10)
    said, label = await failure_of_check(Reply(200, "x" * (1 << 12)))
    assert said.startswith(f"{label} answers with more than")


async def test_a_kernel_is_asked_for_by_name_and_with_an_id_but_without_variables() -> None:
    async with talking(POST=[Reply(201, KERNEL)]) as (rest, server):
        wish = KernelWish("python3")
        model = await rest.create(wish, soon())
    assert model.id == "k-1"
    (asked,) = server.requests("POST")
    assert asked.body == {"name": "python3", "kernel_id": wish.kernel_id}


async def test_creating_is_tried_once_more_after_an_error_of_the_server() -> None:
    async with talking(POST=[Reply(500), Reply(201, KERNEL)]) as (rest, server):
        assert (await rest.create(KernelWish("python3"), soon())).id == "k-1"
    first, second = server.requests("POST")
    # A cluster keeps what the first try has left under its id.
    assert first.body["kernel_id"] != second.body["kernel_id"]


def test_a_second_try_asks_for_the_same_in_all_but_the_id() -> None:
    wish = LocalWish("python3", cwd="/home", environ={"A": "1"}, owner={"pid": 7})
    first, second = wish.body(), wish.again().body()
    assert first.pop("kernel_id") != second.pop("kernel_id")
    assert first == second


async def test_creating_is_not_tried_once_more_for_nobody() -> None:
    slow = anyio.Event()
    async with talking(POST=[Reply(500, after=slow), Reply(201, KERNEL)]) as (rest, server):
        with pytest.raises(DeadlineExceeded):
            await rest.create(KernelWish("python3"), Deadline.after(0.1))
        slow.set()
        await rest.aclose()
    assert len(server.requests("POST")) == 1


async def test_a_second_error_of_the_server_is_told_with_its_words() -> None:
    body = {"reason": "Internal", "message": "OSError: [Errno 24] Too many open files"}
    async with talking(POST=[Reply(500, body)]) as (rest, server):
        with pytest.raises(GatewayError) as failure:
            await rest.create(KernelWish("python3"), soon())
    assert str(failure.value) == f"{rest.label} returned status 500"
    assert failure.value.status == 500
    assert failure.value.said == "OSError: [Errno 24] Too many open files: Internal"
    assert failure.value.said in failure.value.hint
    assert len(server.requests("POST")) == 2
    assert not server.requests("DELETE")


async def test_a_refusal_is_not_tried_again() -> None:
    async with talking(POST=[Reply(403, {"reason": "User 'x' is not authorized"})]) as (rest, server):
        with pytest.raises(GatewayError, match="returned status 403") as failure:
            await rest.create(KernelWish("python3"), soon())
    assert "User 'x' is not authorized" in failure.value.hint
    assert len(server.requests("POST")) == 1


async def test_a_kernel_whose_creation_was_answered_by_half_is_ended() -> None:
    async with talking(POST=[Reply(201, KERNEL, half=True)], DELETE=[Reply(204)]) as (rest, server):
        wish = KernelWish("python3")
        with pytest.raises(GatewayError, match="is not reachable"):
            await rest.create(wish, soon())
        await eventually(lambda: bool(server.requests("DELETE")))
    assert [asked.path for asked in server.requests("DELETE")] == [f"/api/kernels/{wish.kernel_id}"]


async def test_a_kernel_that_comes_up_after_the_deadline_is_ended() -> None:
    slow = anyio.Event()
    async with talking(POST=[Reply(201, KERNEL, after=slow)], DELETE=[Reply(204)]) as (rest, server):
        with pytest.raises(DeadlineExceeded):
            await rest.create(KernelWish("python3"), Deadline.after(0.1))
        assert not server.requests("DELETE")
        slow.set()
        await eventually(lambda: bool(server.requests("DELETE", "/api/kernels/k-1")))


async def test_a_kernel_whose_creation_was_cancelled_is_ended() -> None:
    slow = anyio.Event()
    async with talking(POST=[Reply(201, KERNEL, after=slow)], DELETE=[Reply(204)]) as (rest, server):
        async with anyio.create_task_group() as group:
            group.start_soon(rest.create, KernelWish("python3"), soon())
            await eventually(lambda: bool(server.requests("POST")))
            group.cancel_scope.cancel()
        slow.set()
        await eventually(lambda: bool(server.requests("DELETE", "/api/kernels/k-1")))


async def test_closing_waits_for_a_kernel_that_is_still_to_be_ended() -> None:
    async with talking(POST=[Reply(201, KERNEL, half=True)], DELETE=[Reply(204)]) as (rest, server):
        with pytest.raises(GatewayError):
            await rest.create(KernelWish("python3"), soon())
        await rest.aclose()
        assert len(server.requests("DELETE")) == 1


async def test_kernels_are_created_one_at_a_time() -> None:
    first = anyio.Event()
    replies = [Reply(201, KERNEL, after=first), Reply(201, {**KERNEL, "id": "k-2"})]
    async with talking(POST=replies) as (rest, server), anyio.create_task_group() as group:
        group.start_soon(rest.create, KernelWish("python3"), soon())
        await eventually(lambda: len(server.requests("POST")) == 1)
        group.start_soon(rest.create, KernelWish("python3"), soon())
        for _ in range(20):  # Other requests go through meanwhile, and so would this one.
            await rest.check(soon())
        assert len(server.requests("POST")) == 1
        first.set()
    assert len(server.requests("POST")) == 2


@pytest.mark.parametrize("status", [404, 410])
async def test_a_kernel_that_is_gone_has_been_deleted(status: int) -> None:
    async with talking(DELETE=[Reply(status)], GET=[Reply(status)]) as (rest, _):
        await rest.delete("k-1", soon())
        assert await rest.find("k-1", soon()) is None


async def test_deleting_goes_on_while_the_server_cannot() -> None:
    async with talking(DELETE=[Reply(500), Reply(500), Reply(204)]) as (rest, server):
        await rest.delete("k-1", soon())
    assert len(server.requests("DELETE")) == 3


async def test_removing_is_not_waited_for_longer_than_was_said() -> None:
    slow = anyio.Event()
    async with talking(DELETE=[Reply(204, after=slow)]) as (rest, server):
        with anyio.fail_after(SOON):
            await rest.remove("k-1", within=0.1)
        await eventually(lambda: len(server.requests("DELETE")) == 1)
        slow.set()


async def test_a_kernel_is_interrupted_by_rest() -> None:
    async with talking(POST=[Reply(204)]) as (rest, server):
        await rest.interrupt("k-1", soon())
    assert server.requests("POST")[0].path == "/api/kernels/k-1/interrupt"


async def test_a_list_that_is_forbidden_is_an_error() -> None:
    async with talking(GET=[Reply(403)]) as (rest, _):
        with pytest.raises(GatewayError, match="returned status 403"):
            await rest.list(soon())


@pytest.mark.parametrize(
    ("url", "channels"),
    [
        ("http://host:8888", "ws://host:8888/api/kernels/k/channels?session_id=me"),
        ("https://hub.example/user/ada/", "wss://hub.example/user/ada/api/kernels/k/channels?session_id=me"),
    ],
)
def test_the_websocket_is_below_the_same_address(url: str, channels: str) -> None:
    assert GatewayRest(url, TOKEN).channels_url("k", "me") == channels


async def test_a_cookie_of_the_server_goes_with_the_websocket() -> None:
    reply = Reply(200, {"default": "", "kernelspecs": {}}, headers={"Set-Cookie": "route=a1; Path=/"})
    async with scripted_gateway({"GET /api/kernelspecs": [reply]}) as server:
        rest = GatewayRest(server.url, TOKEN)
        await rest.check(soon())
        assert rest.websocket_headers() == {"authorization": f"token {TOKEN}", "cookie": "route=a1"}
        await rest.aclose()
