"""Cells with special syntax, and how to compare two transforms of one."""

from typing import Any

from IPython.core import inputtransformer2

from pisces.guest.transform import SHELL_NAME

CELLS = {
    "a line magic": "%cd ..",
    "a magic without a name": "%",
    "a magic after a space": "% cd",
    "a command": "!ls -l",
    "a command after a space": "! ls",
    "a command of nothing": "!",
    "a command with captured lines": "!!ls",
    "a command that has quotes left open": "x = 1\n!echo 'oops\ny = 2\n%cd \"oops\nz?",
    "a command that has brackets left open": "!echo (\n!echo [ {\nx = 1",
    "a command with expressions": '!echo {x} $y | grep "a b" # no comment',
    "an assigned command": "x = !ls",
    "an assigned command without spaces": "x=!ls",
    "an assigned magic": "x = %pwd",
    "an assignment to several names": "a, b = !echo",
    "an assignment to an element": "a[f(x=1)] = %pwd x",
    "an annotated assignment": "x: int = !ls",
    "an assignment in a one-line block": "if x: y = !ls",
    "the second of two assignments": "x = y = !ls",
    "an assignment that is no command": "x = != 3",
    "a comparison": "x == !y",
    "a keyword argument": "f(a=%b)",
    "blocks": "if 1:\n    %cd ..\n    !ls\n    y = !pwd\nelse:\n\t%pwd\n!x",
    "a class and its functions": "class A:\n    !ls\n\n    def f(self):\n        %cd\n        x = %pwd\n    y = 1\n",
    "a function with a docstring": "def f():\n    '''doc\n    %not\n    '''\n    !ls\n    return 1",
    "an exception handler": "try:\n    x\nexcept E:\n    !ls\nfinally:\n    %cd\n",
    "joined lines of a command": "!ls \\\n  -l \\\n -a\nx",
    "joined lines of an assigned command": "x = !ls \\\n -l\ny",
    "joined lines of a magic": "%foo \\\n bar\nz",
    "a joined line at the very end": "!ls \\",
    "a cell magic": "%%bash -e\necho 1\n\n  x\n",
    "a cell magic without a body": "%%bash",
    "a cell magic without a name": "%%",
    "a cell magic after blank lines": "\n\n%%bash\nx",
    "a cell magic with an indented body": "%%capture\n    indented\n",
    "a cell magic whose body looks special": "%%sh\n%cd\n!ls\nx?\n",
    "a cell magic on a later line": "x = 1\n%%bash\nls",
    "help": "len?",
    "help with source": "len??",
    "help in front": "?len",
    "help with source in front": "??len",
    "help of nothing": "?",
    "help of nothing twice": "??",
    "help on both sides": "?len?",
    "help with a pattern": "str.s*?",
    "help on a pattern in front": "?str.s*",
    "help on a magic": "%cd?",
    "help on a cell magic": "%%bash?",
    "help on an element": "a.b[0].c??",
    "help on a negative index": "a[-1]?",
    "help right of an assignment": "x = zip?",
    "help after several lines": "(a,\nb) = zip?",
    "help after a joined line": "a = \\\nzip?",
    "help on a name with other letters": "π.foo?",
    "help at the end of a command": "!ls?",
    "help at the end of an assigned command": "x = !ls foo?",
    "help in a block": "if x:\n    len?\n",
    "no help on a call": "foo()?",
    "no help in a comment": "x # y?",
    "no help in a string": "'a?'",
    "a call with quoted words": ",f a b",
    "a call with a quoted rest": ";f a b",
    "a call without brackets": "/f a b",
    "a slash": "/",
    "an indented cell": "  x = 1\n  if y:\n      z",
    "an indented cell with special syntax": "    %cd\n    !ls\n    x",
    "a cell indented by tabs": "\t%cd\n\tx",
    "classic prompts": ">>> x = 1\n>>> y\n",
    "classic prompts of a block": ">>> for a in b:\n...     print(a)\n... \n",
    "classic prompts before a magic": ">>> %cd ..\n>>> !ls\n",
    "indented classic prompts": "    >>> x = 1\n    >>> y\n",
    "numbered prompts": "In [1]: x = 1\nIn [2]: y",
    "numbered prompts of a block": "In [1]: for a in b:\n   ...:     print(a)\n   ...: \n",
    "numbered prompts without the first": "for a in b:\n   ...:     print(a)",
    "numbered prompts of vi": "[ins] In [3]: x",
    "numbered prompts before a magic": "In [12]: %cd\n",
    "a magic after an f-string": "f'{x!r} {y:>{width}}'\n%cd",
    "a magic after a raw string": "r'\\\\'\n%cd",
    "a magic after a semicolon": "a = 1;\n%cd",
    "a magic after a modulo": "x = 5 %3\n%cd",
    "a magic after a decorated function": "@dec\ndef f(): pass\n%cd",
    "a command after a string over lines": "x = b'''\n!a''' ; y = 1\n!b",
    "a modulo on a line in brackets": "x = (1\n% 3)",
    "a modulo on a joined line": "x = 7 \\\n% 3",
    "a modulo in a dict": "x = {\n 'a': 5\n % 3}\n%cd",
    "a bang in brackets": "x = [\n!ls\n]",
    "special lines in a string": "'''\n%cd\n!ls\nfoo?\n?foo\n'''",
    "special lines in a joined string": "x = '\\\n%cd\\\n'",
    "Windows line ends": "\r\n%cd x\r\n!ls\r\ny = 1\r\n",
}


def transformed_by_ipython(cell: str) -> str:
    """What IPython makes of the cell: the oracle."""
    manager: Any = inputtransformer2.TransformerManager
    return str(manager().transform_cell(cell))


def comparable(source: str) -> list[str]:
    """The lines of a transformed cell, without what may differ: the shell's name, blank lines, trailing spaces."""
    lines = source.replace("get_ipython()", SHELL_NAME).splitlines()
    return [line.rstrip() for line in lines if line.strip()]
