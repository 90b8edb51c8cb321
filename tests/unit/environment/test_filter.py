import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.environment.filter import ALLOWED_NAMES, NON_INTERACTIVE, filter_environment
from pisces.environment.secret_names import OWN_TOKENS, PROVIDER_KEYS
from pisces.errors import SettingsError


def passed(environ: dict[str, str], *allow: str) -> set[str]:
    """The names that came from outside."""
    return filter_environment(environ, allow).keys() & environ.keys()


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "LANG", "LC_ALL", "XDG_CACHE_HOME", "PI_ANYTHING", "VIRTUAL_ENV", "CONDA_PREFIX", "TZ"),
        *("HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE", "ssl_cert_file", "SSH_AUTH_SOCK", "SYSTEMROOT", "DISPLAY"),
        *("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "PYTHONPATH"),
    ],
)
def test_what_programs_need_passes(name: str) -> None:
    assert passed({name: "x"}) == {name}


@pytest.mark.parametrize("name", ["DATABASE_URL", "AWS_PROFILE", "FOO", "path", "PYTHONHOME", "LD_PRELOAD", "MY_LC_X"])
def test_what_nobody_allowed_stays_outside(name: str) -> None:
    assert passed({name: "x"}) == set()
    assert passed({name: "x"}, name) == {name}


@pytest.mark.parametrize(
    "name",
    [
        *("DB_PASSWORD", "HF_TOKEN", "APP_SECRET", "WEATHER_API_KEY", "PI_X_TOKEN", "x_token", "PI_DATABASE_PASSWD"),
        *(
            "PI_SIGNING_KEY",
            "PI_APIKEY",
            "PI_SENTRY_DSN",
            "PI_DB_PWD",
            "PI_DB_PASS",
            "PI_GCP_CREDENTIALS",
            "PI_GIT_PAT",
        ),
        *("PI_ACCESSTOKEN", "PI_CLIENT_SECRETS", "PI_SSH_PASSPHRASE", "PI_BASIC_AUTH", "PI_AWS_CREDS", "pi_db_pass"),
        *("LC_KEY", "XDG_SESSION_COOKIE"),
    ],
)
def test_a_telling_ending_stays_outside_unless_it_is_allowed_by_name(name: str) -> None:
    assert passed({name: "x"}) == set()
    assert passed({name: "x"}, name) == {name}


@pytest.mark.parametrize("name", sorted(PROVIDER_KEYS | OWN_TOKENS))
def test_a_key_of_the_agent_never_passes_and_cannot_be_allowed(name: str) -> None:
    assert passed({name: "x"}) == set()
    assert passed({name.lower(): "x"}) == set()
    with pytest.raises(SettingsError, match=name):
        filter_environment({name: "x"}, [name])


@pytest.mark.parametrize("name", ["PI_MAX_TOKENS", "PI_KEYBOARD", "PI_MONKEY", "PI_COMPASS", "PI_KERNEL_COOKIE"])
def test_a_name_that_only_resembles_one_of_a_secret_passes(name: str) -> None:
    assert passed({name: "x"}) == {name}


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("http://user:pass@proxy:3128", "http://proxy:3128"),
        ("http://user@proxy:3128/", "http://proxy:3128/"),
        ("http://dom%5Cuser:p@ss/word@proxy:3128", "http://proxy:3128"),
        ("user:pass@proxy:3128", "proxy:3128"),
        ("http://user:a://b@proxy:3128", "http://proxy:3128"),
        ("http://user:pass@proxy:3128/?next=http://other", "http://proxy:3128/?next=http://other"),
        ("http://user:pass@proxy:3128,http://other:1", "http://proxy:3128,http://other:1"),
        ("http://user:pass@proxy:3128,http://user:pass@other:1", "http://other:1"),
        ("http=http://user:pass@proxy:1;https=http://proxy:2", "http=http://proxy:1;https=http://proxy:2"),
        ("user:pass@proxy:1,http://other:2", "proxy:1,http://other:2"),
        ("socks5h://user:pass@[::1]:1080", "socks5h://[::1]:1080"),
        ("http://proxy:3128", "http://proxy:3128"),
        ("proxy:3128", "proxy:3128"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("name", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY"])
def test_the_login_of_a_proxy_stays_outside_and_the_proxy_passes(name: str, value: str, seen: str) -> None:
    for spelled in (name, name.lower()):
        assert filter_environment({spelled: value})[spelled] == seen
        assert filter_environment({spelled: value}, [spelled])[spelled] == value


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("postgres://me:hunter2@db/x?a=b@c", "postgres://db/x?a=b@c"),
        ("https://a:b@one, https://c:d@two/e@f", "https://one, https://two/e@f"),
        ("me@example.org", "me@example.org"),
        ("git@host:path", "git@host:path"),
    ],
)
def test_the_login_of_an_address_that_nobody_allowed_stays_outside(value: str, seen: str) -> None:
    assert filter_environment({"PI_DATABASE_URL": value})["PI_DATABASE_URL"] == seen
    assert filter_environment({"PI_DATABASE_URL": value}, ["PI_DATABASE_URL"])["PI_DATABASE_URL"] == value


def test_settings_of_the_host_are_not_told_to_kernels() -> None:
    assert passed({"PI_SET__python__env__allow": "A"}, "PI_SET__python__env__allow") == set()


def test_programs_are_kept_from_asking_questions() -> None:
    assert filter_environment({}) == NON_INTERACTIVE
    assert NON_INTERACTIVE["GIT_TERMINAL_PROMPT"] == "0"
    assert NON_INTERACTIVE["MPLBACKEND"] == "Agg"


def test_what_the_user_set_against_questions_stays() -> None:
    assert filter_environment({"PAGER": "less", "MPLBACKEND": "svg"}) == {
        **NON_INTERACTIVE,
        "PAGER": "less",
        "MPLBACKEND": "svg",
    }


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)
endings = st.sampled_from(
    ["", "_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_token", "_DSN", "_PWD", "_PASS", "_CREDENTIALS"]
)
prefixes = st.sampled_from(["", "LC_", "XDG_", "PI_"])


@given(st.builds(lambda prefix, name, ending: prefix + name + ending, prefixes, names, endings))
def test_no_name_with_a_telling_ending_passes_unasked(name: str) -> None:
    telling = name.upper().endswith(("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_DSN", "_PWD", "_PASS", "_CREDENTIALS"))
    came_through = bool(passed({name: "x"}))
    assert not (telling and came_through)
    if came_through:
        assert name in ALLOWED_NAMES or name in NON_INTERACTIVE or name.startswith(("LC_", "XDG_", "PI_"))
