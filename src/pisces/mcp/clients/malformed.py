"""A text that an editor cannot work on, and where in it the reason is."""


class Malformed(Exception):
    """What is wrong, as a part of a sentence, and at which character of the text. Whoever knows the file tells it."""

    def __init__(self, what: str, text: str, at: int) -> None:
        before = text[:at].replace("\r\n", "\n").replace("\r", "\n")
        self.what = what
        self.line = before.count("\n") + 1
        self.column = len(before) - (before.rfind("\n") + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {what}")
