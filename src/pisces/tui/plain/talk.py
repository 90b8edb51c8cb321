"""The talk: an input, what comes of it, the next input."""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from pisces.errors import InvalidCall, PiscesError
from pisces.model.completion import Completion
from pisces.model.results import ToolResult
from pisces.render.from_result import details_of
from pisces.tui.desk.desk import Desk
from pisces.tui.desk.host_link import LONG
from pisces.tui.desk.typed import Typed, understood
from pisces.tui.editor.past_inputs import PastInputs
from pisces.tui.options import UiOptions
from pisces.tui.plain.answers import left_to_say, outcome
from pisces.tui.plain.commands import COMMANDS, Unknown, command_of
from pisces.tui.plain.ending import Ended, EndSignals
from pisces.tui.plain.gathering import Gathering
from pisces.tui.plain.reading import Person, Pipe
from pisces.tui.plain.speech import Speech

_FAILED: Final = 1
_TYPED_BEFORE: Final = "ui-history.jsonl"
"""The file that the screen has, too: what was typed there can be had back here."""
_T = TypeVar("_T")


def talk(options: UiOptions, *, why: str = "") -> int:
    """Talk until the input ends, and return the exit code. `why` there is no screen is said first."""
    try:
        with EndSignals() as ending, asyncio.Runner() as runner:
            return Talk(options, runner, ending).until_the_end(why)
    except Ended as ended:
        return int(ended.code or 0)


class Talk:
    """One talk. The event loop runs only while something is done, so that a line is read as by any other program."""

    def __init__(self, options: UiOptions, runner: asyncio.Runner, ending: EndSignals) -> None:
        self.desk = Desk(options)
        self.speech = Speech()
        self.notebook = options.notebook
        """The notebook that is open."""
        self.ended = False
        self._runner = runner
        self._ending = ending
        self._failed = False
        typed = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        self.input: Person | Pipe = Person(self._complete, COMMANDS) if typed else Pipe()
        self._gathering = Gathering(blank_ends=typed)
        self._past = PastInputs(self.desk.paths.agent / _TYPED_BEFORE if typed else None)

    def until_the_end(self, why: str) -> int:
        """Everything, and the exit code: that of a pipe says whether all cells went well."""
        if self.input.is_person and why:
            self.speech.say(f"Plain mode, because {why}.")
        self._remember()
        self.wait_for(self.desk.begin())
        if self.input.is_person:
            self.speech.say(f"Session {self.desk.session}. Type Python code, or :help for what else there is.")
        if self.notebook is not None:
            self._do(f":notebook {self.notebook}")
        while not self.ended:
            self._next()
        return _FAILED if self._failed and not self.input.is_person else 0

    def wait_for(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Have something done."""
        return self._runner.run(work)

    def lines_until_a_dot(self) -> str:
        """Further lines of the input, up to one that is a dot alone: a text for a command.

        Raises `InvalidCall` where the input ends, or Ctrl+C comes, before the dot: half a text is none.
        """
        if self.input.is_person:
            self.speech.say("Type the text; a line with a dot alone ends it.")
        lines: list[str] = []
        while (line := self._line_of_a_text()) != ".":
            if line is None:
                raise InvalidCall("The text was not ended with a line that is a dot alone; nothing was changed.")
            lines.append(line)
        return "\n".join(lines)

    def call(self, tool: str, **params: Any) -> ToolResult:
        """Call a tool in the host; what its cells say is said as it comes. Ctrl+C stops it."""
        return self.wait_for(self._call(tool, params))

    def run(self, tool: str, *, called: str = "", **params: Any) -> None:
        """Call a tool that runs code, and say how it ended. `called` is what is run, where that is no cell."""
        result = self.call(tool, timeout=LONG, **params)
        self._failed |= result.is_error
        self.speech.say(*left_to_say(result))
        if (details := details_of(result.details)) is not None:
            self.speech.tell(details.notices)
            self.speech.say(outcome(details, called))

    def _next(self) -> None:
        prompt = "... " if self._gathering.open else ">>> "
        self._ending.watch()
        try:
            # To put it together for every line of a long block is work that only completion has a use for.
            line = self.input.next_line(prompt, self._gathering.text if self.input.is_person else "")
        except KeyboardInterrupt:
            self._gathering.drop()
            self.speech.say("", "Nothing runs. :quit or Ctrl+D ends.")
            return
        self.ended = line is None
        for text in self._gathering.finish() if line is None else self._gathering.take(line):
            self._keep(text)
            self._do(text)

    def _line_of_a_text(self) -> str | None:
        """None where there is no more, or it is given up with Ctrl+C."""
        self._ending.watch()
        try:
            return self.input.next_line("", "")
        except KeyboardInterrupt:
            return None

    def _remember(self) -> None:
        if isinstance(self.input, Person):
            try:
                self._past.load()
            except OSError as error:
                self.speech.say(f"What was typed before cannot be read: {error.strerror or error}.")
            self.input.remember(reversed(self._past.typed))

    def _keep(self, text: str) -> None:
        if self._past.add(text):
            try:
                self._past.keep(text)
            except OSError as error:
                self.speech.say(f"What is typed cannot be kept: {error.strerror or error}.")

    def _do(self, text: str) -> None:
        try:
            command = command_of(text)
            if command is not None:
                command(self)
            elif (typed := understood(text)) is not None:
                self._run_typed(typed)
        except Unknown as unknown:
            self._failed = True
            self.speech.say(str(unknown))
        except PiscesError as error:
            self._failed = True
            self.speech.say(f"Error: {error.explain()}")
        except KeyboardInterrupt:  # Where nothing ran that it could have stopped; the talk goes on.
            self._failed = True
            self.speech.say("Interrupted.")

    def _run_typed(self, typed: Typed) -> None:
        if not self.desk.can_run:
            raise InvalidCall(
                f"Session {self.desk.session} is watched only.", hint=":switch NAME goes to one of your own."
            )
        if typed.kind == "shell":
            self.run("bash", called="The command", command=typed.text, cwd=self.desk.options.cwd)
        else:
            self.run("python", code=typed.text, session=self.desk.session)

    async def _call(self, tool: str, params: dict[str, Any]) -> ToolResult:
        call = self.desk.link.begin(tool, params, self.speech.hear)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, call.cancel)
        try:
            return await call.result()
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            self.desk.poll()

    def _complete(self, code: str, cursor: int) -> Completion:
        return self.wait_for(self.desk.complete(code, cursor))
