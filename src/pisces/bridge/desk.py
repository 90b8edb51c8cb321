"""What a request is answered with: who may ask, what there is to ask for, and what comes of it. It knows no sockets."""

import msgspec

from pisces.bridge.lease import FINISHED, Caller, Callers, ToolCall
from pisces.bridge.wire import Answer, Reply, parse_request

CALL = ("POST", "/v1/tool")
LIST = ("GET", "/v1/tools")
_SCHEME = "bearer "


class Head(msgspec.Struct, frozen=True):
    """What a request says before its body. Names of headers are in small letters."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    @property
    def what(self) -> tuple[str, str]:
        """What it asks for. A query is not read: a token in it, where logs would have it, counts for nothing."""
        return self.method, self.target.partition("?")[0]

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for known, value in self.headers if known == name]


class Desk:
    """Answers for the sessions of one bridge."""

    def __init__(self, callers: Callers) -> None:
        self.hosts: set[str] = set()
        """The names by which requests may call us. By any other, it is a web page whose own name leads here."""
        self._callers = callers

    def caller(self, head: Head) -> Caller | Reply:
        """Who asks; or why that is refused, before anything of the body is read."""
        hosts = head.all("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return Reply.refusal(403, "This is no name of the tool bridge: use the address in PI_TOOL_BRIDGE_URL")
        if head.all("origin"):
            return Reply.refusal(403, "Web pages may not call tools")
        if head.what not in (CALL, LIST):
            return Reply.refusal(404, f"There is only {' '.join(CALL)} and {' '.join(LIST)}")
        caller = self._callers.with_token(_token(head))
        if caller is None:
            return Reply.refusal(403, "The token is missing or wrong: send it as `Authorization: Bearer`")
        return caller

    async def answer(self, head: Head, caller: Caller, body: bytes, call: ToolCall) -> Reply:
        """What this caller gets for this body."""
        if head.what == LIST:
            return Reply.listing(caller.listed())
        try:
            request = parse_request(body)
        except ValueError as error:
            return Reply.refusal(400, str(error))
        if request.session != caller.id:
            return Reply.refusal(403, "The token is that of another session")
        lease = caller.lease_of(request.run)
        if lease is None:
            return Reply.of(Answer(error=FINISHED))
        return Reply.of(await lease.carry_out(call, request.name, request.args))


def _token(head: Head) -> str:
    given = head.all("authorization")
    if len(given) != 1 or not given[0].lower().startswith(_SCHEME):
        return ""
    return given[0][len(_SCHEME) :].strip()
