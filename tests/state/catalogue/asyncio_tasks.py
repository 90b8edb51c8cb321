"""asyncio: what belongs to an event loop, and what only looks like it."""

from tests.state.catalogue.entry import OLD_LOOP, Entry, Library

TASKS = Library(
    "standard library: asyncio",
    setup="""
import asyncio

async def value_of(number):
    return number

async def filled_queue():
    queue = asyncio.Queue()
    for number in range(9):
        queue.put_nowait(number)
    return queue

async def made_future():
    return asyncio.get_running_loop().create_future()

async def echo(reader, writer):
    async for line in reader:
        writer.write(line)

async def soon(awaitable):
    try:
        return await asyncio.wait_for(awaitable, 1)
    except TimeoutError:
        return "nothing came"

async def ticking(ticks):
    while True:
        ticks.append(len(ticks))
        await asyncio.sleep(0.01)

async def grown(ticks):
    before = len(ticks)
    await asyncio.sleep(0.2)
    return len(ticks) > before
""",
    entries=(
        Entry("asyncio.Queue", "x = await filled_queue()", "await soon(x.get())"),
        Entry(
            "asyncio.Lock",
            "x = asyncio.Lock(); await x.acquire(); x.release()",
            "(await soon(x.acquire())) and (x.release() or x.locked())",
        ),
        Entry("asyncio.Event", "x = asyncio.Event(); x.set()", "await soon(x.wait())"),
        Entry("asyncio.Semaphore", "x = asyncio.Semaphore(20)", "(await soon(x.acquire()), x._value)"),
        Entry("asyncio.Task (done)", "x = asyncio.ensure_future(value_of(5)); await x", "x.result()"),
        Entry("asyncio.Future (done)", "x = await made_future(); x.set_result(3)", "x.result()"),
        Entry("coroutine (not awaited)", "x = [value_of(number) for number in range(4)]", "await x.pop()"),
        Entry(
            "asyncio.Task (pending)",
            "ticks = []; x = (asyncio.ensure_future(ticking(ticks)), ticks)",
            "await grown(x[1])",
            "not",
            OLD_LOOP,
        ),
        Entry(
            "asyncio.Server",
            "x = await asyncio.start_server(lambda reader, writer: writer.close(), '127.0.0.1', 0)",
            "await soon((await asyncio.open_connection(*x.sockets[0].getsockname()))[0].read())",
            "not",
            OLD_LOOP,
        ),
        Entry(
            "asyncio.StreamReader and StreamWriter",
            "server = await asyncio.start_server(echo, '127.0.0.1', 0)\n"
            "x = await asyncio.open_connection(*server.sockets[0].getsockname())",
            "(x[1].write(b'ab\\n'), await soon(x[0].readline()))",
            "not",
            OLD_LOOP,
        ),
        Entry(
            "asyncio.subprocess.Process",
            "x = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)",
            "(x.stdin.write(b'ab\\n'), await soon(x.stdout.readline()))",
            "not",
            OLD_LOOP,
        ),
    ),
)
