"""An agent on Anthropic's SDK, whose Python remembers from call to call.

Without a key it asks a scripted model; with one, `ANTHROPIC_API_KEY=… python anthropic_agent.py "a question"`, a real.

Prints:

    1,229; the largest is 9,973
"""

import asyncio
import os
import sys
from typing import Any

from anthropic import AsyncAnthropic
from scripted_model import scripted_model

from pisces import Runtime
from pisces.tools import Dispatcher


async def ask(client: AsyncAnthropic, question: str) -> str:
    """The agent: the model calls tools until it has an answer."""
    async with client, Runtime() as rt:
        tools, messages = Dispatcher(rt), list[Any]([{"role": "user", "content": question}])
        options: Any = {"model": "claude-sonnet-5-5", "max_tokens": 8192, "tools": tools.schemas("anthropic")}
        while True:
            reply = await client.messages.create(messages=messages, **options)
            messages.append({"role": "assistant", "content": reply.content})
            if not (results := await tools.dispatch_all(reply.content)):
                return "".join(block.text for block in reply.content if block.type == "text")
            messages.append({"role": "user", "content": results})


with scripted_model() as url:
    scripted: Any = {} if os.environ.get("ANTHROPIC_API_KEY") else {"api_key": "none", "base_url": url}
    wanted = " ".join(sys.argv[1:]) or "How many primes are there below 10,000, and which is the largest?"
    print(asyncio.run(ask(AsyncAnthropic(**scripted), wanted)))
