"""Lost messages are counted exactly, in whatever order the channels are read, and never made up."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.kernels.jupyter.message import Message
from pisces.kernels.jupyter.numbering import Numbering
from tests.unit.kernels.jupyter.talk import CLIENT, reply, state, stream


def lost(messages: list[Message], busy: Message, idle: Message) -> int:
    numbering = Numbering(CLIENT)
    for message in messages:
        numbering.take(message)
        if message is busy:
            numbering.begin(message)
        if message is idle:
            numbering.end(message)
    return numbering.lost


@given(first=st.integers(0, 10**12), dropped=st.lists(st.booleans(), max_size=50), data=st.data())
def test_what_is_missing_between_busy_and_idle_is_counted(first: int, dropped: list[bool], data: st.DataObject) -> None:
    outputs = [stream("x", number=first + 1 + n) for n, gone in enumerate(dropped) if not gone]
    end = first + len(dropped)
    busy, answer, idle = state("busy", number=first), reply(number=end + 1), state("idle", number=end + 2)
    published = [busy, *outputs, idle, stream("late", number=end + 3)]
    published.insert(data.draw(st.integers(0, len(published))), answer)  # The shell channel is read on its own.
    assert lost(published, busy, idle) == sum(dropped)


def test_where_somebody_else_was_answered_nothing_is_said() -> None:
    busy, idle = state("busy", number=1), state("idle", number=9)
    others = stream("theirs", number=4, asked_by="another client")
    assert lost([busy, idle], busy, idle) == 7
    assert lost([busy, others, idle], busy, idle) == 0


def test_kernels_that_do_not_number_their_messages_are_believed() -> None:
    busy, idle = state("busy"), state("idle")
    assert lost([busy, stream("x"), reply(), idle], busy, idle) == 0
