"""The REST interface of a Jupyter server: kernelspecs, and the life of kernels. Every answer is checked here, once."""

import asyncio
import logging
import ssl
from collections.abc import Mapping
from typing import Any, Final, TypeVar
from urllib.parse import quote

import anyio
import httpx2
import msgspec

from pisces.errors import DeadlineExceeded
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.failure import GatewayError, reason_of
from pisces.kernels.gateway.models import KernelModel, Kernelspecs, KernelWish, said_in

_log = logging.getLogger(__name__)
_ipc = logging.getLogger("pisces.ipc")
"""Every request, for `PI_PYTHON_IPC_TRACE`; who listens masks the secrets, and headers are not written at all."""

_T = TypeVar("_T")

CHECK_CAP: Final = 5.0
_ASK_CAP: Final = 10.0
_CREATE_CAP: Final = 600.0
"""A cluster may have to fetch an image first; the call's deadline is what bounds this as a rule."""
_DELETE_CAP: Final = 20.0
_DELETE_PAUSE: Final = 0.1
_ERRAND_CAP: Final = 3.0
_BODY_LIMIT: Final = 8 << 20
_GONE: Final = (404, 410)
_REFUSED: Final = (401, 403)


class Answer(msgspec.Struct, frozen=True):
    """What a server answered."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class GatewayRest:
    """One server. It can be shared by tasks; `aclose` ends it."""

    def __init__(self, url: str, token: str = "", *, label: str = "") -> None:
        """`url` may have a path, as on a hub; `label` is how messages name the server."""
        self.url = url.rstrip("/")
        self.label = label or f"Gateway at {self.url}"
        self._token = token
        self._http: httpx2.AsyncClient | None = None
        self._cookies: httpx2.Cookies | None = None
        """Those that the server had set when connections were closed."""
        self._ssl: ssl.SSLContext | None = None
        self._creating = anyio.Lock()
        self._errands: set[asyncio.Task[Any]] = set()
        self._under_way = 0
        """How many requests wait for their answer."""

    async def check(self, deadline: Deadline) -> Kernelspecs:
        """See whether the server answers, and what it offers. Raises `GatewayError`."""
        answer = await self.request("GET", "/api/kernelspecs", deadline, cap=CHECK_CAP)
        if answer.status in _REFUSED or _is_login(answer):
            raise GatewayError(
                f"{self.label} requires authentication. Set PI_PYTHON_GATEWAY_TOKEN.",
                status=answer.status,
                hint="The token that is set, if any, was not accepted.",
            )
        return self._read(answer, Kernelspecs)

    async def create(self, wish: KernelWish, deadline: Deadline) -> KernelModel:
        """Have a kernel started, one at a time. Raises `GatewayError` or `DeadlineExceeded`.

        The request goes on when nobody waits for it any more, so that a kernel which comes up late is ended.
        """
        asked = [wish]
        given_up = asyncio.Event()
        post = self._errand(self._post(asked, given_up))
        model: KernelModel | None = None
        try:
            with deadline.scope():
                await asyncio.wait({post})
                model = post.result()
                return model
        finally:
            if model is None:
                given_up.set()
                self._errand(self._undo(asked, post))
        raise DeadlineExceeded(f"{self.label} did not start a kernel within {deadline.seconds:g} seconds")

    async def _post(self, asked: "list[KernelWish]", given_up: asyncio.Event) -> KernelModel:
        async with self._creating:
            answer = await self._post_once(asked[-1])
            if answer.status >= 500 and not given_up.is_set():
                _log.info("%s answered %s to a new kernel; once more", self.label, answer.status)
                # Under another id: what the first try has left in a cluster would be in the way of the second.
                asked.append(asked[-1].again())
                answer = await self._post_once(asked[-1])
        return self._read(answer, KernelModel)

    async def _post_once(self, wish: KernelWish) -> Answer:
        deadline = Deadline.after(_CREATE_CAP)
        return await self.request("POST", "/api/kernels", deadline, cap=_CREATE_CAP, body=wish.body())

    async def _undo(self, asked: "list[KernelWish]", post: "asyncio.Task[KernelModel]") -> None:
        """End what a request that failed, or that nobody waited for, may have started."""
        await asyncio.wait({post})
        error = post.exception()
        if isinstance(error, GatewayError) and error.status is not None:
            return  # The server has said that there is none.
        await self._delete_for_good(post.result().id if error is None else asked[-1].kernel_id)

    def _errand(self, work: Any) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self._errands.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._errands.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.debug("%s: %s", self.label, task.exception())

    async def find(self, kernel_id: str, deadline: Deadline) -> KernelModel | None:
        """The kernel as the server sees it; None if there is none any more. Raises `GatewayError`."""
        answer = await self.request("GET", _kernel(kernel_id), deadline)
        return None if answer.status in _GONE else self._read(answer, KernelModel)

    async def list(self, deadline: Deadline) -> tuple[KernelModel, ...]:
        """All kernels of the server, which may refuse to tell. Raises `GatewayError`."""
        return self._read(await self.request("GET", "/api/kernels", deadline), tuple[KernelModel, ...])

    async def delete(self, kernel_id: str, deadline: Deadline, *, at_once: bool = False) -> None:
        """End a kernel; one that is gone already will do. Raises `GatewayError` or `DeadlineExceeded`.

        Our own gateway kills it when it is to end `at_once`; others know no difference.
        """
        path = _kernel(kernel_id) + ("?now=1" if at_once else "")
        while True:
            answer = await self.request("DELETE", path, deadline, cap=_DELETE_CAP)
            if answer.status in _GONE:
                return
            if answer.status < 500 or deadline.remaining() < _DELETE_PAUSE:
                self._expect_success(answer)
                return
            # Jupyter Server cannot end a kernel while it restarts it.
            await anyio.sleep(_DELETE_PAUSE)

    async def remove(self, kernel_id: str, *, within: float, at_once: bool = False) -> None:
        """End a kernel, and wait for that at most so long: it goes on when nobody waits for it any more."""
        errand = self._errand(self._delete_for_good(kernel_id, at_once=at_once))
        with anyio.move_on_after(within):
            await asyncio.wait({errand})

    async def _delete_for_good(self, kernel_id: str, *, at_once: bool = False) -> None:
        try:
            await self.delete(kernel_id, Deadline.after(_DELETE_CAP), at_once=at_once)
        except (GatewayError, DeadlineExceeded) as failure:
            _log.warning("the kernel %s may be left behind: %s", kernel_id, failure)

    async def interrupt(self, kernel_id: str, deadline: Deadline) -> None:
        """Interrupt a kernel. Raises `GatewayError`."""
        self._expect_success(await self.request("POST", f"{_kernel(kernel_id)}/interrupt", deadline, body={}))

    async def request(
        self, method: str, path: str, deadline: Deadline, *, cap: float = _ASK_CAP, body: Any = None
    ) -> Answer:
        """Ask for something below the server's address. Raises `GatewayError` or `DeadlineExceeded`."""
        try:
            with deadline.scope(cap):
                answer = await self._send(method, path, body)
                _ipc.debug("gateway: %s %s: %s %s", method, path, answer.status, answer.body[:2000])
                return answer
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            _ipc.debug("gateway: %s %s: %r", method, path, error)
            raise GatewayError(f"{self.label} is not reachable: {reason_of(error)}") from error
        if deadline.expired:
            raise DeadlineExceeded(f"{self.label} did not answer within {deadline.seconds:g} seconds")
        raise GatewayError(f"{self.label} is not reachable (timeout)")

    async def _send(self, method: str, path: str, body: Any) -> Answer:
        content = None if body is None else msgspec.json.encode(body)
        self._under_way += 1
        try:
            async with self._client().stream(method, self.url + path, content=content) as response:
                pieces = bytearray()
                async for piece in response.aiter_bytes():
                    pieces += piece
                    if len(pieces) > _BODY_LIMIT:
                        raise GatewayError(f"{self.label} answers with more than {_BODY_LIMIT >> 20} MiB")
                return Answer(response.status_code, bytes(pieces), response.headers)
        finally:
            self._under_way -= 1

    def _read(self, answer: Answer, kind: type[_T]) -> _T:
        self._expect_success(answer)
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except msgspec.DecodeError as error:
            raise GatewayError(
                f"{self.label} does not answer as a Jupyter server does: {error}",
                status=answer.status,
                hint="Check that the URL is that of the server itself, with its base path if it has one.",
            ) from None

    def _expect_success(self, answer: Answer) -> None:
        if not 200 <= answer.status < 300:
            message = f"{self.label} returned status {answer.status}"
            raise GatewayError(message, status=answer.status, said=said_in(answer.body))

    def websocket_headers(self) -> dict[str, str]:
        """What the handshake of a websocket to this server needs, besides its own."""
        request = self._client().build_request("GET", self.url)
        return {name: request.headers[name] for name in ("authorization", "cookie") if name in request.headers}

    def channels_url(self, kernel_id: str, client: str) -> str:
        """Where the messages of a kernel are, for this client."""
        return f"ws{self.url.removeprefix('http')}{_kernel(kernel_id)}/channels?session_id={quote(client)}"

    @property
    def tls(self) -> ssl.SSLContext | None:
        """How to be sure of the server; None when it is not asked for."""
        if self.url.startswith("https:") and self._ssl is None:
            self._ssl = httpx2.create_ssl_context()
        return self._ssl

    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            if self._token:
                headers["Authorization"] = f"token {self._token}"
            # Time is the deadline's affair. Without TLS no certificates are loaded, which takes longer than a request.
            verify = self.tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self._http = httpx2.AsyncClient(
                headers=headers, cookies=self._cookies, verify=verify, trust_env=False, timeout=None
            )
        return self._http

    async def close_idle(self) -> None:
        """Close the connections that are kept for later requests; the next one makes its own."""
        if self._http is not None and not self._under_way:
            idle, self._cookies = self._http, self._http.cookies
            self._http = None
            await idle.aclose()

    async def aclose(self) -> None:
        """End what is still under way, and the connections."""
        with anyio.CancelScope(shield=True):
            if self._errands:
                await asyncio.wait(self._errands, timeout=_ERRAND_CAP)
            if self._http is not None:
                await self._http.aclose()


def _kernel(kernel_id: str) -> str:
    return f"/api/kernels/{quote(kernel_id, safe='')}"


def _is_login(answer: Answer) -> bool:
    """Whether it sends a person to a page where one logs in."""
    return 300 <= answer.status < 400 and "login" in answer.headers.get("location", "")
