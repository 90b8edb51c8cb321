"""What a terminal sends, made safe for the toolkit that reads it as keys: pasted text is text, whatever is in it."""

import codecs
from typing import Final

BEGIN: Final = "\x1b[200~"
END: Final = "\x1b[201~"


class TerminalInput:
    """Bytes in, text out.

    Bytes that are no UTF-8 become signs that say so. In what is pasted an escape character begins no key: most
    terminals take it out, and in those that do not a text from elsewhere could press keys here.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pasting = False
        self._seen = ""
        """Outside a paste, what was passed on last and may have begun its mark; in it, what is held back for that."""

    def feed(self, data: bytes) -> str:
        """What is to be read as keys and pasted text."""
        text, passed_on = self._decoder.decode(data), ""
        while text:
            pasting = self._pasting
            now, text = self._pasted(text) if pasting else self._typed(text)
            passed_on += now
        return passed_on

    def _typed(self, text: str) -> tuple[str, str]:
        """What is passed on as it is, at once, since a key waits for nothing; and the rest, which is pasted."""
        known, joined = len(self._seen), self._seen + text
        begins = joined.find(BEGIN)
        if begins < 0:
            self._seen = joined[1 - len(BEGIN) :]
            return text, ""
        end = begins + len(BEGIN)
        self._pasting, self._seen = True, ""
        return joined[known:end], joined[end:]

    def _pasted(self, text: str) -> tuple[str, str]:
        """What is passed on, and the rest, which is typed again."""
        pasted, ends, rest = (self._seen + text).partition(END)
        if ends:
            self._pasting, self._seen = False, ""
        else:
            held = next((n for n in range(len(END) - 1, 0, -1) if pasted.endswith(END[:n])), 0)
            pasted, self._seen = pasted[: len(pasted) - held], pasted[len(pasted) - held :]
        return pasted.replace("\x1b", "") + ends, rest
