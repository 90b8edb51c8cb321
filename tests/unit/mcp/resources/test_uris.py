"""Addresses of resources: what they name, and that they come back as they went."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.errors import InvalidCall
from pisces.mcp.resources.uris import ArtifactAddress, NoSuchResource, SessionAddress, parse_address
from pisces.output.artifact_text import LineRange

NAMES = st.text(st.characters(codec="utf-8"), min_size=1)


@pytest.mark.parametrize(
    ("uri", "meant"),
    [
        ("artifact://3", ArtifactAddress("3")),
        ("artifact://3/", ArtifactAddress("3")),
        ("artifact://3:100-200", ArtifactAddress("3", LineRange(100, 200))),
        ("artifact://3?lines=100-200", ArtifactAddress("3", LineRange(100, 200))),
        ("artifact://3?lines=100-&from=7", ArtifactAddress("3", LineRange(100), start=7)),
        ("artifact://3?search=a+b%26c", ArtifactAddress("3", search="a+b&c")),
        ("session://default/variables", SessionAddress("default", "variables")),
        ("session://a%2Fb%20%C3%A9/notebook.ipynb?from=9", SessionAddress("a/b é", "notebook.ipynb", start=9)),
        ("session://x/variables?kernel=%2Fbin%2Fpython", SessionAddress("x", "variables", "/bin/python")),
    ],
)
def test_an_address_is_understood(uri: str, meant: object) -> None:
    assert parse_address(uri) == meant


@pytest.mark.parametrize(
    "uri",
    ["", "3", "file:///etc/passwd", "session://default", "session:///variables", "session://a/b/variables",
     "session://default/../variables", "session://default/notebook.ipynb/x"],
)  # fmt: skip
def test_what_names_nothing_is_said_so_with_what_there_is(uri: str) -> None:
    with pytest.raises(NoSuchResource, match="There is no resource") as refused:
        parse_address(uri)
    assert "artifact://{id}{?lines,search,from}" in refused.value.hint


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("artifact://../../etc/passwd", "ID must be numeric, got: ../../etc/passwd"),
        ("artifact://..%2F..%2Fetc%2Fpasswd", "ID must be numeric, got: ../../etc/passwd"),
        ("artifact://3%00", "ID must be numeric"),
        ("artifact://٣", "ID must be numeric"),
        ("artifact://3?lines=x", "Not a range of lines: 'x'"),
        ("artifact://3?from=-1", "Wrong value of `from`"),
        ("artifact://3?other=1", "Unknown parameter 'other' of an address. Known: lines, search, from"),
    ],
)
def test_what_is_misspelt_is_refused(uri: str, why: str) -> None:
    with pytest.raises(InvalidCall) as refused:
        parse_address(uri)
    assert why in str(refused.value)


@given(
    st.builds(
        SessionAddress,
        NAMES,
        st.sampled_from(["variables", "notebook.ipynb"]),
        st.none() | NAMES,
        st.integers(0, 10**12),
    )
    | st.builds(
        ArtifactAddress,
        st.integers(1, 10**9).map(str),
        st.none() | st.builds(LineRange, st.integers(1, 100), st.none() | st.integers(100, 200)),
        st.none() | NAMES,
        st.integers(0, 10**12),
    )
)
def test_an_address_comes_back_as_it_went(address: ArtifactAddress | SessionAddress) -> None:
    assert parse_address(str(address)) == address
