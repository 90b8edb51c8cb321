"""A model that follows a script, behind the two APIs that the agents here talk to: no key is needed, and no network.

Like the real ones it remembers nothing, and sees in each request what has been said so far. It calls `python` once for
each piece of code, and then repeats what the last call said. A request that the real ones would refuse is refused.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

CODE = (
    "primes = [n for n in range(2, 10_000) if all(n % d for d in range(2, int(n**0.5) + 1))]",
    "print(f'{len(primes):,}; the largest is {primes[-1]:,}')",
)


@contextmanager
def scripted_model() -> Iterator[str]:
    """The address of a server that is there for as long as the block runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        serving = Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            serving.join()


def messages(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as Anthropic's Messages API."""
    assert {"name", "description", "input_schema"} == set(_python(request["tools"])), "a tool has three fields"
    said = [
        block for message in request["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    used = [block["id"] for block in said if block["type"] == "tool_use"]
    results = [block for block in said if block["type"] == "tool_result"]
    assert used == [block["tool_use_id"] for block in results], "each call has one result"
    done = len(results)
    if done < len(CODE):
        call = {"type": "tool_use", "id": f"toolu_{done}", "name": "python", "input": {"code": CODE[done]}}
        content, reason = [{"type": "text", "text": "Let me compute that."}, call], "tool_use"
    else:
        content, reason = [{"type": "text", "text": results[-1]["content"][0]["text"]}], "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    whole = {"id": f"msg_{done}", "type": "message", "role": "assistant", "model": request["model"], "usage": usage}
    return {**whole, "content": content, "stop_reason": reason, "stop_sequence": None}


def responses(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as OpenAI's Responses API."""
    assert _python(request["tools"])["strict"] is False, "parameters can be left out"
    used = [item["call_id"] for item in request["input"] if item.get("type") == "function_call"]
    results = [item for item in request["input"] if item.get("type") == "function_call_output"]
    assert used == [item["call_id"] for item in results], "each call has one result"
    done = len(results)
    item: dict[str, Any]
    if done < len(CODE):
        arguments = json.dumps({"code": CODE[done]})
        item = {"type": "function_call", "call_id": f"call_{done}", "name": "python", "arguments": arguments}
    else:
        text = {"type": "output_text", "text": results[-1]["output"], "annotations": []}
        item = {"type": "message", "role": "assistant", "content": [text]}
    whole = {"id": f"resp_{done}", "object": "response", "created_at": 0, "model": request["model"]}
    choice = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": request["tools"]}
    return {**whole, **choice, "output": [{**item, "id": f"item_{done}", "status": "completed"}], "status": "completed"}


def _python(tools: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = [tool for tool in tools if tool["name"] == "python"]
    return found


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, answer = 200, {}
        try:
            answer = {"/v1/messages": messages, "/responses": responses}[self.path](request)
        except (AssertionError, LookupError, TypeError, ValueError) as error:
            refusal = {"type": "invalid_request_error", "message": f"{type(error).__name__}: {error}"}
            status, answer = 400, {"type": "error", "error": refusal}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name for it
        """Say nothing: the example is what prints."""
