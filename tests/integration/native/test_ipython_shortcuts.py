"""The short ways around IPython's work end where the long ones do, also after the user has changed something."""

import pytest

from pisces.kernels.native.kernel import NativeKernel
from pisces.model.events import Result
from tests.fakes.drive import ok, value
from tests.integration.native.conftest import StartKernel


@pytest.fixture
async def kernel(start: StartKernel, ipython_python: str) -> NativeKernel:
    return await start(str(ipython_python))


async def bundle(kernel: NativeKernel, code: str) -> dict[str, object]:
    ran = await ok(kernel, code)
    return dict(next(event for event in ran.events if isinstance(event, Result)).bundle)


async def test_a_formatter_that_the_user_registers_for_numbers_is_asked(kernel: NativeKernel) -> None:
    assert await bundle(kernel, "7") == {"text/plain": "7"}
    await ok(kernel, "get_ipython().display_formatter.formatters['text/html'].for_type(int, lambda n: f'<b>{n}</b>')")
    assert await bundle(kernel, "7") == {"text/plain": "7", "text/html": "<b>7</b>"}
    await ok(
        kernel, "get_ipython().display_formatter.formatters['text/plain'].for_type(int, lambda n, p, c: p.text('n'))"
    )
    assert await bundle(kernel, "7") == {"text/plain": "n", "text/html": "<b>7</b>"}


async def test_the_precision_of_numbers_is_the_users(kernel: NativeKernel) -> None:
    await ok(kernel, "%precision 2")
    assert await value(kernel, "3.14159") == "3.14"


async def test_a_transformer_that_the_user_adds_sees_plain_cells(kernel: NativeKernel) -> None:
    assert await value(kernel, "40 + 1") == "41"
    await ok(
        kernel, "get_ipython().input_transformers_post.append(lambda lines: [l.replace('40', '50') for l in lines])"
    )
    assert await value(kernel, "40 + 1") == "51"


async def test_a_cleanup_that_the_user_adds_sees_plain_cells(kernel: NativeKernel) -> None:
    assert await value(kernel, "40 + 1") == "41"
    await ok(
        kernel, "get_ipython().input_transformers_cleanup.append(lambda lines: [l.replace('4', '6') for l in lines])"
    )
    assert await value(kernel, "40 + 1") == "61"


async def test_magics_work_without_their_sign_until_a_name_hides_them(kernel: NativeKernel) -> None:
    assert "/" in await value(kernel, "pwd")
    assert await value(kernel, "pwd = 'mine'\npwd") == "'mine'"
    assert await value(kernel, "pwd") == "'mine'"


async def test_a_word_like_await_in_a_text_does_not_need_a_loop(kernel: NativeKernel) -> None:
    assert await value(kernel, "import asyncio\n'await', asyncio.run(asyncio.sleep(0, 'ran'))") == "('await', 'ran')"


async def test_printing_does_not_make_the_kernel_grow(kernel: NativeKernel) -> None:
    pages = "int(open('/proc/self/statm', encoding='ascii').read().split()[1])"
    before = int(await value(kernel, pages))
    await ok(kernel, "for n in range(30_000): print(str(n) * 200)")
    grown = (int(await value(kernel, pages)) - before) * 4096
    assert grown < 10_000_000
