"""The outputs of cells as a notebook has them: text put together, what was replaced replaced, what was cleared gone."""

import json
import re
from typing import Any, Final

from pisces.journal.entries import Output, TextCut
from pisces.journal.history import PastCell
from pisces.model.events import AnyEvent, Bundle, ClearOutput, Display, Error, ProcessExit, Result, Status, Stream

NotebookOutput = dict[str, Any]
Displays = dict[str, list[NotebookOutput]]
"""By display id, every output that an update of it changes."""

_JSON_TYPE: Final = re.compile(r"application/(.*\+)?json")


class NotebookOutputs:
    """Makes the outputs of one notebook, cell by cell and in order: a cell may update what an earlier one displayed."""

    def __init__(self) -> None:
        self._displays: Displays = {}

    def of(self, cell: PastCell) -> list[NotebookOutput]:
        """The outputs of the next cell; those of earlier ones may change by it."""
        ended = cell.ended
        artifact_id = ended.artifact_id if ended else None
        folded = CellOutputs(self._displays)
        for entry in cell.said:
            match entry:
                case Output():
                    folded.take(entry.event)
                case TextCut():
                    folded.tell_cut(entry.characters, "the journal", artifact_id)
        if ended is not None:
            folded.tell_left_out(ended.left_out, "the journal")
            if ended.died:
                folded.tell_death(ended.process_exit)
        return folded.finished()


class CellOutputs:
    """The outputs of one cell, put together from what its kernel said."""

    def __init__(self, displays: Displays) -> None:
        """`displays` are those of all cells of the notebook."""
        self.outputs: list[NotebookOutput] = []
        """As they are while the cell runs: the text of streams is in pieces."""
        self._displays = displays
        self._clear_pending = False

    def take(self, event: AnyEvent) -> None:
        """The next thing that the kernel said."""
        match event:
            case Stream():
                self._text(event.name, event.text)
            case Display():
                self._display(event)
            case Result():
                shown = self._shown(event)
                count = event.execution_count
                self._keep({"output_type": "execute_result", "execution_count": count, **shown}, event.display_id)
            case Error():
                self._error(event.ename, event.evalue, list(event.traceback))
            case ClearOutput():
                self._clear_pending = True
                if not event.wait:
                    self._clear_if_pending()
            case _:
                pass

    def tell_cut(self, characters: int, place: str, artifact_id: str | None) -> None:
        """Say in the text what of it is not there."""
        where = f"; artifact {artifact_id} has all of the text" if artifact_id else ""
        self._text("stdout", f"\n[…{characters} characters are not in {place}{where}…]\n")

    def tell_left_out(self, displays: int, place: str) -> None:
        """Say that displays are missing, if any are."""
        if displays:
            what = "1 display was" if displays == 1 else f"{displays} displays were"
            self._text("stdout", f"\n[{what} more than {place} keeps]\n")

    def tell_death(self, exited: ProcessExit | None) -> None:
        """Say what no event said: that the kernel died."""
        how = "The kernel ended" if exited is None else f"The kernel {exited.describe()}"
        self._error("KernelDied", how, [how, *(exited.detail.splitlines() if exited else ())])

    def finished(self) -> list[NotebookOutput]:
        """The outputs, their text in one piece each. An update may still change those that are displays."""
        for output in self.outputs:
            if output["output_type"] == "stream":
                output["text"] = "".join(output["text"])
        return self.outputs

    def _text(self, name: str, text: str) -> None:
        self._clear_if_pending()
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(text)
        elif text:
            self.outputs.append({"output_type": "stream", "name": name, "text": [text]})

    def _display(self, event: Display) -> None:
        if Status.from_bundle(event.bundle) is not None:
            return
        shown = self._shown(event)
        if not event.update:  # Of what is not there, or has been cleared, there is nothing to update.
            self._keep({"output_type": "display_data", **shown}, event.display_id)

    def _shown(self, event: Display | Result) -> NotebookOutput:
        """What an event shows; earlier outputs with its id show the same from now on."""
        shown = {"data": _data(event.bundle), "metadata": dict(event.metadata)}
        for output in self._displays.get(event.display_id or "", ()):
            output.update(shown)
        return shown

    def _keep(self, output: NotebookOutput, display_id: str | None) -> None:
        self._add(output)
        if display_id:
            self._displays.setdefault(display_id, []).append(output)

    def _error(self, ename: str, evalue: str, traceback: list[str]) -> None:
        self._add({"output_type": "error", "ename": ename, "evalue": evalue, "traceback": traceback})

    def _add(self, output: NotebookOutput) -> None:
        self._clear_if_pending()
        self.outputs.append(output)

    def _clear_if_pending(self) -> None:
        if self._clear_pending:
            self._clear_pending = False
            gone = {id(output) for output in self.outputs}
            for earlier in self._displays.values():
                earlier[:] = [output for output in earlier if id(output) not in gone]
            self.outputs.clear()


def _data(bundle: Bundle) -> dict[str, Any]:
    """A bundle that the format allows: JSON types may have any value, all others are text."""
    return {mime: _value(mime, value) for mime, value in bundle.items()}


def _value(mime: str, value: Any) -> Any:
    if _JSON_TYPE.fullmatch(mime) or isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return json.dumps(value, ensure_ascii=False, default=repr)
