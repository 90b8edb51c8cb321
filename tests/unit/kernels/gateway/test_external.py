"""The address and the token of an external gateway are checked before anything is asked, and never shown."""

import pytest

from pisces.errors import SettingsError
from pisces.kernels.gateway.address import checked_token, checked_url
from pisces.kernels.gateway.external import ExternalBackend, ExternalGateway


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("http://127.0.0.1:8888", "http://127.0.0.1:8888"),
        (" http://127.0.0.1:8888/ ", "http://127.0.0.1:8888"),
        ("https://hub.example/user/ada/", "https://hub.example/user/ada"),
        ("http://[::1]:8888/", "http://[::1]:8888"),
    ],
)
def test_an_address_may_have_a_path_and_a_slash(given: str, taken: str) -> None:
    assert checked_url(given) == taken
    assert ExternalGateway(given).rest.label == f"External gateway at {taken}"


@pytest.mark.parametrize("given", ["", "127.0.0.1:8888", "ftp://host", "http://", "http://host:port", "http://[::1"])
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(SettingsError, match="PI_PYTHON_GATEWAY_URL"):
        ExternalBackend(given)


@pytest.mark.parametrize("given", ["http://ada:s3cret@host", "http://host/?token=s3cret", "http://host/#s3cret"])
def test_secrets_in_an_address_are_refused_and_not_shown(given: str) -> None:
    with pytest.raises(SettingsError) as failure:
        ExternalBackend(given)
    assert "s3cret" not in failure.value.explain()
    assert "http://host" in str(failure.value)
    assert "PI_PYTHON_GATEWAY_TOKEN" in failure.value.hint


def test_blanks_around_a_token_do_not_count() -> None:
    assert checked_token(" abc\n") == "abc"


@pytest.mark.parametrize("token", ["a\nb", "söm", "a\x00"])
def test_a_token_that_no_header_can_have_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(SettingsError) as failure:
        checked_token(token)
    assert token not in failure.value.explain()
