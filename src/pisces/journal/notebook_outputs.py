"""The outputs of cells as a notebook has them: text put together, what was replaced replaced, what was cleared gone."""

import json
import re
from typing import Any, Final

from pisces.journal.entries import CellEnded, Output, TextCut
from pisces.journal.history import PastCell
from pisces.model.events import AnyEvent, Bundle, ClearOutput, Display, Error, Result, Status, Stream

NotebookOutput = dict[str, Any]

_JSON_TYPE: Final = re.compile(r"application/(.*\+)?json")


class NotebookOutputs:
    """Makes the outputs of one notebook, cell by cell and in order: a cell may update what an earlier one displayed."""

    def __init__(self) -> None:
        self._displays: dict[str, list[NotebookOutput]] = {}
        """By display id, every output that an update of it changes."""

    def of(self, cell: PastCell) -> list[NotebookOutput]:
        """The outputs of the next cell; those of earlier ones may change by it."""
        ended = cell.ended
        folded = _CellOutputs(self._displays, artifact_id=ended.artifact_id if ended else None)
        for entry in cell.said:
            match entry:
                case Output():
                    folded.take(entry.event)
                case TextCut():
                    folded.tell_cut(entry.characters)
        if ended is not None:
            folded.tell_end(ended)
        return folded.finish()


class _CellOutputs:
    def __init__(self, displays: dict[str, list[NotebookOutput]], *, artifact_id: str | None) -> None:
        self.outputs: list[NotebookOutput] = []
        self._displays = displays
        self._artifact_id = artifact_id
        self._clear_pending = False

    def take(self, event: AnyEvent) -> None:
        match event:
            case Stream():
                self._text(event.name, event.text)
            case Display():
                self._display(event)
            case Result():
                self._add(
                    {
                        "output_type": "execute_result",
                        "execution_count": event.execution_count,
                        "data": _data(event.bundle),
                        "metadata": dict(event.metadata),
                    }
                )
            case Error():
                self._error(event.ename, event.evalue, list(event.traceback))
            case ClearOutput():
                self._clear_pending = True
                if not event.wait:
                    self._clear_if_pending()
            case _:
                pass

    def tell_cut(self, characters: int) -> None:
        """Say in the text what of it is not there."""
        where = f"; artifact {self._artifact_id} has all of the text" if self._artifact_id else ""
        self._text("stdout", f"\n[…{characters} characters are not in the journal{where}…]\n")

    def tell_end(self, ended: CellEnded) -> None:
        """Say what no event said: that the kernel died, that displays were left out."""
        if ended.left_out:
            self._text("stdout", f"\n[{ended.left_out} displays were more than the journal keeps]\n")
        if ended.died:
            exited = ended.process_exit
            how = "The kernel ended" if exited is None else f"The kernel {exited.describe()}"
            self._error("KernelDied", how, [how, *(exited.detail.splitlines() if exited else ())])

    def finish(self) -> list[NotebookOutput]:
        """The outputs, their text in one piece each."""
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
        shown = {"data": _data(event.bundle), "metadata": dict(event.metadata)}
        earlier = self._displays.get(event.display_id or "", [])
        if event.update and earlier:
            for output in earlier:
                output.update(shown)
            return
        output = {"output_type": "display_data", **shown}
        self._add(output)
        if event.display_id:
            self._displays.setdefault(event.display_id, []).append(output)

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
