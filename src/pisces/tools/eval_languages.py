"""Which kernel runs which language: the Python that is configured, or an installed kernelspec."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from pisces.errors import NoSuchKernel
from pisces.kernels.deadline import Deadline
from pisces.sessions.stop import StopSignal
from pisces.tools.base import Services
from pisces.tools.seat import Seat, find_seat, kernelspec_seat, kernelspecs, named_in

_PYTHON: Final = ("py", "python")


def is_configured_python(language: str) -> bool:
    """Whether this is the Python that the `python` tool runs."""
    return language.lower() in _PYTHON


async def find_seats(
    services: Services, languages: Iterable[str], stop: StopSignal, deadline: Deadline
) -> dict[str, Seat] | None:
    """The seat of each language, by the name it was asked for with; None if the call was stopped first.

    Raises `NoSuchKernel` when one of them is not there, `KernelError` when what a kernel needs is not installed,
    and `InterpreterError`.
    """
    wanted = list(dict.fromkeys(languages))
    chosen: Mapping[str, str] = {}
    if not all(map(is_configured_python, wanted)):
        there = await kernelspecs(services, stop, deadline)
        if there is None:
            return None
        chosen = _choose(wanted, there)
    seats: dict[str, Seat] = {}
    for language in wanted:
        if is_configured_python(language):
            seat = await find_seat(services, None, stop, deadline)
        else:
            seat = await kernelspec_seat(services, chosen[language], stop, deadline)
        if seat is None:
            return None
        seat.terms(services, durable=False)  # What is missing is said before anything has run.
        seats[language] = seat
    return seats


def _choose(wanted: Iterable[str], there: Mapping[str, str]) -> Mapping[str, str]:
    """The kernelspec of each language that is not Python: that of this name, or the first that runs it."""
    chosen: dict[str, str] = {}
    missing: list[str] = []
    for language in wanted:
        if is_configured_python(language):
            continue
        speaking = [name for name in sorted(there) if there[name].lower() == language.lower()]
        name = named_in(there, language) or next(iter(speaking), None)
        if name is None:
            missing.append(repr(language))
        else:
            chosen[language] = name
    if missing:
        languages = "language" if len(missing) == 1 else "languages"
        raise NoSuchKernel(
            f"There is no kernel for the {languages} {', '.join(missing)}. Nothing was run.",
            hint=f"Available: {_listed(there)}.",
        )
    return chosen


def _listed(there: Mapping[str, str]) -> str:
    """What can be asked for, for a reader."""
    names: dict[str, list[str]] = defaultdict(list)
    for name in sorted(there):
        names[there[name] or "an unnamed language"].append(name)
    specs = [
        f"{language} (kernelspec{'s' if len(of_it) > 1 else ''} {', '.join(of_it)})"
        for language, of_it in sorted(names.items())
    ]
    return "; ".join(["py (the configured Python)", *specs])
