"""What to write instead of Python that is not in the language."""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from itertools import islice

MOST_WORDS = 20  # of a line, for which another name is tried
_LOOP = "for a number with noise write a loop: k = lo, then while k < hi and x "
WRITE = {
    "print": "write output(...)",
    "enumerate": "write for k in range(len(values))",
    "zip": "write for k in range(len(values))",
    "list": "write a = b + []",
    "tuple": "write a list",
    "dict": "write a list, whose keys are 0, 1, 2",
    "append": "write a = a + [x]",
    "int": f"write x // 1 if x >= 0 else -(-x // 1); {_LOOP}>= k + 1: k = k + 1",
    "float": "numbers are exact: leave float out; for an infinite number take the first value, best = v[0]",
    "round": f"write (x + 1/2) // 1, which rounds halves up; {_LOOP}> k + 1/2: k = k + 1",
    "any": "write a for loop",
    "all": "write a for loop",
    "map": "write a for loop",
    "filter": "write a for loop",
    "sorted": "write a for loop with min or max",
    "argmax": "write a for loop that keeps the best index",
    "argmin": "write a for loop that keeps the best index",
    "bool": "write x != 0",
    "str": "leave str out: output(...) has numbers and labels",
    "pow": "write a ** b",
    "stream": 'stream(...) stands in a loop at the left margin: for x in stream(values="real"):',
    "exit": "write stop",
    "quit": "write stop",
    "random": "write flip(p) or uniform(lo, hi)",
    "randint": "write uniform(lo, hi)",
}
ATTRIBUTES = {
    "append": "write a = a + [x]",
    "extend": "write a = a + b",
    "insert": "write a = [x] + a",
    "copy": "write b = a + []",
    "count": "write a for loop with if",
    "index": "write a for loop that keeps the index",
    "sort": "write a for loop with min or max",
    "random": "write flip(p) or uniform(lo, hi)",
    "randint": "write uniform(lo, hi)",
    "flip": "write flip(p)",
    "uniform": "write uniform(lo, hi)",
    "binomial": "write binomial(n, p)",
    "geometric": "write geometric(a)",
    "one_sided_geometric": "write one_sided_geometric(a)",
    "laplace": "write laplace(b)",
    "exponential": "write exponential(b)",
    "exp": "write exp(x)",
}
OPERATORS: dict[type[ast.AST], str] = {
    ast.BitAnd: "& is not in the language; write and",
    ast.BitOr: "| is not in the language; write or",
    ast.BitXor: "^ is not in the language; write ** for a power, or != for one of two",
    ast.Invert: "~ is not in the language; write not",
    ast.LShift: "<< is not in the language; write x * 2 ** k",
    ast.RShift: ">> is not in the language; write x // 2 ** k",
    ast.MatMult: "@ is not in the language; write a for loop",
}
_INSTEAD: dict[type[ast.AST], str] = {
    ast.Import: "imports are not allowed: the noise functions are known without one",
    ast.ImportFrom: "imports are not allowed: the noise functions are known without one",
    ast.ListComp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.SetComp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.DictComp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.GeneratorExp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.Lambda: "lambda is not allowed; define a function with def",
    ast.ClassDef: "classes are not allowed; define functions with def",
    ast.Try: "try is not allowed; leave it out",
    ast.With: "with is not allowed; leave it out",
    ast.Global: "global is not allowed; a function returns what it computes",
    ast.Nonlocal: "nonlocal is not allowed; a function returns what it computes",
    ast.Dict: "dictionaries are not allowed, except in choice({...}); write a list, whose keys are 0, 1, 2",
    ast.Set: "sets are not allowed; write a list",
    ast.JoinedStr: "f-strings are not allowed; labels are plain texts",
    ast.NamedExpr: "assignments stand on a line of their own",
    ast.Await: "await is not allowed",
    ast.Yield: "yield is not allowed; write output(...)",
    ast.Raise: "raise is not allowed; write stop",
    ast.Assert: "assert is not allowed; leave it out",
    ast.Delete: "del is not allowed; leave it out",
    ast.Starred: "a star is not allowed here",
    ast.Match: "match is not allowed; write if",
    ast.AsyncFor: "async is not allowed",
    ast.AsyncFunctionDef: "async is not allowed",
}


def instead(tree: ast.AST, otherwise: str = "this is not in the language") -> str:
    """Returns why a tree is refused, with what to write instead where that is known."""
    if isinstance(tree, ast.Attribute):
        hint = ATTRIBUTES.get(tree.attr)
        return "a dot is not allowed here: there are no methods and no modules" + (
            f"; {hint}" if hint else ""
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
