"""IPython's own shell behind our channel: magics, `!cmd`, `?`, top-level await, `_` and `Out` are IPython's."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any

from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from traitlets.config import Config

from . import figures, memory_limit
from .given_names import GivenNames
from .ipython_shortcuts import QuickInput, QuickResult
from .ipython_tracebacks import as_our_own, can_be_shown_by_ipython
from .outcomes import outcome_of, without_our_frames
from .shell_contract import CellOutcome, Channel


class _ResultHook(QuickResult):
    """Sends the value of the last expression instead of printing it."""

    channel: Channel
    _bundle: dict[str, Any]
    _bundle_metadata: dict[str, Any]

    def start_displayhook(self) -> None:
        self._bundle, self._bundle_metadata = {}, {}

    def write_output_prompt(self) -> None:
        """There is no prompt: the frame has the number."""

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        self._bundle, self._bundle_metadata = format_dict, md_dict or {}

    def finish_displayhook(self) -> None:
        if self._bundle:
            self.channel.result(_as_text(self._bundle), self._bundle_metadata, self.prompt_count)


class _Publisher(DisplayPublisher):
    """Sends displays as frames."""

    channel: Channel

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        source: object = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **options: object,
    ) -> None:
        self.channel.display(_as_text(data), metadata or {}, (transient or {}).get("display_id"), bool(update))

    def clear_output(self, wait: bool = False) -> None:
        self.channel.clear_output(bool(wait))


class _Interactive(QuickInput):
    """InteractiveShell that keeps its last traceback for us, runs commands on our pipes and never exits."""

    system = QuickInput.system_raw  # Straight to fd 1 and fd 2; the piped one would open a terminal.
    last_traceback: list[str] | None = None
    given: GivenNames

    def showtraceback(self, exc_tuple: Any = None, *args: Any, **options: Any) -> None:
        memory_limit.ease()
        _, error, traceback = exc_tuple or sys.exc_info()
        without_our_frames(traceback)
        if can_be_shown_by_ipython(error):
            super().showtraceback(exc_tuple, *args, **options)

    def _showtraceback(self, etype: object, evalue: object, stb: Any) -> None:
        self.last_traceback = list(stb) if isinstance(stb, list) else str(stb).splitlines()

    def reset(self, *args: Any, **options: Any) -> None:
        """What `%reset` does: it empties the namespace, and the names that the kernel gave are given again."""
        super().reset(*args, **options)  # type: ignore[no-untyped-call]  # IPython has no types.
        self.given.restore()

    def enable_gui(self, gui: str | None = None) -> None:
        """What `%gui` and `%matplotlib` ask for: there is nothing to do where no windows are wanted."""
        if gui not in (None, "asyncio"):
            raise UsageError(f"No window of {gui!r} can be shown here; `%matplotlib inline` shows figures as pictures.")

    def ask_exit(self) -> None:
        raise SystemExit(0)


class IPythonShell:
    """The shell of an interpreter that has IPython; fulfils `shell_contract.Shell`."""

    name = "ipython"

    def __init__(self, main: ModuleType, channel: Channel) -> None:
        config = Config()
        config.HistoryManager.enabled = False  # It would open a database and start a thread.
        config.InteractiveShell.colors = "nocolor"
        config.IPCompleter.use_jedi = False  # It takes seconds, and leaves files in the user's home.
        for told_in_vain in ("To exit: use 'exit'", "Output cache limit", "IPython (parent|dir)"):
            warnings.filterwarnings("ignore", message=told_in_vain)
        shell: Any = _Interactive.instance(
            config=config,
            user_module=main,
            user_ns=main.__dict__,
            displayhook_class=_ResultHook,
            display_pub_class=_Publisher,
        )
        # These import what is to be completed: a library in C that is cut off in the middle of it is broken for good.
        for importing in ("import", "from", "%aimport"):
            shell.Completer.custom_completers.strs.pop(importing, None)
        self._shell = shell
        self.namespace: dict[str, Any] = shell.user_ns
        self.execution_count = 0
        self.given = GivenNames(self.namespace)
        self.given.hide = shell.user_ns_hidden.update
        shell.given = self.given
        figures.install()
        png = shell.display_formatter.formatters["image/png"]
        png.for_type_by_name("matplotlib.figure", "Figure", _figure_png)
        self.show_on(channel)

    def show_on(self, channel: Channel) -> None:
        """Send everything that is to be shown to this channel from now on."""
        self._shell.displayhook.channel = channel
        self._shell.display_pub.channel = channel
        self._shell.loop_runner = channel.run_async
        figures.show_on(channel)

    def count_from(self, execution_count: int) -> None:
        """Go on counting cells after this number; the inputs and outputs of those before are not known."""
        self.execution_count = execution_count
        self._shell.execution_count = execution_count + 1
        self._shell.history_manager.input_hist_parsed += [""] * execution_count
        self._shell.history_manager.input_hist_raw += [""] * execution_count

    def complete(self, code: str, cursor: int) -> tuple[list[str], int, int]:
        """What IPython's own completer says, but of modules; see `shell_contract.Shell`."""
        from IPython.core.completer import provisionalcompleter, rectify_completions

        from . import completer_imports

        modules = completer_imports.at_the_end_of(code[:cursor])
        if modules is not None:
            names, begun = modules
            return names, cursor - len(begun), cursor
        with provisionalcompleter():
            found = list(rectify_completions(code, self._shell.Completer.completions(code, cursor)))
        if not found:
            return [], cursor, cursor
        return [completion.text for completion in found], found[0].start, found[0].end

    def run_cell(self, code: str, *, silent: bool, store_history: bool) -> CellOutcome:
        """Run a cell as IPython would, and say how it ended."""
        self._shell.last_traceback = None
        counted = store_history and not silent
        result = self._shell.run_cell(code, silent=silent, store_history=counted)
        if counted and result.execution_count:
            self.execution_count = result.execution_count
        error = result.error_before_exec or result.error_in_exec
        if error is None:
            if self._shell.last_traceback:  # Of `%tb`, or of a script that failed under `%run`.
                sys.stderr.write("\n".join([*self._shell.last_traceback, ""]))
            return CellOutcome() if silent else _show_figures()
        if not silent:
            figures.show_open_after_error()
        outcome = outcome_of(as_our_own(error))
        if self._shell.last_traceback:
            outcome.traceback = self._shell.last_traceback
        return outcome


def _show_figures() -> CellOutcome:
    """The figures of a cell that went well; one that cannot be drawn is an error of the cell."""
    try:
        figures.show_open()
    except BaseException as error:
        return outcome_of(error)
    return CellOutcome()


def _figure_png(figure: Any) -> Any:
    return figures.bundle_if_figure(figure).get("image/png")


def _as_text(bundle: dict[str, Any]) -> dict[str, Any]:
    """Binary data as base64 text, as the wire wants it."""
    if not any(isinstance(value, bytes) for value in bundle.values()):
        return bundle
    from base64 import b64encode

    return {
        mime: b64encode(value).decode("ascii") if isinstance(value, bytes) else value for mime, value in bundle.items()
    }
