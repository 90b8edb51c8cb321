"""Questions about a cursor, asked of a Jupyter kernel: no cell hears of them, and none is asked behind another."""

from collections.abc import AsyncIterator

import anyio
import pytest

from pisces.errors import KernelGone
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.jupyter.kernel import JupyterKernel
from pisces.kernels.jupyter.message import Message
from pisces.kernels.jupyter.transport import LinkLost
from pisces.model.completion import Completion
from tests.fakes.drive import PATIENCE, Running
from tests.unit.kernels.jupyter.talk import ScriptedTransport, reply, said, state, stream


class Telling(ScriptedTransport):
    """Answers each question at once, unless it is `mute`."""

    mute = False

    async def send(self, message: Message) -> None:
        await super().send(message)
        if message.type == "complete_request" and not self.mute:
            self.tell(*answer(message.id))


def answer(to: str, *matches: str) -> list[Message]:
    content = {"status": "ok", "matches": list(matches or ("zebra",)), "cursor_start": 0, "cursor_end": 1}
    return [
        state("busy", to=to),
        said("complete_reply", content, to=to, channel="shell"),
        state("idle", to=to),
    ]


@pytest.fixture
def transport() -> Telling:
    return Telling()


@pytest.fixture
async def kernel(transport: Telling) -> AsyncIterator[JupyterKernel]:
    made = JupyterKernel(transport, LaunchSpec("scripted", "/", {}), backend="scripted")
    await made.start(Deadline.after(PATIENCE))
    yield made
    await made.shutdown()


async def complete(kernel: JupyterKernel, seconds: float = PATIENCE) -> Completion:
    return await kernel.complete("z", 1, Deadline.after(seconds))


async def cell(kernel: JupyterKernel, transport: Telling, *before: Message) -> Running:
    running = Running(await kernel.execute(ExecuteRequest("code")))
    to = transport.last.id
    transport.tell(*before, state("busy", to=to), reply(to=to), state("idle", to=to))
    return running


async def test_thousands_of_questions_leave_nothing_for_the_next_cell(
    kernel: JupyterKernel, transport: Telling
) -> None:
    for _ in range(3000):
        assert (await complete(kernel)).matches == ("zebra",)
    ran = await (await cell(kernel, transport)).finish()
    assert (ran.outline, ran.done.notes) == ([], ())


async def test_an_answer_that_comes_too_late_is_heard_by_nobody(kernel: JupyterKernel, transport: Telling) -> None:
    transport.mute = True
    assert await complete(kernel, 0.01) == Completion()
    late = answer(transport.last.id)
    ran = await (await cell(kernel, transport, *late)).finish()
    assert (ran.outline, ran.done.status, ran.done.notes) == ([], "ok", ())
    transport.mute = False
    assert (await complete(kernel)).matches == ("zebra",)


async def test_a_kernel_that_has_not_answered_is_not_given_more_to_do(
    kernel: JupyterKernel, transport: Telling
) -> None:
    transport.mute = True
    for _ in range(5):
        await complete(kernel, 0.01)
    questions = [message for message in transport.sent if message.type == "complete_request"]
    assert len(questions) == 1
    transport.tell(*answer(questions[0].id, "old"))
    transport.mute = False
    assert (await complete(kernel)).matches == ("zebra",)


async def test_output_that_comes_meanwhile_is_kept_for_the_next_cell(kernel: JupyterKernel, transport: Telling) -> None:
    transport.tell(stream("from a thread", to="earlier"))
    assert (await complete(kernel)).matches == ("zebra",)
    ran = await (await cell(kernel, transport)).finish()
    assert ran.stdout == "from a thread"


async def test_a_kernel_that_dies_meanwhile_is_known_to_be_gone(kernel: JupyterKernel, transport: Telling) -> None:
    transport.mute = True
    transport.tell(state("restarting", to=""))
    with pytest.raises(KernelGone):
        await complete(kernel)
    assert not await kernel.is_alive()


async def test_a_lost_connection_is_no_answer(kernel: JupyterKernel, transport: Telling) -> None:
    transport.mute = True
    async with anyio.create_task_group() as group:

        async def lose() -> None:
            await anyio.wait_all_tasks_blocked()
            transport.tell(LinkLost("The connection was lost"))

        group.start_soon(lose)
        assert await complete(kernel) == Completion()
