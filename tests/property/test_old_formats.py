"""Any old notebook is converted as Jupyter would; any damaged one is refused, or comes out valid."""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pisces.errors import NotebookError
from pisces.notebooks.old_formats import readable_cells
from tests.unit.notebooks.old_notebooks import EVERY_KIND, V1, V2, V4_0, Node, by_jupyter, upgraded, v3, whole

TEXT = st.text(max_size=20) | st.sampled_from(["a\nb\n", "\r\n", "\n", "\x0c\nx", "\u2028", "# x"])
LINES = TEXT | TEXT.map(lambda text: text.splitlines(keepends=True)) | st.lists(TEXT, max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
COUNT = st.integers(0, 9)
FREE = st.dictionaries(st.sampled_from(["mine", "png", "autoscroll"]), JSON, max_size=2)
BUNDLE = st.fixed_dictionaries(
    {"metadata": FREE},
    optional={
        **dict.fromkeys(["text", "html", "svg", "latex", "javascript", "text/markdown"], LINES),
        **dict.fromkeys(["png", "jpeg"], TEXT),
        "json": JSON.map(json.dumps),
        "application/vnd.x+json": LINES,
    },
)
OUTPUT = st.one_of(
    BUNDLE.map(lambda bundle: {"output_type": "display_data", **bundle}),
    st.tuples(BUNDLE, COUNT).map(lambda both: {"output_type": "pyout", "prompt_number": both[1], **both[0]}),
    st.fixed_dictionaries({"output_type": st.just("stream"), "stream": TEXT, "text": LINES}),
    st.fixed_dictionaries(
        {"output_type": st.just("pyerr"), "ename": TEXT, "evalue": TEXT, "traceback": st.lists(TEXT, max_size=2)}
    ),
)
CELL = st.one_of(
    st.fixed_dictionaries(
        {
            "cell_type": st.just("code"),
            "input": LINES,
            "language": st.just("python"),
            "outputs": st.lists(OUTPUT, max_size=3),
        },
        optional={"metadata": FREE, "collapsed": st.booleans(), "prompt_number": st.none() | COUNT},
    ),
    st.fixed_dictionaries(
        {"cell_type": st.sampled_from(["markdown", "html", "raw"]), "source": LINES, "metadata": FREE}
    ),
    st.fixed_dictionaries({"cell_type": st.just("heading"), "source": LINES, "level": st.integers(1, 6)}),
)
NOTEBOOK: st.SearchStrategy[Node] = st.lists(CELL, max_size=4).map(lambda cells: v3(*cells))
ANY_NOTEBOOK = st.sampled_from([V1, V2, V4_0, EVERY_KIND]) | NOTEBOOK
ODD_VALUE = JSON | st.sampled_from(["code", "heading", "stream", "pyout", -1, 10**9])


@st.composite
def damaged(draw: st.DrawFn) -> Node:
    """A notebook of any version in which some members have other values, or other names."""
    notebook = copy.deepcopy(draw(ANY_NOTEBOOK))
    for _ in range(draw(st.integers(1, 3))):
        node: Any = notebook
        while True:
            places = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not places:
                break
            place = draw(st.sampled_from(places))
            if isinstance(node[place], dict | list) and draw(st.booleans()):
                node = node[place]
                continue
            node[place] = draw(ODD_VALUE)
            if isinstance(node, dict) and draw(st.booleans()):
                node[draw(st.sampled_from(["tags", "name", "id", "metadata", "data", "text", "level"]))] = node.pop(
                    place
                )
            break
    return notebook


@given(old=NOTEBOOK)
def test_every_notebook_of_the_third_format_is_converted_as_jupyter_does_it(old: Node) -> None:
    assert whole(upgraded(old)["cells"]) == by_jupyter(old)


@given(old=damaged())
def test_a_damaged_notebook_is_refused_or_comes_out_valid(old: Node) -> None:
    try:
        made = upgraded(old)
    except NotebookError:
        return
    assert upgraded(made) == made
    assert len(readable_cells(old)) == len(made["cells"])
