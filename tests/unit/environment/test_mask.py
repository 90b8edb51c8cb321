import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.environment import SecretMask
from pisces.environment.mask import MASK

SECRET = 'k3y"with\\quotes-é€'


@pytest.fixture
def mask() -> SecretMask:
    return SecretMask({"OPENAI_API_KEY": SECRET, "PATH": "/usr/bin", "DB_PASSWORD": "hunter22", "PIN_TOKEN": "7"})


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        json.dumps({"code": f"x = {SECRET!r}"}),
        json.dumps({"code": SECRET}, ensure_ascii=False),
        json.dumps([["env", SECRET]]),
        "url?q=k3y%22with%5Cquotes-%C3%A9%E2%82%AC&b=1",
    ],
)
def test_a_secret_of_the_environment_is_masked_however_it_is_written(mask: SecretMask, written: str) -> None:
    masked = mask.text(written)
    assert MASK in masked
    assert "with" not in masked


def test_what_is_no_secret_is_left_as_it_is(mask: SecretMask) -> None:
    text = json.dumps({"type": "execute", "id": "7", "code": "print('hunter')", "key": "default", "cwd": "/usr/bin"})
    assert mask.text(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("NEW_API_KEY=abc def", f"NEW_API_KEY={MASK} def"),
        ('{"X_TOKEN": "a\\"b", "y": "z"}', f'{{"X_TOKEN": {MASK}, "y": "z"}}'),
        (r'{"code": "os.environ[\"A\"]; my_secret = \"abc\"; y"}', None),
        ('"code": "MY_PASSWORD=\'abc\'"', f'"code": "MY_PASSWORD={MASK}"'),
        ("token='never closed abc", f"token={MASK}"),
        ("X-Api-Key: abc", f"X-Api-Key: {MASK}"),
        ("http://ada:abc@proxy:3128/", f"http://{MASK}@proxy:3128/"),
        ("Authorization: Bearer abcdefgh.abc", None),
        ("the header was Bearer abcdefgh.abc", f"the header was Bearer {MASK}"),
        ("?a=1&token=abc&b=2", f"?a=1&token={MASK}&b=2"),
    ],
)
def test_a_secret_is_known_by_what_stands_beside_it(mask: SecretMask, text: str, masked: str | None) -> None:
    found = mask.text(text)
    assert "abc" not in found
    assert masked is None or found == masked


def test_a_secret_inside_a_longer_one_does_not_leave_its_rest() -> None:
    assert SecretMask({"A_TOKEN": "abcd", "B_TOKEN": "abcdefgh"}).text("abcdefgh") == MASK


@given(
    secret=st.text(min_size=4, max_size=40).filter(lambda text: text not in MASK),
    before=st.text(max_size=20),
    after=st.text(max_size=20),
)
def test_no_secret_value_survives(secret: str, before: str, after: str) -> None:
    mask = SecretMask({"SOME_SECRET": secret})
    assert secret not in mask.text(before + secret + after).replace(MASK, "")


@pytest.mark.parametrize(
    "text", ["A" * 2_000_000, "a='" * 300_000, "token=" * 200_000, '"' * 1_000_000, "x_" * 1_000_000, "a://" * 300_000]
)
def test_masking_takes_no_more_than_linear_time(text: str) -> None:
    mask = SecretMask({"A_TOKEN": "abcd"})
    started = time.process_time()
    mask.text(text)
    assert time.process_time() - started < 5
