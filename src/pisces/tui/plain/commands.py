"""What can be asked for beside code: `:help`, `:undo` and the others, one function each."""

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pisces.errors import InvalidCall
from pisces.tui.desk.host_link import LONG
from pisces.tui.plain import books, watching
from pisces.tui.plain.typed_numbers import typed_number

if TYPE_CHECKING:
    from pisces.tui.plain.talk import Talk

Does = Callable[["Talk", str], None]


class Unknown(Exception):
    """There is no such command."""


class Command(msgspec.Struct, frozen=True):
    """One of them."""

    usage: str
    help: str
    does: Does


def command_of(text: str) -> "Callable[[Talk], None] | None":
    """What a line that begins with a colon asks for; None where it is no such line. Raises `Unknown`."""
    if not text.lstrip().startswith(":"):
        return None
    name, _, argument = text.strip().lstrip(":").strip().partition(" ")
    found = COMMANDS.get(name)
    if found is None:
        close = get_close_matches(name, COMMANDS, n=1)
        raise Unknown(f"There is no command :{name}.{f' Did you mean :{close[0]}?' if close else ''} :help lists them.")
    return lambda talk: found.does(talk, argument.strip())


def _help(talk: "Talk", _argument: str) -> None:
    talk.speech.say(
        "What does not begin with a colon is Python code. An empty line ends a block.",
        "$ CODE: the same. ! COMMAND: a command of the shell. Ctrl+C interrupts what runs, Ctrl+D ends.",
        *(f":{f'{name} {command.usage}'.strip()}: {command.help}" for name, command in COMMANDS.items()),
    )


def _quit(talk: "Talk", _argument: str) -> None:
    talk.ended = True


def _session(action: str, parameter: str, talk: "Talk", argument: str) -> None:
    """An action of the `session` tool; its answer is in words already."""
    given: dict[str, Any] = {parameter: _typed(parameter, argument)} if argument and parameter else {}
    talk.speech.say(talk.call("session", action=action, session=talk.desk.session, **given).text)


def _typed(parameter: str, argument: str) -> str | int:
    if parameter != "steps":
        return argument
    return typed_number(argument, f"A number of cells is needed, got: {argument[:80]}")


def _wait(talk: "Talk", argument: str) -> None:
    """Wait as long as it takes: whoever does not want to presses Ctrl+C, and the job goes on."""
    talk.speech.say(talk.call("session", action="wait", job=_job(argument), timeout=LONG).text)


def _cancel(talk: "Talk", argument: str) -> None:
    talk.speech.say(talk.call("session", action="cancel", job=_job(argument)).text)


def _job(argument: str) -> str:
    if not argument:
        raise InvalidCall("Which job? Give its id; :jobs lists them.")
    return argument


def _jobs(talk: "Talk", _argument: str) -> None:
    talk.speech.say(talk.call("session", action="jobs").text)


def _branch(talk: "Talk", argument: str) -> None:
    """Branch off, and go on in the branch."""
    result = talk.call("session", action="branch", session=talk.desk.session, **({"to": argument} if argument else {}))
    talk.speech.say(result.text)
    if not result.is_error and isinstance(result.details, dict):
        watching.switch(talk, str(result.details.get("session") or talk.desk.session))


def _reset(talk: "Talk", _argument: str) -> None:
    talk.run("python", called="The reset", code="", session=talk.desk.session, reset=True)


def _background(talk: "Talk", argument: str) -> None:
    if not argument:
        raise InvalidCall("There is no code to run: give it after :background.")
    talk.run("python", code=argument, session=talk.desk.session, background=True)


def _artifact(talk: "Talk", argument: str) -> None:
    number, _, rest = argument.partition(" ")
    if not number:
        raise InvalidCall("Which one? Give its id, and a range of lines or a regular expression if you like.")
    given: dict[str, Any] = {"id": number.removeprefix("artifact://")}
    if rest:
        given["lines" if rest.replace("-", "").isdecimal() else "search"] = rest
    talk.speech.say(talk.call("session", action="output", **given).text)


COMMANDS: Final[dict[str, Command]] = {
    "help": Command("", "this list.", _help),
    "sessions": Command("", "the sessions there are, and where.", watching.list_sessions),
    "switch": Command("NAME", "work in another session; one that is not there is made.", watching.switch),
    "follow": Command(
        "NAME", "hear what happens in a session, whoever runs it, until Ctrl+C or its end.", watching.follow
    ),
    "history": Command("[N]", "the last cells of the session, 5 unless N is given.", watching.history),
    "expand": Command("", "the last cell of the session with all that it said.", watching.expand),
    "variables": Command("", "the names that the session knows.", partial(_session, "variables", "")),
    "undo": Command("[N]", "take the last cell back, or the last N.", partial(_session, "undo", "steps")),
    "checkpoint": Command("NAME", "keep the state under a name.", partial(_session, "checkpoint", "name")),
    "restore": Command("[NAME]", "go back to a checkpoint.", partial(_session, "restore", "name")),
    "branch": Command("[NAME]", "go on in a copy of the session.", _branch),
    "reset": Command("", "begin with a fresh kernel.", _reset),
    "interrupt": Command("", "stop what runs in the session, whoever began it.", partial(_session, "interrupt", "")),
    "background": Command("CODE", "run code without waiting for it.", _background),
    "jobs": Command("", "what runs without waiting, and what has.", _jobs),
    "wait": Command("JOB", "wait for a job and hear what it said.", _wait),
    "cancel": Command("JOB", "stop a job.", _cancel),
    "artifact": Command("ID [LINES | SEARCH]", "an output that was shown in part.", _artifact),
    "notebook": Command("PATH", "open a notebook and hear its cells.", books.open_notebook),
    "show": Command("[N]", "the cells of the notebook, or cell N with its output.", books.show),
    "run": Command("N | all", "run a cell of the notebook, or all of them, and save what they say.", books.run),
    "edit": Command("N", "write cell N of the notebook anew.", books.edit),
    "insert": Command("N", "a new cell at the place N of the notebook.", books.insert),
    "export": Command("PATH", "write the session to a notebook.", partial(_session, "export", "path")),
    "close": Command("", "end the session and its kernel.", partial(_session, "close", "")),
    "quit": Command("", "end; the session stays.", _quit),
}
"""By name, in the order in which `:help` lists them."""
