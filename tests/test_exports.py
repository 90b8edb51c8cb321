"""The public names: few, sorted, documented, and loaded only when somebody asks for one."""

import re

import pytest

import pisces

LISTED: list[str] = list(getattr(pisces, "__all__", ()))
PUBLIC = sorted(LISTED)


def test_all_lists_the_public_names_in_order() -> None:
    assert LISTED == PUBLIC
    assert len(set(PUBLIC)) == len(PUBLIC)


def test_the_names_of_the_readme_are_there() -> None:
    assert {"Runtime", "Settings", "run", "__version__"} <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_resolves_and_says_what_it_is(name: str) -> None:
    value = getattr(pisces, name)
    if name != "__version__":
        assert value.__doc__, f"pisces.{name} has no docstring"


def test_dir_shows_the_public_names_before_any_is_loaded() -> None:
    assert set(PUBLIC) <= set(dir(pisces))


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(pisces, "no_such_name")  # noqa: B009  # the type checker knows that it is not there


def test_the_version_is_a_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc|\.dev)\d+)?", getattr(pisces, "__version__", ""))
