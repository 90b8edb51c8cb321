"""What the local gateway answers: Jupyter's own addresses, a few of ours, and to whom it answers at all.

Every request needs the token, in its header, and has to be meant for this address: a name that somebody else gave to
127.0.0.1, or a web page, gets nothing. Kernel Gateway loads this module as its personality.
"""

from __future__ import annotations

import hmac
import inspect
import json
import os
import time
from typing import Any

from jupyter_client.jsonutil import json_default
from jupyter_client.kernelspec import NoSuchKernel
from jupyter_server.services.kernels.connection.base import serialize_msg_to_ws_v1
from kernel_gateway.auth.identity import GatewayIdentityProvider
from kernel_gateway.jupyter_websocket import JupyterWebsocketPersonality
from kernel_gateway.services.kernels.handlers import KernelHandler, MainKernelHandler
from tornado import web
from tornado.routing import Matcher, Rule
from tornado.websocket import WebSocketHandler

from .gateway_quick import ConnectionBase

_V1 = "v1.kernel.websocket.jupyter.org"
_KERNEL = r"/pisces/kernels/(?P<kernel_id>\w+-\w+-\w+-\w+-\w+)"


class Refused(Matcher):
    """Matches what gets no answer; notes when the last request that got one came, and over which connections."""

    def __init__(self, token: str, port: int) -> None:
        self._token = f"token {token}".encode()
        self._hosts = {f"{host}:{port}" for host in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}
        self.last_request = time.monotonic()
        self.silent: dict[Any, None] = {}
        """The connections that have not shown the token, the oldest first; some may be closed."""

    def match(self, request: Any) -> dict[str, Any] | None:
        headers = request.headers
        origins = headers.get_list("Origin") + headers.get_list("Sec-Websocket-Origin")
        if headers.get("Host", "").lower() not in self._hosts or not {*origins} <= self._origins:
            return {"target_kwargs": {"status": 403, "reason": "Foreign host or origin"}}
        if not hmac.compare_digest(headers.get("Authorization", "").encode(), self._token):
            return {"target_kwargs": {"status": 401, "reason": "Unauthorized"}}
        self.last_request = time.monotonic()
        self.silent.pop(request.connection.stream, None)
        return None


class RefusingHandler(web.RequestHandler):
    """The answer to a request that gets none."""

    def initialize(self, status: int, reason: str) -> None:
        self._refusal = (status, reason)

    def prepare(self) -> None:
        status, reason = self._refusal
        self.set_status(status, reason)
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps({"reason": reason, "message": ""}))


def guard(application: web.Application, refused: Refused) -> None:
    """Have every request looked at before anything else does."""
    application.add_handlers(".*", [Rule(refused, RefusingHandler)])


class CreatingHandler(MainKernelHandler):  # type: ignore[misc]  # untyped
    """Makes kernels; for ours, in their own folder and environment, and owned from their first moment."""

    _left = False

    def on_connection_close(self) -> None:
        self._left = True
        super().on_connection_close()

    async def post(self) -> None:
        model = self.get_json_body() or {}
        ours = model.get("pisces")
        if ours is None:
            await super().post()
            return
        kernels = self.kernel_manager
        name = model.get("name") or kernels.default_kernel_name
        try:
            kernel_id = await kernels.start_kernel(
                kernel_name=name, kernel_id=model.get("kernel_id"), cwd=_folder(ours["cwd"]), env=dict(ours["env"])
            )
        except NoSuchKernel:
            raise web.HTTPError(400, f"There is no kernelspec {name}") from None
        except (KeyError, TypeError, ValueError) as error:
            raise web.HTTPError(400, f"{type(error).__name__}: {error}".replace("%", "%%")) from error
        kernels.own(kernel_id, ours.get("owner"))
        if self._left:  # Nobody would ever learn its id.
            await kernels.shutdown_kernel(kernel_id, now=True)
            return
        self.set_status(201)
        self.finish(json.dumps(kernels.kernel_model(kernel_id), default=json_default))


def _folder(wanted: str) -> str:
    """Where to begin; a folder that has gone does not keep a kernel from starting."""
    return wanted if os.path.isdir(wanted) else "/"


class EndingHandler(KernelHandler):  # type: ignore[misc]  # untyped
    """Ends kernels, with `?now=1` at once."""

    async def delete(self, kernel_id: str) -> None:
        if self.get_argument("now", "") != "1":
            await super().delete(kernel_id)
            return
        await self.kernel_manager.shutdown_kernel(kernel_id, now=True)
        self.set_status(204)
        self.finish()


class OwnerHandler(web.RequestHandler):
    """Whose process a kernel ends with: `{"pid": …, "started": …}`, or `null` for nobody's."""

    def post(self, kernel_id: str) -> None:
        kernels = self.settings["kernel_manager"]
        if kernel_id not in kernels:
            raise web.HTTPError(404)
        kernels.own(kernel_id, json.loads(self.request.body))
        self.set_status(204)


class ExitHandler(web.RequestHandler):
    """How a kernel that died did: `{"code": …}` or `{"signal": …}`, and `detail` if it said where."""

    def get(self, kernel_id: str) -> None:
        end = self.settings["kernel_manager"].end_of(kernel_id)
        if end is None:
            raise web.HTTPError(404)
        self.finish(end)


class Nobody(GatewayIdentityProvider):  # type: ignore[misc]  # untyped
    """Whoever has the token is one and the same: no names, and no cookies to remember them by."""

    def get_user(self, handler: web.RequestHandler) -> Any:
        return self.generate_anonymous_user(handler)


class Connection(ConnectionBase):  # type: ignore[misc]  # untyped
    """One client's websocket to one kernel; when that has died, it tells how."""

    def _send_status_message(self, status: str) -> None:
        end = self.multi_kernel_manager.end_of(self.kernel_id)
        if status != "dead" or end is None:
            super()._send_status_message(status)
            return
        iopub = self.channels.get("iopub")
        if iopub is not None and not iopub.closed():
            iopub.flush()  # What it said before it died comes first.
        message = self.session.msg("status", {"execution_state": status, "pisces_exit": end})
        if self.subprotocol == _V1:
            self.write_message(serialize_msg_to_ws_v1(message, "iopub", self.session.pack), binary=True)
        else:
            self.write_message(json.dumps({**message, "channel": "iopub"}, default=json_default))


class _WithoutDelay:
    """A websocket whose small messages are sent at once; otherwise each would wait for the last to be acknowledged."""

    async def open(self, *arguments: Any, **options: Any) -> None:
        self.set_nodelay(True)  # type: ignore[attr-defined]  # a websocket handler has it
        opened = super().open(*arguments, **options)  # type: ignore[misc]  # and this
        if inspect.isawaitable(opened):
            await opened


class Personality(JupyterWebsocketPersonality):  # type: ignore[misc]  # untyped
    """Kernel Gateway's usual one, with our handlers in the place of some of its own."""

    def create_request_handlers(self) -> list[Any]:
        ours = [(_KERNEL + "/owner", OwnerHandler), (_KERNEL + "/exit", ExitHandler)]
        return ours + [(path, _improved(kind), *rest) for path, kind, *rest in super().create_request_handlers()]


def _improved(kind: type) -> type:
    for better in (CreatingHandler, EndingHandler):
        if better.__base__ is kind:
            return better
    return type(kind.__name__, (_WithoutDelay, kind), {}) if issubclass(kind, WebSocketHandler) else kind


def create_personality(*arguments: Any, **options: Any) -> Personality:
    """What Kernel Gateway asks of a module that is a personality."""
    return Personality(*arguments, **options)
