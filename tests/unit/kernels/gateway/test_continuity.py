"""After a reconnect nothing comes twice, what may be missing is known, and another kernel is not taken for the same."""

import itertools
from typing import Any

import pytest

from pisces.kernels.gateway.continuity import Continuity
from pisces.kernels.jupyter.message import Channel, Message, MessageMaker

CLIENT = "client"
maker = MessageMaker(CLIENT)


class Kernel:
    """Messages as a kernel makes them: numbered, with its own session."""

    def __init__(self, session: str = "kernel-1", form: str = "{session}_77_{number}") -> None:
        self._session = session
        self._form = form
        self._numbers = itertools.count()

    def says(
        self, kind: str, to: Message | None, channel: Channel = "iopub", *, asked_by: str = CLIENT, **content: Any
    ) -> Message:
        number = next(self._numbers)
        name = self._form.format(session=self._session, number=number, hexadecimal=f"{number:x}-4a")
        header = {"msg_id": name, "msg_type": kind, "session": self._session}
        return Message(channel, header, {"msg_id": to.id, "session": asked_by} if to else {}, content)

    def state(self, name: str, to: Message) -> Message:
        return self.says("status", to, execution_state=name)

    def reply(self, to: Message) -> Message:
        return self.says(to.type.replace("_request", "_reply"), to, "shell", status="ok")

    def prints(self, to: Message) -> Message:
        return self.says("stream", to, name="stdout", text="x")

    def answers(self, to: Message) -> list[Message]:
        """All that there is to say to a question."""
        return [self.state("busy", to), self.reply(to), self.state("idle", to)]


@pytest.fixture
def cell() -> Message:
    return maker.execute("1 + 1")


@pytest.fixture
def probe() -> Message:
    return maker.kernel_info()


def begun(kernel: Kernel, cell: Message) -> Continuity:
    """A cell that runs and has printed once."""
    continuity = Continuity(CLIENT)
    continuity.sent(cell)
    for message in (kernel.state("busy", cell), kernel.prints(cell)):
        assert continuity.take(message)
    return continuity


def taken(continuity: Continuity, messages: list[Message]) -> list[Message]:
    return [message for message in messages if continuity.take(message)]


def test_what_comes_once_is_delivered(cell: Message) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    messages = [kernel.prints(cell), kernel.reply(cell), kernel.state("idle", cell)]
    assert taken(continuity, messages) == messages
    assert not continuity.missing
    assert not continuity.loss


def test_a_message_that_is_repeated_after_a_reconnect_is_delivered_once(cell: Message, probe: Message) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    twice = kernel.prints(cell)
    assert continuity.take(twice)
    continuity.reconnected(probe)
    once = kernel.prints(cell)
    assert taken(continuity, [twice, once]) == [once]


def test_ids_that_a_kernel_uses_again_are_no_repetition_while_the_connection_holds(cell: Message) -> None:
    kernel = Kernel(form="always the same")
    continuity = begun(kernel, cell)
    messages = [kernel.prints(cell), kernel.prints(cell)]
    assert taken(continuity, messages) == messages


def test_the_question_after_a_reconnect_and_its_answer_are_nobodys(cell: Message, probe: Message) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    continuity.reconnected(probe)
    assert continuity.verifying
    end = [kernel.reply(cell), kernel.state("idle", cell)]
    assert taken(continuity, [*end, *kernel.answers(probe)]) == end
    assert not continuity.verifying
    assert not continuity.loss


def test_a_cell_that_ends_after_a_reconnect_with_all_its_messages_is_complete(cell: Message, probe: Message) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    continuity.reconnected(probe)
    messages = [kernel.prints(cell), kernel.reply(cell), kernel.state("idle", cell)]
    # Channels overtake each other.
    assert len(taken(continuity, [messages[1], messages[0], messages[2]])) == 3
    assert not continuity.missing


def test_a_number_that_never_comes_is_output_that_may_be_missing(cell: Message, probe: Message) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    kernel.prints(cell)  # Under way when the connection broke.
    continuity.reconnected(probe)
    taken(continuity, [kernel.prints(cell), kernel.reply(cell), kernel.state("idle", cell)])
    assert continuity.missing


def test_a_gap_is_found_behind_any_number_of_messages(cell: Message, probe: Message) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    kernel.prints(cell)
    continuity.reconnected(probe)
    many = [kernel.prints(cell) for _ in range(5000)]
    assert taken(continuity, many) == many
    taken(continuity, [kernel.reply(cell), kernel.state("idle", cell)])
    assert continuity.missing


def test_a_kernel_that_does_not_number_its_messages_cannot_be_trusted_after_a_reconnect(
    cell: Message, probe: Message
) -> None:
    kernel = Kernel(form="{hexadecimal}")
    continuity = begun(kernel, cell)
    continuity.reconnected(probe)
    taken(continuity, [kernel.reply(cell), kernel.state("idle", cell)])
    assert continuity.missing


def test_numbers_of_what_the_server_says_in_our_name_do_not_count(cell: Message, probe: Message) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    continuity.reconnected(probe)
    server = Kernel(session=CLIENT)
    taken(continuity, [server.prints(cell), kernel.prints(cell), kernel.reply(cell), kernel.state("idle", cell)])
    assert not continuity.missing


def test_the_next_cell_has_no_part_in_what_the_last_one_missed(cell: Message, probe: Message) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    kernel.prints(cell)
    continuity.reconnected(probe)
    taken(continuity, [kernel.reply(cell), kernel.state("idle", cell), *kernel.answers(probe)])
    assert continuity.missing
    continuity.missing = False
    following = maker.execute("2")
    continuity.sent(following)
    kernel.reply(maker.kernel_info())  # To somebody else.
    taken(continuity, kernel.answers(following))
    assert not continuity.missing


def test_a_cell_that_the_kernel_never_heard_of_is_lost(cell: Message, probe: Message) -> None:
    kernel = Kernel()
    continuity = Continuity(CLIENT)
    continuity.sent(cell)
    continuity.reconnected(probe)
    taken(continuity, kernel.answers(probe))
    assert continuity.take_loss() == "The connection broke while the cell was being sent; whether it ran is not known"
    assert not continuity.take_loss()


@pytest.mark.parametrize("lost", ["execute_reply", "status"])
def test_a_cell_whose_end_was_lost_is_lost(cell: Message, probe: Message, lost: str) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    end = [kernel.reply(cell), kernel.state("idle", cell)]
    continuity.reconnected(probe)
    taken(continuity, [message for message in end if message.type != lost])
    assert not continuity.loss
    taken(continuity, kernel.answers(probe))
    assert "how the cell ended was lost with it" in continuity.take_loss()


def test_the_loss_of_a_cell_that_nobody_waits_for_is_not_told_of_the_next_one(cell: Message, probe: Message) -> None:
    kernel = Kernel()
    continuity = begun(kernel, cell)
    continuity.reconnected(probe)
    taken(continuity, kernel.answers(probe))
    following = maker.execute("2")
    continuity.sent(following)
    assert not continuity.loss


def test_a_kernel_that_answers_as_another_one_was_replaced(cell: Message, probe: Message) -> None:
    continuity = begun(Kernel(), cell)
    continuity.reconnected(probe)
    taken(continuity, Kernel("kernel-2").answers(probe))
    assert continuity.replaced


def test_a_kernel_that_only_repeats_who_asked_is_not_taken_for_another(cell: Message, probe: Message) -> None:
    kernel = Kernel(session=CLIENT, form="{hexadecimal}")
    continuity = begun(kernel, cell)
    continuity.reconnected(probe)
    taken(continuity, [kernel.says("status", probe, asked_by="else"), *kernel.answers(probe)])
    assert not continuity.replaced


def test_what_answers_somebody_else_says_nothing_about_who_the_kernel_is(cell: Message) -> None:
    continuity = begun(Kernel(), cell)
    continuity.take(Kernel("kernel-2").says("status", cell, asked_by="else", execution_state="busy"))
    assert not continuity.replaced
