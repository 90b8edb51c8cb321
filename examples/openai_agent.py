"""An agent on OpenAI's SDK, whose Python remembers from call to call.

Without a key it asks a scripted model; with one, `OPENAI_API_KEY=… python openai_agent.py "a question"`, a real one.

Prints:

    1,229; the largest is 9,973
"""

import asyncio
import os
import sys
from typing import Any

from openai import AsyncOpenAI
from scripted_model import scripted_model

from pisces import Runtime
from pisces.tools import Dispatcher


async def ask(client: AsyncOpenAI, question: str) -> str:
    """The agent: the model calls tools until it has an answer."""
    async with client, Runtime() as rt:
        tools, said = Dispatcher(rt), list[Any]([{"role": "user", "content": question}])
        options: Any = {"model": "gpt-5.5", "tools": tools.schemas("openai")}
        while True:
            reply = await client.responses.create(input=said, **options)
            said += reply.output
            if not (results := await tools.dispatch_all(reply.output)):
                return str(reply.output_text)
            said += results


with scripted_model() as url:
    scripted: Any = {} if os.environ.get("OPENAI_API_KEY") else {"api_key": "none", "base_url": url}
    wanted = " ".join(sys.argv[1:]) or "How many primes are there below 10,000, and which is the largest?"
    print(asyncio.run(ask(AsyncOpenAI(**scripted), wanted)))
