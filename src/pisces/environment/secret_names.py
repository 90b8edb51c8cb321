"""Which environment variables hold secrets, by their names."""

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

OWN_TOKENS: Final = frozenset({"PI_PYTHON_GATEWAY_TOKEN", "PI_TOOL_BRIDGE_TOKEN"})
"""What lets a process act in the name of Pisces; a kernel gets the one it needs by injection, never from outside."""

DENIED_ENDINGS: Final = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")

_SECRET_ENDINGS: Final = ("_KEY", "APIKEY", "_AUTH", "AUTHORIZATION", "CREDENTIALS", "COOKIE", "_PWD", "_PAT", "_DSN")
_SECRET_PARTS: Final = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE")


def is_never_passed(name: str) -> bool:
    """Whether no setting lets this variable reach a kernel."""
    return name.upper() in PROVIDER_KEYS or name.upper() in OWN_TOKENS


def has_denied_ending(name: str) -> bool:
    """Whether the variable must be allowed by name before a kernel sees it."""
    return name.upper().endswith(DENIED_ENDINGS)


def looks_secret(name: str) -> bool:
    """Whether the value should not be written anywhere: a wider net than what is denied, because masking is cheap."""
    upper = name.upper()
    return is_never_passed(upper) or upper.endswith(_SECRET_ENDINGS) or any(part in upper for part in _SECRET_PARTS)
