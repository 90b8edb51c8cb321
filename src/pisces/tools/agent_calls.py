"""Calls and results in the words of each API: told apart by their form, so that no SDK is needed here."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from pisces.errors import InvalidCall
from pisces.model.results import ImageBlock, TextBlock, ToolResult
from pisces.tools.agent_schemas import Kind

_NOTHING: Final = "(nothing)"
"""Stands for an empty text, which APIs refuse."""
_PICTURES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What models can look at."""
_SHOWN: Final = 200


class AgentCall(msgspec.Struct, frozen=True):
    """A call that a model asks for."""

    kind: Kind
    id: str
    """By this the model knows the answer; MCP has none, because there a reply belongs to its request."""
    name: str
    given: Any
    """An object, or the text of one, as the model wrote it: it may be neither."""

    def params(self) -> Mapping[str, Any]:
        """What the tool is called with. Raises `InvalidCall` when that is no object."""
        given = self.given
        if isinstance(given, str):
            try:
                given = msgspec.json.decode(given) if given.strip() else {}
            except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
                raise InvalidCall(f"The arguments are no JSON ({error}): {_short(self.given)}") from None
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise InvalidCall(f"The arguments must be a JSON object, got {_short(given)}")
        return given


def read_call(item: Any) -> AgentCall | None:
    """The call that an item of a model's answer is; None for an item of another kind, as text and reasoning are."""
    kind = _of(item, "type")
    if kind == "tool_use":
        return _call("anthropic", _of(item, "id"), item, "input")
    if kind == "function_call":
        return _call("openai", _of(item, "call_id"), item, "arguments")
    function = _of(item, "function")
    if function is not None and kind in ("function", None):
        return _call("openai-chat", _of(item, "id"), function, "arguments")
    if kind is None and isinstance(_of(item, "name"), str) and _of(item, "role") is None:
        return _call("mcp", "", item, "arguments")
    return None


def answer(call: AgentCall, result: ToolResult) -> dict[str, Any]:
    """The result as the API takes it that the call came from: plain data of JSON types."""
    return _ANSWERS[call.kind](call, result)


def _anthropic(call: AgentCall, result: ToolResult) -> dict[str, Any]:
    content = _blocks(result, lambda text: {"type": "text", "text": text}, _base64_source)
    return {"type": "tool_result", "tool_use_id": call.id, "content": content, "is_error": result.is_error}


def _openai(call: AgentCall, result: ToolResult) -> dict[str, Any]:
    parts = _blocks(result, lambda text: {"type": "input_text", "text": text}, _input_image)
    texts = [part["text"] for part in parts if "text" in part]
    output = "\n\n".join(texts) if len(texts) == len(parts) else parts
    return {"type": "function_call_output", "call_id": call.id, "output": output}


def _openai_chat(call: AgentCall, result: ToolResult) -> dict[str, Any]:
    texts = _blocks(result, lambda text: text, lambda image: f"[{image.mime_type} is not shown: this API takes text]")
    return {"role": "tool", "tool_call_id": call.id, "content": "\n\n".join(texts)}


def _mcp(result: ToolResult) -> dict[str, Any]:
    content = _blocks(result, lambda text: {"type": "text", "text": text}, _mcp_image)
    return {"content": content, "isError": result.is_error}


_ANSWERS: Final[Mapping[Kind, Callable[[AgentCall, ToolResult], dict[str, Any]]]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai-chat": _openai_chat,
    "mcp": lambda _, result: _mcp(result),
}


def _blocks(result: ToolResult, of_text: Callable[[str], Any], of_image: Callable[[ImageBlock], Any]) -> list[Any]:
    """The content in an API's words; there is always something, and never an empty text."""
    blocks: list[Any] = []
    for block in result.content:
        if isinstance(block, TextBlock):
            if block.text.strip():
                blocks.append(of_text(_sendable(block.text)))
        elif block.mime_type in _PICTURES:
            blocks.append(of_image(block))
        else:
            blocks.append(of_text(f"[{_sendable(block.mime_type)} cannot be shown to a model]"))
    return blocks or [of_text(_NOTHING)]


def _base64_source(image: ImageBlock) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": image.mime_type, "data": image.data}}


def _input_image(image: ImageBlock) -> dict[str, Any]:
    return {"type": "input_image", "detail": "auto", "image_url": f"data:{image.mime_type};base64,{image.data}"}


def _mcp_image(image: ImageBlock) -> dict[str, Any]:
    return {"type": "image", "data": image.data, "mimeType": image.mime_type}


def _call(kind: Kind, given_id: Any, item: Any, params: str) -> AgentCall:
    name = _of(item, "name")
    if not isinstance(given_id, str) or not isinstance(name, str):
        raise InvalidCall(f"A call needs a name and an id, got {_short(item)}")
    return AgentCall(kind, given_id, name, _of(item, params))


def _of(item: Any, name: str) -> Any:
    """A field of an object of an SDK, or of the dictionary it was made from; None if it has none."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _sendable(text: str) -> str:
    """Without halves of characters (lone surrogates), which no request in UTF-8 can have."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
