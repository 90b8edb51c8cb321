"""What a case is: an object, how it is made, looked at and changed."""

import msgspec


class Case(msgspec.Struct, frozen=True):
    """One object, which the variable `x` holds.

    `make` is code that binds `x`. `look` is an expression for what it is, with what it shares; it is evaluated once
    before `change`, and once after the way back, so it may itself change the object.
    """

    name: str
    make: str
    look: str
    change: str = "x = None"
    kind: str = ""
    setup: str = ""
