"""Which environment variables hold secrets, by their names."""

from collections.abc import MutableMapping
from typing import Final

_KEYS_OF: Final = """
    AI21 AI_GATEWAY ALEPH_ALPHA ANTHROPIC ANYSCALE ARCEE AZURE_OPENAI BASETEN CEREBRAS CHUTES CLAUDE CO COHERE
    DASHSCOPE DEEPINFRA DEEPSEEK ELEVENLABS FIREWORKS GEMINI GLM GOOGLE GOOGLE_GENERATIVE_AI GROK GROQ
    HYPERBOLIC INCEPTION KIMI LITELLM MINIMAX MISTRAL MOONSHOT NEBIUS NOVITA NVIDIA NVIDIA_NIM OLLAMA OPENAI
    OPENCODE OPENROUTER PERPLEXITY PPLX QWEN REPLICATE SAMBANOVA SILICONFLOW STABILITY SYNTHETIC TOGETHER
    TOGETHERAI UPSTAGE VENICE VERCEL_AI_GATEWAY VERTEX VOYAGE WATSONX XAI ZAI ZHIPU ZHIPUAI
"""

PROVIDER_KEYS: Final = frozenset(f"{provider}_API_KEY" for provider in _KEYS_OF.split()) | {
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_OAUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "COPILOT_GITHUB_TOKEN",
    "GITHUB_COPILOT_TOKEN",
    "OPENAI_ADMIN_KEY",
    "OPENAI_KEY",
    "REPLICATE_API_TOKEN",
    "WATSONX_APIKEY",
}
"""What pays for the agent's own model. Keys that people also need for data (HF_TOKEN) go by their ending instead."""

OWN_TOKENS: Final = frozenset({"PI_PYTHON_GATEWAY_TOKEN", "PI_TOOL_BRIDGE_TOKEN", "PISCES_MCP_TOKEN"})
"""What lets a process act in the name of Pisces; a kernel gets the one it needs by injection, never from outside."""

SECRET_ENDINGS: Final = (
    *("_KEY", "_KEYS", "APIKEY", "TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "_PASS", "_PWD"),
    *("_DSN", "CREDENTIAL", "CREDENTIALS", "_CREDS", "_AUTH", "AUTHORIZATION", "_PAT", "COOKIE"),
)
_SECRET_PARTS: Final = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE")
_OUR_COOKIES: Final = frozenset({"PI_KERNEL_COOKIE", "PI_COMMAND_COOKIE"})
"""Marks of processes, no secrets. When Pisces runs in a kernel they pass, or the outer one would lose its processes."""


def drop_own_tokens(environ: MutableMapping[str, str]) -> None:
    """Take our tokens out of an environment from which they have been read: no child is to inherit them."""
    for name in OWN_TOKENS:
        environ.pop(name, None)


def is_never_passed(name: str) -> bool:
    """Whether no setting lets this variable reach a kernel."""
    return name.upper() in PROVIDER_KEYS or name.upper() in OWN_TOKENS


def has_denied_ending(name: str) -> bool:
    """Whether the variable must be allowed by name before a kernel sees it."""
    upper = name.upper()
    return upper.endswith(SECRET_ENDINGS) and upper not in _OUR_COOKIES


def looks_secret(name: str) -> bool:
    """Whether the value should not be written anywhere: a wider net than what is denied, because masking is cheap."""
    upper = name.upper()
    return is_never_passed(upper) or upper.endswith(SECRET_ENDINGS) or any(part in upper for part in _SECRET_PARTS)
