"""Clean one stream of text, chunk by chunk: what a terminal would obey and not show is taken out."""

import re
from typing import Final

SEQUENCE_LIMIT: Final = 4096
"""The longest body of an escape sequence. What never ends is given up here, so that it cannot swallow all output."""

_BLOCK: Final = 65536
"""How much is looked at in one go: the copies of larger texts leave the cache and take twice as long."""

_SHORT: Final = 2048
"""Bytes below which one pass over the text is quicker than many searches."""

_FORBIDDEN: Final = bytes(code for code in (*range(0x20), 0x7F) if code not in b"\t\n\r")
_FORBIDDEN_CHARACTERS: Final = tuple(_FORBIDDEN.decode("ascii"))

_STRING_BODY: Final = rf"[^\x07\x18\x1a\x1b\x9b\x9c\n]{{0,{SEQUENCE_LIMIT}}}"
_CSI_BODY: Final = r"[0-?]{0,256}[ -/]{0,16}"
_STRING: Final = rf"[\]PX^_]{_STRING_BODY}"

# Each sequence ends where it should, or just before the character that cannot belong to it: a newline is never part
# of one. The pattern begins with one set of characters because only then does `re` skip quickly to candidates; a run of
# them is one match, because each match takes longer than many characters.
_CONTROL_SET: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]"
_CONTROL: Final = re.compile(
    rf"{_CONTROL_SET}{_CONTROL_SET}*"
    rf"(?:(?<=\x1b)(?:\[{_CSI_BODY}[@-~]?|{_STRING}(?:\x07|\x9c|\x1b\\)?|[ -/]{{0,16}}[0-~]?)"
    rf"|(?<=\x9b){_CSI_BODY}[@-~]?)?"
)
_UNDECIDED: Final = re.compile(rf"\x1b(?:\[{_CSI_BODY}|{_STRING}|[ -/]{{0,16}})?|\x9b{_CSI_BODY}")
_OPEN_STRING: Final = re.compile(rf"\x1b{_STRING}")
_RETURNS: Final = re.compile(r"\r\r+")


class Sanitizer:
    """Takes escape sequences, control characters and lone surrogates out of one stream, wherever its chunks are cut.

    Tab and newline stay, CRLF becomes a newline, and a carriage return on its own stays for the sink to interpret;
    what comes out never has one just before a newline. Newlines are never lost. Use one object for each stream.
    """

    __slots__ = ("_held", "_returned")

    def __init__(self) -> None:
        self._held = ""
        self._returned = False

    def feed(self, text: str) -> str:
        """The clean text of this chunk; what cannot be decided yet (half a sequence, a final CR) waits for the next."""
        if not self._held and _is_clean(text):
            return text if not self._returned and "\r" not in text else self._fold_returns(text)
        text = self._held + text
        decided = _decided(text)
        self._held = text[decided:]
        return self._fold_returns(_CONTROL.sub("", text[:decided]))

    def finish(self) -> str:
        """What still waited when the stream ended; half a sequence is dropped. The object can then be used afresh."""
        rest = "\r" if self._returned else ""
        self._held, self._returned = "", False
        return rest

    def _fold_returns(self, text: str) -> str:
        if not text:
            return ""
        if self._returned:
            text = "\r" + text
        if "\r\r" in text:
            text = _RETURNS.sub("\r", text)
        text = text.replace("\r\n", "\n")
        self._returned = text.endswith("\r")
        return text[:-1] if self._returned else text


def clean(text: str) -> str:
    """The clean form of a text that is complete in itself: a display, a traceback."""
    sanitizer = Sanitizer()
    return sanitizer.feed(text) + sanitizer.finish()


def _is_clean(text: str) -> bool:
    """Whether nothing but carriage returns needs care.

    For long texts, 29 searches for one character each take 0.3 ns a character, `bytes.translate` 0.6 and `re` 3.
    """
    if len(text) > _BLOCK:
        return all(_is_clean(text[start : start + _BLOCK]) for start in range(0, len(text), _BLOCK))
    if len(text) >= _SHORT and text.isascii():
        return not any(character in text for character in _FORBIDDEN_CHARACTERS)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    # U+0080 to U+009F begin with the byte 0xC2, as do a few harmless characters: those take the longer way.
    return len(data.translate(None, _FORBIDDEN)) == len(data) and (text.isascii() or b"\xc2" not in data)


def _decided(text: str) -> int:
    """Where the sequence begins that the next chunk may still complete, or the end of the text."""
    last = max(text.rfind("\x1b"), text.rfind("\x9b"))
    if last < 0:
        return len(text)
    if text.endswith("\x1b"):  # perhaps the first half of what ends a string
        opening = text.rfind("\x1b", 0, last)
        if opening >= 0 and _OPEN_STRING.fullmatch(text, opening, last):
            return opening
    return last if _UNDECIDED.fullmatch(text, last) else len(text)
