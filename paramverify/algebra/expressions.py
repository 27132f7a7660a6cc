"""Safe parsing of the expressions in case files.

An expression is data. Its text is parsed with `ast` under a whitelist into a small tree of our own;
nothing is ever executed. Decimals are read from their text as exact rationals. Sizes, exponents and
nesting are bounded, and every mistake points at its place.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeVar

from paramverify.algebra.arrays import RUNNING, Arrays, IndexMistake, bound, entry, in_reach, named_in
from paramverify.algebra.evaluation import evaluate, unknown_name
from paramverify.algebra.mends import proposals
from paramverify.algebra.named import in_force
from paramverify.algebra.trees import Expression, Name, Node, Operation, RationalConstant, Text, Value
from paramverify.errors import ExpressionError
from paramverify.spelling import nearest

__all__ = [  # what is to be known of expressions, from one place
    "Expression",
    "Name",
    "Node",
    "Operation",
    "RationalConstant",
    "Text",
    "Value",
    "constant",
    "evaluate",
    "exact_decimal",
    "parse",
    "unknown_name",
]

T = TypeVar("T")

MAX_LENGTH = 20_000  # characters in one expression
MAX_DEPTH = 200  # nested brackets or operators other than chains of + and *
MAX_POWER = 10_000  # absolute value of an exponent
MAX_EXPONENT = 1_000  # absolute value of the exponent of a decimal
MAX_DIGITS = 2_000  # digits of one number
MAX_NODES = 20_000  # nodes that definitions bring into one expression

FUNCTIONS = {"exp": (1, 1), "ln": (1, 1), "abs": (1, 1), "min": (1, None), "max": (1, None)}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
WORDS = frozenset({"true", "false", "and", "or", "not"}) | FUNCTIONS.keys()

_QUOTED_OR_BLANK = re.compile(r"""('[^']*'|"[^"]*")|[\t\n]""")  # what is in quotes is kept as it is
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_EQUALS = {"=": "write == for equality", "=<": "write <=, not =<", "=>": "write >=, not =>"}


def parse(text: str, known: Mapping[str, Fraction] | None = None) -> Expression:
    """Parses an expression of the case format.

    Allowed are numbers, names, quoted labels, `+ - * / **`, comparisons, `and`, `or`, `not`, brackets,
    `true`, `false` and the functions exp, ln, abs, min, max; where the case has arrays also their entries
    and functions of all entries (`algebra.arrays`). A `known` name stands for its number, and one
    that the case defines (`named.defining`) for its expression.

    Raises:
        ExpressionError: anything else, with what to write instead where that is known; or a bound on size,
            nesting, digits or exponents is passed.
    """
    try:
        return _parse(text, known)
    except ExpressionError as error:
        mend = "" if error.reason.startswith("wrong arguments") else _mend(text, known)
        if not mend:
            raise
        sign = re.match(r"write (\S+)", error.reason)
        if sign and sign[1].rstrip(",") in mend:
            error.retell(f"{error.reason}: {mend}")
            error.mend = f"write {mend}"
        else:
            error.retell("syntax error" if sign else error.reason, f"write {mend}")
        raise


def _mend(text: str, known: Mapping[str, Fraction] | None) -> str:
    """Returns what may be meant by a text that is no expression, and is one."""
    for other in proposals(text):
        try:
            return _parse(other, known).text.strip()
        except ExpressionError:
            continue
    return ""


def _parse(text: str, known: Mapping[str, Fraction] | None = None) -> Expression:
    """Parses an expression, see `parse`, without a proposal."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"longer than {MAX_LENGTH} characters", text[:70], 0)
    stray = re.search(r"[^\x20-\x7e\t\n]|#", text)
    if stray:
        raise ExpressionError(f"unexpected character {stray.group()!r}", text, stray.start())
    digits = re.search(rf"[\d_]{{{MAX_DIGITS + 1}}}", text)
    if digits:
        raise ExpressionError("number with too many digits", text, digits.start())
    source = _QUOTED_OR_BLANK.sub(lambda match: match[1] or " ", text)
    indent = len(source) - len(source.lstrip())
    _bound_brackets(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python warns of, such as `1if`, is a syntax error here
            tree = ast.parse(source.strip(), mode="eval")
    except SyntaxError as error:
        if source.strip() == "":
            raise ExpressionError("empty expression", text, 0) from None
        # Python gives no offset for a text that ends too early.
        column = indent + (error.offset - 1 if error.offset else len(source.strip()))
        wrong = re.compile(r"(?<![<>=!])=(?!=)[<>]?").search(source, column)
        if wrong and (wrong.start() == column or "instead of '='" in error.msg):
            reason = _EQUALS[wrong.group()]
            raise ExpressionError(reason, text, wrong.start()) from None
        word = _reserved(source)
        if word:
            reason = f"{word.group()} is a word of the language and no name; choose another name"
            raise ExpressionError(reason, text, word.start()) from None
        raise ExpressionError("syntax error", text, min(column, len(text))) from None
    except (RecursionError, MemoryError, ValueError, OverflowError):
        raise ExpressionError("nested too deeply, or a sum with too many terms", text, 0) from None
    try:
        return Expression(text, _ExpressionReader(text, source, indent, known or {}).node(tree.body, 0))
    except RecursionError:
        raise ExpressionError("nested too deeply", text, 0) from None


def _bound_brackets(source: str) -> None:
    depth = 0
    for column, char in enumerate(source):
        depth += (char in "([{") - (char in ")]}")
        if depth > MAX_DEPTH:
            raise ExpressionError(f"brackets nested deeper than {MAX_DEPTH}", source, column)


def _reserved(source: str) -> re.Match[str] | None:
    """Returns the first word of Python, outside of quotes, that expressions do not have as a name.

    In `a if b else c` no word is meant as a name.
    """
    words = re.finditer(r"""'[^']*'|"[^"]*"|[A-Za-z_]\w*""", source)
    found = [w for w in words if keyword.iskeyword(w.group()) and w.group() not in WORDS]
    return None if {"if", "else"} <= {w.group() for w in found} else next(iter(found), None)


class _ExpressionReader:
    """Turns a Python syntax tree into ours and refuses whatever is not on the whitelist."""

    def __init__(self, text: str, source: str, indent: int, known: Mapping[str, Fraction]) -> None:
        self.text = text
        self.known = known
        self.source = source
        self.indent = indent
        self.defined = in_force()
        self.brought = 0  # nodes that definitions and arrays have brought so far
        self.arrays = in_reach()
        self.runs = False  # inside of a function that runs over all entries

    def refuse(self, reason: str, column: int) -> ExpressionError:
        return ExpressionError(reason, self.text, column)

    def node(self, tree: ast.expr, depth: int) -> Node:
        column = self.indent + tree.col_offset
        if depth > MAX_DEPTH:
            raise self.refuse(f"nested deeper than {MAX_DEPTH}", column)
        if isinstance(tree, ast.Constant):
            return self.constant(tree, column)
        if isinstance(tree, ast.Name):
            return self.name(tree.id, column, depth)
        if isinstance(tree, ast.Subscript):
            return self.entry(tree, column)
        if isinstance(tree, ast.UnaryOp):
            inner = self.node(tree.operand, depth + 1)
            if isinstance(tree.op, ast.UAdd):
                return inner
            if isinstance(tree.op, (ast.USub, ast.Not)):
                return Operation("neg" if isinstance(tree.op, ast.USub) else "not", (inner,), column)
        if isinstance(tree, ast.BinOp) and type(tree.op) in _BINARY:
            return self.chain(tree, depth)
        if isinstance(tree, ast.BoolOp):
            word = "and" if isinstance(tree.op, ast.And) else "or"
            return Operation(word, tuple(self.node(v, depth + 1) for v in tree.values), column)
        if isinstance(tree, ast.Compare):
            return self.comparison(tree, depth, column)
        if isinstance(tree, ast.Call):
            return self.call(tree, depth, column)
        if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitXor):
            raise self.refuse("write ** for a power, not ^", column)
        what = type(tree.op if isinstance(tree, (ast.BinOp, ast.UnaryOp)) else tree).__name__.lower()
        raise self.refuse(f"not allowed in an expression: {what}", column)

    def constant(self, tree: ast.Constant, column: int) -> Node:
        end = self.indent + (tree.end_col_offset or 0)
        if isinstance(tree.value, str):
            if self.source[column + 1 : end - 1] != tree.value:  # Python reads escapes; a label is itself
                raise self.refuse(
                    "write a label as it is, in one pair of quotes, without a backslash", column
                )
            return Text(tree.value, column)
        return RationalConstant(self.number(self.source[column:end], column), column)

    def number(self, digits: str, column: int) -> Fraction:
        try:
            return exact_decimal(digits)
        except ValueError as error:
            raise self.refuse(str(error), column) from None

    def name(self, name: str, column: int, depth: int) -> Node:
        if name in ("true", "false"):
            return RationalConstant(Fraction(name == "true"), column)
        if not NAME.match(name):
            raise self.refuse(f"not a name: {name!r} (letters, digits and _, starting with a letter)", column)
        if name in self.known:
            return RationalConstant(self.known[name], column)
        if name in self.arrays.sizes:
            return Name(self.whole_array(name, column), column)
        if name in self.defined.below:
            raise self.refuse(f"{name} is defined further below: put its line above this one", column)
        stands_for = self.defined.get(name)
        if stands_for is None:
            return Name(name, column)
        self.brought += stands_for.size
        if depth + stands_for.depth > MAX_DEPTH or self.brought > MAX_NODES:
            raise self.refuse(f"too long or nested too deeply with what {name} stands for", column)
        return stands_for.at(column)

    def entry(self, tree: ast.Subscript, column: int) -> Node:
        """Reads an entry of an array, such as `person[3]`."""
        name = tree.value.id if isinstance(tree.value, ast.Name) else ""
        if name not in self.arrays.sizes:
            mistake = self.refuse(self.no_entry(name), column)
            mistake.unknown = name
            raise mistake
        place = self.indexed(lambda: self.arrays.place(tree))
        if not self.arrays.has(name, place):
            sizes = " and ".join(f"1 to {n}" for n in self.arrays.sizes[name])
            raise self.refuse(f"there is no {entry(name, place)}: its indices are {sizes}", column)
        return Name(entry(name, place), column)

    def no_entry(self, name: str) -> str:
        """Returns what is wrong with `persn[3]`, which is no entry of an array."""
        if not name or not self.arrays.sizes:
            return "not allowed in an expression: subscript"
        near = nearest(name, self.arrays.sizes)
        known = f"did you mean {near}?" if near else f"its arrays are {', '.join(self.arrays.sizes)}"
        return f"{name} is no array of the prior: {known}"

    def whole_array(self, name: str, column: int) -> str:
        """Returns the entry that the name of an array means where an index runs."""
        if not self.runs:
            raise self.refuse(f"{name} is an array: write {name}[1] for an entry, or sum({name})", column)
        return self.indexed(lambda: self.arrays.here(name, column))

    def indexed(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except IndexMistake as mistake:
            raise self.refuse(mistake.reason, self.indent + mistake.column) from None

    def running(self, tree: ast.Call, over: str, depth: int, column: int) -> Node:
        """Reads `sum(person == 1)` and the like: one operation on the values at all indices."""
        outer, runs = self.arrays, self.runs
        name = tree.func.id if isinstance(tree.func, ast.Name) else ""
        parts: list[Node] = []
        self.runs = True
        for place in outer.places(over):
            self.arrays = Arrays(outer.sizes, bound(place))
            parts.append(self.node(tree.args[0], depth + 1))
            self.brought += sum(1 for _ in Expression(self.text, parts[-1]).nodes())
            if self.brought > MAX_NODES:
                raise self.refuse(f"too long with all entries of {over}", column)
        self.arrays, self.runs = outer, runs
        return parts[0] if len(parts) == 1 else Operation(RUNNING[name], tuple(parts), column)

    def no_array(self, function: str, tree: ast.Call) -> str:
        """Returns what is wrong with `sum(persons)`: it names no array, or no running index."""
        one = next(iter(self.arrays.sizes))
        names = dict.fromkeys(n.id for t in tree.args for n in ast.walk(t) if isinstance(n, ast.Name))
        unknown = [name for name in names if name not in self.arrays.sizes]
        near = next((found for name in unknown if (found := nearest(name, self.arrays.sizes))), None)
        if near:
            return f"{function} needs an array of the prior: did you mean {near}?"
        return f"{function} takes one expression that names an array, such as {function}({one})"

    def chain(self, tree: ast.BinOp, depth: int) -> Node:
        """Reads a left-nested chain such as a + b - c into one flat sum or product, without recursion."""
        links: list[ast.BinOp] = []
        left: ast.expr = tree
        while isinstance(left, ast.BinOp) and type(left.op) in _BINARY:
            links.append(left)
            left = left.left
        first = self.node(left, depth + 1)
        word, terms = "", [first]
        nested = 0
        for link in reversed(links):
            op = _BINARY[type(link.op)]
            right = self.node(link.right, depth + 1)
            if op == "**":
                self.exponent(right)
            if op == "-":
                op, right = "+", Operation("neg", (right,), right.column)
            if op == word and op in ("+", "*"):
                terms.append(right)
                continue
            if word:
                terms = [Operation(word, tuple(terms), first.column)]
                nested += 1
                if nested + depth > MAX_DEPTH:
                    raise self.refuse(f"nested deeper than {MAX_DEPTH}", right.column)
            word = op
            terms.append(right)
        return Operation(word, tuple(terms), first.column)

    def exponent(self, node: Node) -> None:
        exponent = Expression(self.text, node)
        value = "" if exponent.names() else evaluate(exponent)
        if not isinstance(value, Fraction) or value.denominator != 1:
            raise self.refuse("an exponent must be a whole number", node.column)
        if abs(value) > MAX_POWER:
            raise self.refuse(f"exponent larger than {MAX_POWER:,}", node.column)

    def comparison(self, tree: ast.Compare, depth: int, column: int) -> Node:
        operands = [self.node(t, depth + 1) for t in (tree.left, *tree.comparators)]
        parts: list[Node] = []
        for op, left, right in zip(tree.ops, operands, operands[1:], strict=False):
            if type(op) not in _COMPARE:
                raise self.refuse("not a comparison of numbers", column)
            parts.append(Operation(_COMPARE[type(op)], (left, right), left.column))
        return parts[0] if len(parts) == 1 else Operation("and", tuple(parts), column)

    def call(self, tree: ast.Call, depth: int, column: int) -> Node:
        name = tree.func.id if isinstance(tree.func, ast.Name) else ""
        over = named_in(tree.args[0], self.arrays.sizes, bare=True) if len(tree.args) == 1 else []
        if name in RUNNING and over and not tree.keywords:
            return self.running(tree, over[0], depth, column)
        if name in RUNNING and name not in FUNCTIONS and self.arrays.sizes:
            raise self.refuse(self.no_array(name, tree), column)
        if name not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            mistake = self.refuse(f"not a function of the case format (these are: {known})", column)
            if name in RUNNING and len(tree.args) == 1 and isinstance(tree.args[0], ast.Name):
                mistake.unknown = tree.args[0].id  # an array that could not be read
            raise mistake
        least, most = FUNCTIONS[name]
        count = len(tree.args)
        if tree.keywords or count < least or (most is not None and count > most):
            raise self.refuse(f"wrong arguments for {name}", column)
        return Operation(name, tuple(self.node(a, depth + 1) for a in tree.args), column)


def exact_decimal(digits: str) -> Fraction:
    """Returns the exact value of a decimal written as text, such as `0.1` or `12e-3`.

    Raises:
        ValueError: not a plain decimal, or larger than the bounds of this module.
    """
    match = re.fullmatch(r"[+-]?(?=\d|\.\d)[\d_]*(?:\.[\d_]*)?(?:[eE]([+-]?\d{1,6}))?", digits.strip())
    if not match:
        raise ValueError(f"not a decimal number: {digits[:40]}")
    if len(digits) > MAX_DIGITS or abs(int(match.group(1) or 0)) > MAX_EXPONENT:
        raise ValueError("number too large: too many digits, or its exponent is too large")
    return Fraction(digits.replace("_", ""))


def constant(text: str) -> Fraction:
    """Returns the value of an expression without names, such as `1/10` or `0.4`."""
    expression = parse(text)
    value = evaluate(expression)
    if isinstance(value, (str, bool)):
        raise expression.error("a number is needed here", expression.root)
    return value
