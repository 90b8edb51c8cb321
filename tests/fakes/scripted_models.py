"""Language models that follow a script, behind the APIs that agents talk to: a real one needs a key and is never twice
the same. What an agent tells its model is kept, and that is what tests look at.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final, TypeVar

Request = Mapping[str, Any]
PYTHON: Final = "mcp__pisces__python"
_SEARCHES: Final = 20
"""How often the tool is asked for while the agent is still connecting to its server."""
M = TypeVar("M", bound="ScriptedModel")


class ScriptedModel:
    """Calls the tools of the script, one after another, then says that it is done."""

    def __init__(self, script: Sequence[Mapping[str, Any]]) -> None:
        """Each step has the arguments of one call of `python`."""
        self.script = script
        self.requests: list[Request] = []
        self.url = ""

    def heard(self) -> list[Any]:
        """What the model was told of each call, in order."""
        raise NotImplementedError

    def answer(self, request: Request) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The events of an answer, by name."""
        raise NotImplementedError

    def step(self, done: int) -> Mapping[str, Any] | None:
        """What to call after so many calls; None when the script is at its end."""
        return self.script[done] if done < len(self.script) else None


class ScriptedMessages(ScriptedModel):
    """The API that Claude Code talks to. It keeps tools back until its model asks for them, by a tool of its own."""

    def heard(self) -> list[Any]:
        return [block["content"] for block in _results(self.requests[-1], "python_")]

    def answer(self, request: Request) -> Iterator[tuple[str, Mapping[str, Any]]]:
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "content": []}
        usage = {"input_tokens": 1, "output_tokens": 1}
        yield "message_start", {"message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
        call = self._call(request)
        if call is None:
            stop = "end_turn"
            block: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": "done"}
        else:
            number, name, arguments = call
            stop, block = "tool_use", {"type": "tool_use", "id": number, "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        yield "content_block_start", {"index": 0, "content_block": block}
        yield "content_block_delta", {"index": 0, "delta": delta}
        yield "content_block_stop", {"index": 0}
        yield "message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
        yield "message_stop", {}

    def _call(self, request: Request) -> tuple[str, str, Mapping[str, Any]] | None:
        """The id, the tool and the arguments of what is to be called next."""
        names = [tool["name"] for tool in request.get("tools", ())]
        done, asked = len(_results(request, "python_")), _results(request, "search_")
        step = self.step(done)
        known = PYTHON in names or any(PYTHON in json.dumps(block["content"]) for block in asked)
        if step is not None and known:
            return f"python_{done}", PYTHON, step
        if step is not None and "ToolSearch" in names and len(asked) < _SEARCHES:
            return f"search_{len(asked)}", "ToolSearch", {"query": f"select:{PYTHON}"}
        return None


class ScriptedResponses(ScriptedModel):
    """The API that Codex talks to."""

    def heard(self) -> list[Any]:
        return [item["output"] for item in _outputs(self.requests[-1])]

    def answer(self, request: Request) -> Iterator[tuple[str, Mapping[str, Any]]]:
        done = len(list(_outputs(request)))
        step = self.step(done)
        space = next((tool["name"] for tool in request.get("tools", ()) if "pisces" in tool.get("name", "")), None)
        if step is None or space is None:
            text = {"type": "output_text", "text": "done", "annotations": []}
            item = {"type": "message", "id": "m_1", "role": "assistant", "status": "completed", "content": [text]}
        else:
            item = {"type": "function_call", "id": f"fc_{done}", "call_id": f"call_{done}", "status": "completed"}
            item |= {"namespace": space, "name": "python", "arguments": json.dumps(step)}
        response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "scripted", "output": []}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        yield "response.created", {"response": {**response, "status": "in_progress"}}
        yield "response.output_item.done", {"output_index": 0, "item": item}
        yield "response.completed", {"response": {**response, "status": "completed", "output": [item], "usage": usage}}


def _results(request: Request, kind: str) -> list[Mapping[str, Any]]:
    """What came of the calls whose ids begin so."""
    contents = [message["content"] for message in request.get("messages", ()) if isinstance(message["content"], list)]
    blocks = [block for content in contents for block in content if block["type"] == "tool_result"]
    return [block for block in blocks if block["tool_use_id"].startswith(kind)]


def _outputs(request: Request) -> Iterator[Mapping[str, Any]]:
    return (item for item in request.get("input", ()) if item.get("type") == "function_call_output")


@contextmanager
def serving(model: M) -> Iterator[M]:
    """While entered, the model answers at its `url`, on this machine alone."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that it overrides
            """Say nothing: what matters is kept."""

        def do_GET(self) -> None:
            self._send("application/json", b'{"data": [], "models": []}')

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "stream" not in request:
                self._send("application/json", b'{"input_tokens": 1}')
                return
            model.requests.append(request)
            lines = [
                f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in model.answer(request)
            ]
            self._send("text/event-stream", "".join(lines).encode())

        def _send(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
