"""A kernel on any transport: what it makes of answers, silence, deaths and lost connections.

The transport is scripted: what a server does in a moment, and seldom, is said here word by word. Real kernels and real
servers run in the contract suite.
"""

from collections.abc import AsyncIterator

import anyio.lowlevel
import pytest

from pisces.errors import KernelError, KernelGone, KernelStartError
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.jupyter.kernel import JupyterKernel
from pisces.kernels.jupyter.message import Message
from pisces.kernels.jupyter.transport import KernelEnded, LinkLost
from pisces.model.events import Done, InputRequested, ProcessExit, Started, Stream
from tests.fakes.drive import PATIENCE, Running
from tests.unit.kernels.jupyter.talk import ScriptedTransport, reply, said, state, stream

SPEC = LaunchSpec("scripted", "/", {})


@pytest.fixture
def transport() -> ScriptedTransport:
    return ScriptedTransport()


@pytest.fixture
async def kernel(transport: ScriptedTransport) -> AsyncIterator[JupyterKernel]:
    made = JupyterKernel(transport, SPEC, backend="scripted")
    await made.start(Deadline.after(PATIENCE))
    yield made
    await made.shutdown()


async def begin(kernel: JupyterKernel, code: str = "code") -> Running:
    return Running(await kernel.execute(ExecuteRequest(code)))


async def test_a_cell_ends_with_reply_and_idle(kernel: JupyterKernel, transport: ScriptedTransport) -> None:
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(state("busy", to=to), stream("hi", to=to), state("idle", to=to), reply(to=to))
    ran = await running.finish()
    assert (ran.stdout, ran.done) == ("hi", Done("ok", execution_count=1))


async def test_what_a_foreign_kernel_says_right_after_it_is_idle_is_still_the_cells(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    running = await begin(kernel)
    to = transport.last.id
    late = [stream("c", to=to), said("error", {"ename": "E", "evalue": "v", "traceback": []}, to=to)]
    transport.tell(
        state("busy", to=to), stream("a", to=to), reply(to=to), state("idle", to=to), stream("b", to=to), *late
    )
    ran = await running.finish()
    assert (ran.stdout, ran.error.ename) == ("abc", "E")


async def test_a_kernel_that_never_stops_talking_does_not_hold_the_cell(
    kernel: JupyterKernel, transport: ScriptedTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pisces.kernels.jupyter.execution._LATE_CAP", 0.05)
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(state("busy", to=to), reply(to=to), state("idle", to=to))

    async def talk() -> Message:
        await anyio.lowlevel.checkpoint()
        return transport.receive_nowait() or stream("tick", to=to)

    monkeypatch.setattr(transport, "receive", talk)
    ran = await running.finish()
    assert ran.done.status == "ok"
    assert "tick" in ran.stdout


@pytest.mark.parametrize("end", [KernelEnded("It has ended"), state("dead", to="")], ids=["gone", "said to be dead"])
async def test_a_foreign_kernel_that_ends_after_its_cell_has_run_it_all_the_same(
    kernel: JupyterKernel, transport: ScriptedTransport, end: Message | Exception
) -> None:
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(state("busy", to=to), reply(to=to), state("idle", to=to), end)
    assert (await running.finish()).done.status == "ok"
    assert await kernel.is_alive() is isinstance(end, Exception)  # One that is gone would tell through `ended`.


async def test_messages_that_the_kernel_dropped_are_counted(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    running = await begin(kernel)
    to = transport.last.id
    lines = [stream("line", to=to, number=number) for number in (8, 9, 12)]
    transport.tell(state("busy", to=to, number=7), *lines, reply(to=to, number=15), state("idle", to=to, number=16))
    done = (await running.finish()).done
    assert done.notes == ("Output is missing: the kernel dropped 4 of its messages, which came too fast.",)


async def test_a_cell_whose_idle_was_dropped_ends_when_the_kernel_is_asked(
    kernel: JupyterKernel, transport: ScriptedTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pisces.kernels.jupyter.execution._IDLE_CAP", 0.02)
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(state("busy", to=to, number=7), stream("line", to=to, number=8), reply(to=to, number=10))
    sent = len(transport.sent)
    async with anyio.create_task_group() as group:
        group.start_soon(running.finish)
        while len(transport.sent) == sent:
            await anyio.lowlevel.checkpoint()
        asked = transport.last
        assert asked.type == "kernel_info_request"
        answer = said("kernel_info_reply", {}, to=asked.id, channel="shell", number=13)
        busy, idle = state("busy", to=asked.id, number=12), state("idle", to=asked.id, number=14)
        transport.tell(busy, answer, idle)
    done = (await running.finish()).done
    assert done.status == "ok"
    assert done.notes == ("Output is missing: the kernel dropped 2 of its messages, which came too fast.",)


async def test_a_restart_by_the_server_ends_the_cell_at_once(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    running = await begin(kernel)
    transport.tell(state("busy", to=transport.last.id), state("restarting", to=""))
    done = (await running.finish()).done
    assert (done.status, done.state) == ("crashed", "lost")
    assert done.process_exit is not None
    assert "fresh one in its place" in done.process_exit.describe()
    assert not await kernel.is_alive()
    with pytest.raises(KernelGone):
        await kernel.execute(ExecuteRequest("1"))


async def test_a_restart_between_cells_is_seen_before_the_next(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    transport.tell(state("restarting", to=""))
    assert not await kernel.is_alive()


async def test_what_threads_said_between_cells_comes_with_the_next(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    transport.tell(stream("meanwhile", to="earlier"))
    assert await kernel.is_alive()
    running = await begin(kernel)
    transport.tell(reply(to=transport.last.id), state("idle", to=transport.last.id))
    assert (await running.finish()).stdout == "meanwhile"


async def test_a_lost_connection_is_told_as_unknown(kernel: JupyterKernel, transport: ScriptedTransport) -> None:
    running = await begin(kernel)
    transport.tell(state("busy", to=transport.last.id), LinkLost("The gateway cannot be reached"))
    done = (await running.finish()).done
    assert (done.status, done.state) == ("disconnected", "unknown")
    assert "The gateway cannot be reached" in done.notes[0]


async def test_a_kernel_is_looked_at_before_it_is_used_again(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    running = await begin(kernel)
    transport.tell(LinkLost("cut"))
    await running.finish()
    transport.tell(KernelEnded("The gateway has no such kernel any more"))
    with pytest.raises(KernelGone):
        await kernel.execute(ExecuteRequest("1"))


async def test_a_lost_connection_at_the_sending_is_no_loss_of_state(
    kernel: JupyterKernel, transport: ScriptedTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut(_: object) -> None:
        raise LinkLost("cut")

    monkeypatch.setattr(transport, "send", cut)
    with pytest.raises(KernelError, match="cut") as raised:
        await kernel.execute(ExecuteRequest("1"))
    assert not isinstance(raised.value, KernelGone)
    assert await kernel.is_alive()


async def test_the_end_of_the_process_ends_the_cell(kernel: JupyterKernel, transport: ScriptedTransport) -> None:
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(state("busy", to=to), stream("last words", to=to))
    transport.tell(KernelEnded("It has ended", exit=ProcessExit(signal=11)))
    ran = await running.finish()
    assert (ran.stdout, ran.done.status, ran.done.process_exit) == ("last words", "crashed", ProcessExit(signal=11))


@pytest.mark.parametrize("end", [KernelEnded("It has ended"), LinkLost("cut"), state("restarting", to="")])
async def test_a_cell_that_was_sent_counts_as_begun_when_its_kernel_goes(
    kernel: JupyterKernel, transport: ScriptedTransport, end: Exception | Message
) -> None:
    running = await begin(kernel)
    transport.tell(end)
    assert len((await running.finish()).of(Started)) == 1


async def test_an_interrupt_before_the_cell_began_waits_for_it(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    running = await begin(kernel)
    to = transport.last.id
    await kernel.interrupt()
    assert transport.interrupts == 0
    transport.tell(state("busy", to=to))
    await running.started()
    assert transport.interrupts == 1
    transport.tell(reply("error", to=to, ename="KeyboardInterrupt", evalue=""), state("idle", to=to))
    assert (await running.finish()).done.status == "interrupted"


async def test_the_second_interrupt_goes_every_way_there_is(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(state("busy", to=to))
    await running.started()
    await kernel.interrupt()
    assert [message.type for message in transport.sent].count("interrupt_request") == 0
    await kernel.interrupt()
    assert [message.type for message in transport.sent].count("interrupt_request") == 1
    transport.tell(reply("error", to=to), state("idle", to=to))
    await running.finish()


async def test_where_nobody_can_signal_the_kernel_is_asked(kernel: JupyterKernel, transport: ScriptedTransport) -> None:
    transport.interrupt_works = False
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(state("busy", to=to))
    await running.started()
    await kernel.interrupt()
    assert transport.last.type == "interrupt_request"
    assert transport.last.channel == "control"
    transport.tell(reply("error", to=to), state("idle", to=to))
    await running.finish()


async def test_an_interrupt_that_swallowed_the_reply_ends_the_cell(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(state("busy", to=to))
    await running.started()
    await kernel.interrupt()
    transport.tell(state("idle", to=to))
    assert (await running.finish()).done.status == "interrupted"


async def test_an_interrupt_that_swallowed_the_reply_and_the_idle_ends_the_cell(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    kernel.is_python = True
    running = await begin(kernel)
    transport.tell(state("busy", to=transport.last.id))
    await running.started()
    await kernel.interrupt()
    asked = transport.last
    assert asked.type == "kernel_info_request"
    answer = said("kernel_info_reply", {}, to=asked.id, channel="shell")
    transport.tell(state("busy", to=asked.id), answer, state("idle", to=asked.id))
    assert (await running.finish()).done.status == "interrupted"


async def test_prompts_are_answered_with_nothing_and_a_cell_that_goes_on_asking_is_interrupted(
    kernel: JupyterKernel, transport: ScriptedTransport
) -> None:
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(state("busy", to=to))
    for number in range(4):
        transport.tell(said("input_request", {"prompt": f"{number}? "}, to=to, channel="stdin"))
    ran = await running.until(lambda ran: len(ran.of(InputRequested)) == 4)
    answers = [message for message in transport.sent if message.type == "input_reply"]
    assert [answer.content["value"] for answer in answers] == [""] * len(answers)
    assert answers[0].channel == "stdin"
    assert transport.interrupts == 1
    transport.tell(reply("error", to=to), state("idle", to=to))
    assert (await running.finish()).done.status == "interrupted"
    assert ran.of(Stream) == []


async def test_output_that_was_left_out_is_named(kernel: JupyterKernel, transport: ScriptedTransport) -> None:
    running = await begin(kernel)
    to = transport.last.id
    transport.tell(stream("IOPub data rate exceeded.\n", "stderr", to=to, session=transport.client))
    transport.tell(reply(to=to), state("idle", to=to))
    assert "left out part" in (await running.finish()).done.notes[0]


async def test_a_count_that_goes_back_betrays_a_restart(kernel: JupyterKernel, transport: ScriptedTransport) -> None:
    for count, betrayed in ((5, False), (6, False), (1, True)):
        running = await begin(kernel)
        to = transport.last.id
        transport.tell(reply(to=to, execution_count=count), state("idle", to=to))
        done = (await running.finish()).done
        assert any("restarted" in note for note in done.notes) == betrayed
        assert done.state == ("lost" if betrayed else "kept")


async def test_a_start_that_loses_its_connection_is_a_failed_start(
    transport: ScriptedTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut(_: object) -> None:
        raise LinkLost("cut")

    monkeypatch.setattr(transport, "send", cut)
    kernel = JupyterKernel(transport, SPEC, backend="scripted")
    with pytest.raises(KernelStartError, match="cut"):
        await kernel.start(Deadline.after(PATIENCE))
    assert transport.ended is not None
