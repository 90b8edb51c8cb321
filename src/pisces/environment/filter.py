"""Which variables of the user's environment a kernel may see. `docs/reference/environment.md` has the rule and why.

What is denied is decided first, then what is allowed; the rest stays outside. Addresses lose their login unless the
variable was allowed by name. Where a variable that keeps programs from asking questions is not set, it is set here.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from pisces.environment.secret_names import has_denied_ending, is_never_passed
from pisces.errors import SettingsError
from pisces.settings.load import VARIABLE_PREFIX

_PLAIN: Final = """
    PATH HOME USER LOGNAME SHELL LANG TERM TERM_PROGRAM TERM_PROGRAM_VERSION TMPDIR TEMP TMP TZ
    SSH_AUTH_SOCK SSH_AGENT_PID CONDA_PREFIX CONDA_DEFAULT_ENV VIRTUAL_ENV PYTHONPATH
    LD_LIBRARY_PATH DYLD_LIBRARY_PATH CUDA_VISIBLE_DEVICES DISPLAY WAYLAND_DISPLAY
"""
_PROXIES: Final = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY"})
_CA: Final = """
    NO_PROXY
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT GIT_SSL_CAINFO AWS_CA_BUNDLE
    NODE_EXTRA_CA_CERTS NIX_SSL_CERT_FILE
"""
_WINDOWS: Final = """
    SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS USERPROFILE USERNAME USERDOMAIN COMPUTERNAME
    HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432
    COMMONPROGRAMFILES COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432 ALLUSERSPROFILE PUBLIC
    NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE PROCESSOR_IDENTIFIER PSMODULEPATH
"""

ALLOWED_NAMES: Final = (
    frozenset(_PLAIN.split())
    | frozenset(_WINDOWS.split())
    | frozenset(spelled for name in (*_PROXIES, *_CA.split()) for spelled in (name, name.lower()))
)
ALLOWED_PREFIXES: Final = ("LC_", "XDG_", "PI_")
_URL_LOGIN: Final = re.compile(r"(?<=://)[^/?#\s]*@")

PLAIN_MPLBACKEND: Final = "Agg"
"""Draws figures for whoever shows them."""

NON_INTERACTIVE: Final[Mapping[str, str]] = {
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "PIP_NO_INPUT": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONUNBUFFERED": "1",
    "MPLBACKEND": PLAIN_MPLBACKEND,
}
"""Nobody can answer a pager, an editor or a prompt in a kernel; figures are drawn, and shown by the guest."""


def filter_environment(environ: Mapping[str, str], allow_names: Iterable[str] = ()) -> dict[str, str]:
    """The part of `environ` that a kernel may see, with the non-interactive defaults where the user set none.

    `allow_names` is `python.env.allow`. Raises `SettingsError` when it names a variable that never passes, because
    leaving it out in silence would look like a bug of the user's code.
    """
    allowed = frozenset(allow_names)
    for name in sorted(allowed):
        if is_never_passed(name):
            raise SettingsError(
                f"`python.env.allow` names {name}, which never reaches a kernel: it is a key of the agent itself.",
                hint="Take it out. Code that needs a key of its own can have it under another name, allowed here.",
            )
    seen = {
        name: value if name in allowed else _without_login(name, value)
        for name, value in environ.items()
        if _passes(name, allowed)
    }
    return {**NON_INTERACTIVE, **seen}


def _passes(name: str, allowed: frozenset[str]) -> bool:
    if is_never_passed(name) or name.startswith(VARIABLE_PREFIX):
        return False
    if name in allowed:
        return True
    if has_denied_ending(name):
        return False
    return name in ALLOWED_NAMES or name in NON_INTERACTIVE or name.startswith(ALLOWED_PREFIXES)


def _without_login(name: str, value: str) -> str:
    """The value without the user and password of any address in it."""
    if "@" not in value:
        return value
    if name.upper() in _PROXIES:
        # Programs also take `user:password@host:port`, passwords that are not quoted, and lists. Rather remove too much
        # than too little.
        scheme, separator, _ = value.partition("://")
        kept = scheme + separator if separator and "@" not in scheme else ""
        return kept + value.rpartition("@")[2]
    return _URL_LOGIN.sub("", value)
