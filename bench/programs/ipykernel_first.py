"""The same through jupyter_client: starts a kernel, waits until it is ready, prints a result, ends the kernel."""

import anyio

from bench.subjects.ipykernel_subject import IpykernelSubject


async def _main() -> None:
    subject = IpykernelSubject()
    await subject.start()
    print(await subject.evaluate("1+1"), flush=True)
    await subject.stop()


anyio.run(_main)
