"""What to write instead of Python that is not in the language."""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from itertools import islice

MOST_WORDS = 20  # of a line, for which another name is tried
WRITE = {
    "print": "write output(...)",
    "enumerate": "write for k in range(len(values))",
    "zip": "write for k in range(len(values))",
    "list": "write a = b + []",
    "tuple": "write a list",
    "dict": "write a list, whose keys are 0, 1, 2",
    "append": "write a = a + [x]",
    "any": "write a for loop",
    "all": "write a for loop",
    "map": "write a for loop",
    "filter": "write a for loop",
    "sorted": "write a for loop with min or max",
    "stream": 'stream(...) stands in a loop at the left margin: for x in stream(values="real"):',
    "exit": "write stop",
    "quit": "write stop",
}
ATTRIBUTES = {  # of a list with the name {0}
    "append": "write {0} = {0} + [x]",
    "extend": "write {0} = {0} + values",
    "insert": "write {0} = {0}[:k] + [x] + {0}[k:]",
    "copy": "write b = {0} + []",
    "count": "write a for loop with if",
    "index": "write a for loop that keeps the index",
    "sort": "write a for loop with min or max",
}
OPERATORS: dict[type[ast.AST], str] = {
    ast.BitAnd: "& is not in the language; between True and False write and",
    ast.BitOr: "| is not in the language; between True and False write or",
    ast.BitXor: "^ is not in the language; between True and False write !=",
    ast.Invert: "~ is not in the language; write -x - 1",
    ast.LShift: "<< is not in the language; write x * 2 ** k",
    ast.RShift: ">> is not in the language; write x // 2 ** k",
    ast.MatMult: "@ is not in the language; write a for loop",
}
_INSTEAD: dict[type[ast.AST], str] = {
    ast.Import: "imports are not allowed: leave it out, the noise functions are known without one",
    ast.ImportFrom: "imports are not allowed: leave it out, the noise functions are known without one",
    ast.ListComp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.SetComp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.DictComp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.GeneratorExp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.Lambda: "lambda is not allowed; define a function with def",
    ast.ClassDef: "classes are not allowed; define functions with def",
    ast.Try: "try is not allowed; leave it out if nothing raises an error",
    ast.With: "with is not allowed; leave it out",
    ast.Global: "global is not allowed; a function returns what it computes",
    ast.Nonlocal: "nonlocal is not allowed; a function returns what it computes",
    ast.Dict: "dictionaries are not allowed, except in choice({...}); write a list, whose keys are 0, 1, 2",
    ast.Set: "sets are not allowed; write a list",
    ast.JoinedStr: "f-strings are not allowed; labels are plain texts",
    ast.NamedExpr: "assignments stand on a line of their own",
    ast.Await: "await is not allowed",
    ast.Yield: "yield is not allowed; write output(...)",
    ast.Raise: 'raise is not allowed; a failure can be seen: write output("failed"), then stop',
    ast.Assert: "assert is not allowed; leave it out if it always holds",
    ast.Delete: "del is not allowed; leave it out",
    ast.Starred: "a star is not allowed here",
    ast.Match: "match is not allowed; write if",
    ast.AsyncFor: "async is not allowed",
    ast.AsyncFunctionDef: "async is not allowed",
}


def instead(tree: ast.AST, otherwise: str = "this is not in the language") -> str:
    """Returns why a tree is refused, with what to write instead where that is known."""
    if isinstance(tree, ast.Attribute):
        hint = ATTRIBUTES.get(tree.attr, "")
        name = tree.value.id if isinstance(tree.value, ast.Name) else "a"
        return "a dot is not allowed here: there are no methods and no modules" + (
            f"; {hint.format(name)}" if hint else ""
        )
    if isinstance(tree, (ast.BinOp, ast.UnaryOp, ast.AugAssign)):
        return OPERATORS.get(type(tree.op), otherwise)
    return _INSTEAD.get(type(tree), otherwise)


def of_syntax(line: str, message: str) -> str:
    """Returns what is wrong in a line that is no Python."""
    hints = (
        ("&&", "write and"),
        ("||", "write or"),
        ("else if", "write elif"),
        ("++", "write += 1"),
    )
    hint = next((f"; {hint}" for text, hint in hints if text in line.partition("#")[0]), "")
    return f"syntax error: {message}{hint}"


def word_as_name(text: str, line: int) -> tuple[str, int] | None:
    """Returns the word of Python that a line has as a name, with its column; None if there is none.

    With another name in its place Python reads on, to a later line or to the end.
    """
    lines = text.split("\n")
    before, shown, after = lines[: line - 1], "".join(lines[line - 1 : line]), lines[line:]
    words = (m for m in re.finditer(r"\b[A-Za-z]+\b", shown) if keyword.iskeyword(m.group()))
    for match in islice(words, MOST_WORDS):
        word = match.group()
        once = f"{shown[: match.start()]}{word}_{shown[match.end() :]}"
        always = re.sub(rf"\b{word}\b", f"{word}_", shown)
        if any(_reads_on("\n".join((*before, other, *after)), line) for other in (once, always)):
            return word, match.start()
    return None


def _reads_on(text: str, line: int) -> bool:
    """Tells whether Python finds no mistake in a text up to this line, nor a block where none begins."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except IndentationError:
        return False
    except SyntaxError as error:
        return (error.lineno or 0) > line
    except (RecursionError, MemoryError, ValueError, OverflowError):
        return False  # another mistake, and perhaps none of this word
    return True
