"""Reading programs: a subset of Python's syntax, read with `ast` under a whitelist and never executed.

Calls of functions inside expressions become assignments of their own, before the statement.

Functions change nothing but their own variables, and draws are independent. So a call may go before what
stands on its left, if the same runs make it: a branch takes the place of `and`, `or` and `x if c else y`.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction
from itertools import islice
from typing import TypeGuard

from paramverify.algebra.expressions import exact_decimal, lone_number
from paramverify.errors import ProgramError
from paramverify.models.programs.program_syntax import (
    Apply,
    Ask,
    Assign,
    Call,
    Choice,
    Constant,
    For,
    Function,
    If,
    Items,
    Jump,
    Literal,
    Node,
    Output,
    Place,
    Program,
    Return,
    Statement,
    Variable,
    While,
    every_node,
    every_statement,
    nodes_of,
)
from paramverify.models.programs.python_libraries import (
    BUILTINS,
    CUSTOM,
    bound_in,
    first_use,
    mistaken_import,
    without_library,
)
from paramverify.spelling import TYPED, nearest

MOST_WORDS = 20  # of a line, for which another name is tried
WRITE = {
    "print": "write output(...)",
    "enumerate": "write for k in range(len(values))",
    "zip": "write for k in range(len(values))",
    "list": "write a = b + []",
    "tuple": "write a list",
    "dict": "write a list, indexed by 0, 1, 2",
    "append": "write a = a + [x]",
    "any": "write a for loop",
    "all": "write a for loop",
    "map": "write a for loop",
    "filter": "write a for loop",
    "sorted": "write a for loop with min or max",
    "stream": 'stream(...) is only allowed in a for loop at the left margin: for x in stream(values="real"):',
    "discrete_laplace": "write geometric(exp(-1/scale))",
    "dlaplace": "write geometric(exp(-a))",
    "two_sided_geometric": "write geometric(a)",
    "laplacian": "write laplace(scale)",
    "double_exponential": "write laplace(scale)",
    "normal": "write mean + gauss(sigma)",
    "gaussian": "write mean + gauss(sigma)",
    "discrete_normal": "write discrete_gaussian(sigma)",
    "bernoulli": "write flip(p)",
    "exit": "write stop",
    "quit": "write stop",
}
ATTRIBUTES = {  # of a list with the name {0}
    "append": "write {0} = {0} + [x]",
    "extend": "write {0} = {0} + values",
    "insert": "write {0} = {0}[:k] + [x] + {0}[k:]",
    "copy": "write b = {0} + []",
    "count": "write a for loop with if",
    "index": "write a for loop that remembers the index",
    "sort": "write a for loop with min or max",
}
OPERATORS: dict[type[ast.AST], str] = {
    ast.BitAnd: "& is not supported; for conditions, write and",
    ast.BitOr: "| is not supported; for conditions, write or",
    ast.BitXor: "^ is not supported; for conditions, write !=",
    ast.Invert: "~ is not supported; write -x - 1",
    ast.LShift: "<< is not supported; write x * 2 ** k",
    ast.RShift: ">> is not supported; write x // 2 ** k",
    ast.MatMult: "@ is not supported; write a for loop",
}
_INSTEAD: dict[type[ast.AST], str] = {
    ast.Import: "imports are not supported: remove the line; the noise functions are available without it",
    ast.ImportFrom: "imports are not supported: remove the line; the noise functions are available "
    "without it",
    ast.ListComp: "comprehensions are not supported; fill a list in a for loop",
    ast.SetComp: "comprehensions are not supported; fill a list in a for loop",
    ast.DictComp: "comprehensions are not supported; fill a list in a for loop",
    ast.GeneratorExp: "comprehensions are not supported; fill a list in a for loop",
    ast.Lambda: "lambda is not supported; define a function with def",
    ast.ClassDef: "classes are not supported; define functions with def",
    ast.Try: "try is not supported: the model never raises an exception, so keep only the body of try",
    ast.With: "with is not supported: keep only its body",
    ast.Global: "global is not supported: return the value from the function instead",
    ast.Nonlocal: "nonlocal is not supported: return the value from the function instead",
    ast.Dict: "dictionaries are only supported in choice({...}); write a list, indexed by 0, 1, 2",
    ast.Set: "sets are not supported; write a list",
    ast.JoinedStr: "f-strings are not supported: write each label as plain text in quotes",
    ast.NamedExpr: ":= is not supported; write the assignment on its own line",
    ast.Await: "await is not supported; remove it",
    ast.Yield: "yield is not supported; write output(...)",
    ast.Raise: "raise is not supported, because a failure is visible to the attacker: write "
    'output("failed"), then stop',
    ast.Assert: "assert is not supported; if it always holds, remove it",
    ast.Delete: "del is not supported; remove it",
    ast.Starred: "a star is not supported here",
    ast.Match: "match is not supported; write if and elif",
    ast.AsyncFor: "async is not supported; remove the word",
    ast.AsyncFunctionDef: "async is not supported; remove the word",
}


def instead(tree: ast.AST, otherwise: str = "this is not supported in programs") -> str:
    """Returns why a tree is refused, with what to write instead where that is known."""
    if isinstance(tree, ast.Attribute):
        hint = ATTRIBUTES.get(tree.attr, "")
        name = tree.value.id if isinstance(tree.value, ast.Name) else "a"
        return "methods and modules are not supported, so a dot is not allowed here" + (
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


MAX_DEPTH = 60  # blocks and expressions inside each other
MAX_DIGITS = 100

NOISE = {
    "flip": (1, 1),
    "uniform": (2, 2),
    "binomial": (2, 2),
    "geometric": (1, 1),
    "one_sided_geometric": (1, 1),
    "laplace": (1, 1),
    "exponential": (1, 1),
    "gauss": (1, 1),
    "discrete_gaussian": (1, 1),
}
FUNCTIONS = {
    **NOISE,
    "len": (1, 1),
    "abs": (1, 1),
    "sum": (1, 1),
    "min": (1, None),
    "max": (1, None),
    "range": (1, 3),
    "clamp": (3, 3),
    "exp": (1, 1),
}
_OF_LISTS = ("len", "sum", "min", "max")
RESERVED = frozenset({*FUNCTIONS, "choice", "output", "stop"})
ENCLOSED = ("gauss", "discrete_gaussian")  # noise without closed forms

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}
IN_PLACE = ("+=", "-=", "*=", "/=", "//=", "%=", "**=")  # no lists on their left


class Expressions:
    """Turns expressions of Python's tree into ours, and refuses whatever is not on the whitelist."""

    def __init__(self, text: str, known: Collection[str], calls: Collection[str] = ()) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.known = known  # the functions that the program defines
        self.calls = calls  # the mechanisms that it may call

    def place(self, tree: ast.AST) -> Place:
        """Returns the place of a tree; Python counts bytes, we count characters."""
        line, column = getattr(tree, "lineno", 1), getattr(tree, "col_offset", 0)
        before = self.lines[line - 1].encode()[:column] if line <= len(self.lines) else b""
        return Place(line, len(before.decode(errors="replace")))

    def refuse(self, reason: str, tree: ast.AST) -> ProgramError:
        """Returns the error about a tree."""
        return ProgramError(reason, self.text, *self.place(tree))

    def several(self, tree: ast.expr) -> Node:
        """Reads what is given to several names: a tuple may stand here."""
        if isinstance(tree, ast.Tuple):
            return Items(tuple(self.node(e, 1) for e in tree.elts), self.place(tree))
        return self.node(tree, 0)

    def sequence(self, tree: ast.expr, depth: int) -> Node:
        """Reads what a loop runs through, or what is counted: a tuple or a range may stand here."""
        if isinstance(tree, ast.Tuple):
            return Items(tuple(self.node(e, depth + 1) for e in tree.elts), self.place(tree))
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "range":
            return self.call(tree, depth)
        return self.node(tree, depth)

    def node(self, tree: ast.expr, depth: int) -> Node:
        """Reads an expression.

        Raises:
            ProgramError: it is not in the language.
        """
        if depth > MAX_DEPTH:
            raise self.refuse(f"nested deeper than {MAX_DEPTH}", tree)
        place = self.place(tree)
        match tree:
            case ast.Constant():
                return Literal(self.constant(tree), place)
            case ast.Name():
                return self.name(tree)
            case ast.UnaryOp():
                inner = self.node(tree.operand, depth + 1)
                words = {ast.USub: "neg", ast.UAdd: "+", ast.Not: "not"}
                word = next((w for kind, w in words.items() if isinstance(tree.op, kind)), None)
                if word:
                    zero = (Literal(Fraction(0), place),) if word == "+" else ()
                    return Apply(word, (*zero, inner), place)
            case ast.BinOp() if type(tree.op) in BINARY:
                left, right = self.node(tree.left, depth + 1), self.node(tree.right, depth + 1)
                return Apply(BINARY[type(tree.op)], (left, right), place)
            case ast.BoolOp():
                word = "and" if isinstance(tree.op, ast.And) else "or"
                return Apply(word, tuple(self.node(v, depth + 1) for v in tree.values), place)
            case ast.Compare():
                return self.comparison(tree, depth)
            case ast.IfExp():
                test = self.condition(tree.test, depth + 1)
                parts = (self.node(part, depth + 1) for part in (tree.body, tree.orelse))
                return Apply("if", (test, *parts), place)
            case ast.Tuple():
                raise self.refuse("a tuple is not supported as a value; write a list, [a, b]", tree)
            case ast.List():
                return Items(tuple(self.node(e, depth + 1) for e in tree.elts), place)
            case ast.Subscript():
                return self.subscript(tree, depth)
            case ast.Call():
                if isinstance(tree.func, ast.Name) and tree.func.id == "range":
                    reason = (
                        "range is only supported in loops, after in, and inside len, sum, min and max; write "
                        "a list here"
                    )
                    raise self.refuse(reason, tree)
                return self.call(tree, depth)
        raise self.refuse(instead(tree), tree)

    def condition(self, tree: ast.expr, depth: int) -> Node:
        """Reads what decides: a number beside a comparison is a mistake there, and a value elsewhere."""
        parts = [tree]
        while parts:
            part = parts.pop()
            if isinstance(part, ast.BoolOp):
                if lone := lone_number(part):
                    raise self.refuse(lone.reason, lone.tree)
                parts += part.values
            elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
                parts.append(part.operand)
        return self.node(tree, depth)

    def name(self, tree: ast.Name) -> Node:
        if tree.id in ("stop", "output"):
            written = "stop" if tree.id == "stop" else "output(...)"
            reason = f"{written} must be a statement on its own line; choose another name for a value"
            raise self.refuse(reason, tree)
        if tree.id in RESERVED or tree.id in self.known or tree.id in self.calls:
            what = "mechanism" if tree.id in self.calls else "function"
            raise self.refuse(f"{tree.id} is a {what}; call it: {tree.id}(...)", tree)
        return Variable(tree.id, self.place(tree))

    def constant(self, tree: ast.Constant) -> Constant:
        """Reads a number, a label, True or False."""
        value = tree.value
        if isinstance(value, (bool, str)):
            return value
        written = ast.get_source_segment(self.text, tree) or ""
        if len(written) > MAX_DIGITS:
            raise self.refuse("the number has too many digits", tree)
        if isinstance(value, int):
            return Fraction(value)
        if isinstance(value, float):
            try:
                return Fraction(exact_decimal(written.replace("_", "")))
            except ValueError as error:
                raise self.refuse(str(error), tree) from None
        reason = (
            f"{written} is not supported as a value: use numbers, labels in quotes, True, False and lists"
        )
        if value is None:
            reason += '; write a label, such as "none"'
        raise self.refuse(reason, tree)

    def comparison(self, tree: ast.Compare, depth: int) -> Node:
        values = [self.node(tree.left, depth + 1)]
        for op, part in zip(tree.ops, tree.comparators, strict=True):
            inside = isinstance(op, (ast.In, ast.NotIn))
            values.append(self.sequence(part, depth + 1) if inside else self.node(part, depth + 1))
        parts: list[Node] = []
        for k, op in enumerate(tree.ops):
            if type(op) not in _COMPARE:
                raise self.refuse("is and is not are not supported; write == or !=", tree)
            parts.append(Apply(_COMPARE[type(op)], (values[k], values[k + 1]), self.place(tree)))
        if len(parts) > 1:
            for middle in tree.comparators[:-1]:
                if any(isinstance(n, ast.Call) for n in ast.walk(middle)):
                    reason = (
                        "the middle of a chained comparison must be a name or a number; assign the call to a "
                        "name first"
                    )
                    raise self.refuse(reason, middle)
            return Apply("and", tuple(parts), self.place(tree))
        return parts[0]

    def subscript(self, tree: ast.Subscript, depth: int) -> Node:
        if not isinstance(tree.slice, ast.Slice):
            base = self.sequence(tree.value, depth + 1)
            return Apply("index", (base, self.node(tree.slice, depth + 1)), self.place(tree))
        base = self.node(tree.value, depth + 1)
        if tree.slice.step is not None:
            raise self.refuse("slices with a step are not supported", tree)
        low, high = tree.slice.lower, tree.slice.upper
        ends = [Literal(Fraction(0), self.place(tree)) if low is None else self.node(low, depth + 1)]
        if high is not None:
            ends.append(self.node(high, depth + 1))
        return Apply("slice", (base, *ends), self.place(tree))

    def meant(self, name: str) -> str:
        """Returns which function was meant by an unknown one.

        Distributions that look alike are different, so one of them is proposed only for a slip of the pen or
        for the first letters of its name. Their names in other libraries count as well.
        """
        told = [*self.calls, *self.known, *NOISE, "choice", *WRITE]
        near = get_close_matches(name, told, n=1, cutoff=TYPED)
        if not near and len(name) > 2:
            near = [word for word in told if word.startswith(name)]
        if not near:
            others = [*self.calls, *self.known, *(word for word in FUNCTIONS if word not in NOISE), "output"]
            near = get_close_matches(name, others, n=1)
        if not near:
            return f"the functions are {', '.join([*FUNCTIONS, 'choice', 'output'])}"
        mends = [f" If so, {WRITE[word]}" for word in near if word in WRITE]
        return f"did you mean {' or '.join(near)}?{mends[0] if len(near) == len(mends) == 1 else ''}"

    def call(self, tree: ast.Call, depth: int) -> Node:
        if not isinstance(tree.func, ast.Name):
            raise self.refuse(
                instead(tree.func, "only a function can be called; write its name here"), tree.func
            )
        name = tree.func.id
        if name == "choice":
            return self.choice(tree, depth)
        if name == "output":
            raise self.refuse("output(...) must be a statement on its own line", tree)
        if tree.keywords:
            reason = "arguments cannot be passed by name here; pass them by position"
            if name == "stream":
                reason = WRITE["stream"]
            elif any(each.arg == "size" for each in tree.keywords):
                reason = f"size= is not supported: {name} draws one number; call it in a list or a loop"
            raise self.refuse(reason, tree)
        read = self.sequence if name in _OF_LISTS and len(tree.args) == 1 else self.node
        given = tuple(read(a, depth + 1) for a in tree.args)
        if name in self.known:
            return Call(name, given, self.place(tree))
        if name in self.calls:
            return Ask(name, given, self.place(tree))
        if name not in FUNCTIONS:
            hint = WRITE.get(name) or without_library(name) or self.meant(name)
            raise self.refuse(f"unknown function {name}; {hint}", tree)
        least, most = FUNCTIONS[name]
        if len(given) < least or (most is not None and len(given) > most):
            count = str(least) if least == most else f"{least} to {most}" if most else f"at least {least}"
            raise self.refuse(f"{name} needs {count} argument{'' if count.endswith('1') else 's'}", tree)
        return Apply(name, given, self.place(tree))

    def choice(self, tree: ast.Call, depth: int) -> Node:
        given = tree.args[0] if len(tree.args) == 1 and not tree.keywords else None
        if not isinstance(given, ast.Dict) or not given.keys:
            raise self.refuse(
                'choice needs a table of labels and probabilities: choice({"a": 1/2, "b": 1/2})', tree
            )
        table: dict[Constant, Node] = {}
        for key, value in zip(given.keys, given.values, strict=True):
            constant = self.key(key, tree)
            if constant in table:
                raise self.refuse("this value is listed twice in choice", key or tree)
            table[constant] = self.node(value, depth + 1)
        return Choice(tuple(table.items()), self.place(tree))

    def key(self, tree: ast.expr | None, table: ast.expr) -> Constant:
        """Reads a value of `choice`: a label, or a number, which may be calculated with `+ - * /`."""
        match tree:
            case ast.Constant():
                return self.constant(tree)
            case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, inner):
                number = self.key(inner, table)
                if type(number) is Fraction:
                    return -number if isinstance(sign, ast.USub) else number
            case ast.BinOp(left, word, right):
                first, second = self.key(left, table), self.key(right, table)
                if type(first) is Fraction and type(second) is Fraction:
                    known = _calculated(first, word, second)
                    if known is not None:
                        return known
        raise self.refuse(
            "the values of choice must be labels, or numbers such as 0.5, -1 or 1/2", tree or table
        )


def _calculated(left: Fraction, word: ast.operator, right: Fraction) -> Fraction | None:
    match word:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div() if right:
            return left / right
    return None


Lifted = tuple[list[Statement], Node]  # what goes before, and the expression that is left


def lifted(body: Sequence[Statement]) -> tuple[Statement, ...]:
    """Returns a block in which each call is the value of an assignment to names, and nothing else."""
    return tuple(new for statement in body for new in _statement(statement))


def _statement(statement: Statement) -> list[Statement]:
    match statement:
        case Assign(_, indices, value, _):
            first, kept = _call(value) if isinstance(value, Call) and not indices else _node(value)
            more, where = _all(indices)
            return [*first, *more, replace(statement, indices=where, value=kept)]
        case If(test, then, otherwise, place):
            first, kept = _node(test)
            return [*first, If(kept, lifted(then), lifted(otherwise), place)]
        case For(names, values, body, place):
            first, kept = _node(values)
            return [*first, For(names, kept, lifted(body), place)]
        case While(test, body, place):
            first, kept = _node(test)
            if not first:
                return [replace(statement, body=lifted(body))]
            leaving = If(kept, (), (Jump("break", place),), place)
            return [While(Literal(True, place), (*first, leaving, *lifted(body)), place)]
        case Output() | Return():
            first, kept = _node(statement.value)
            return [*first, replace(statement, value=kept)]
        case Jump():
            return [statement]


def _has_call(node: Node) -> bool:
    return any(isinstance(inner, Call) for inner in every_node(node))


def _all(nodes: Sequence[Node]) -> tuple[list[Statement], tuple[Node, ...]]:
    found = [_node(node) for node in nodes]
    return [s for first, _ in found for s in first], tuple(kept for _, kept in found)


def _node(node: Node) -> Lifted:
    """Returns an expression without calls, and what goes before it."""
    if not _has_call(node):
        return [], node
    match node:
        case Call():
            first, call = _call(node)
            name = _temporary(node)
            return [*first, Assign((name.name,), (), call, node.place)], name
        case Apply("and" | "or", parts, _):
            return _deciding(node, parts)
        case Apply("if", (test, yes, no), place):
            first, kept = _node(test)
            name = _temporary(node)
            return [*first, If(kept, _given(name, yes), _given(name, no), place, part=True)], name
        case Apply(operator, arguments, place):
            first, given = _all(arguments)
            return first, Apply(operator, given, place)
        case Ask(name, arguments, place):
            first, given = _all(arguments)
            return first, Ask(name, given, place)
        case Items(items, place):
            first, given = _all(items)
            return first, Items(given, place)
        case Choice(table, place):
            first, given = _all([share for _, share in table])
            return first, Choice(tuple(zip((v for v, _ in table), given, strict=True)), place)
    return [], node


def _call(call: Call) -> tuple[list[Statement], Call]:
    first, given = _all(call.arguments)
    return first, replace(call, arguments=given)


def _deciding(node: Apply, parts: Sequence[Node]) -> Lifted:
    """Makes the later parts of `and` and `or` branches: those before decide who comes there."""
    name = _temporary(node)
    plain = max(1, next(k for k, part in enumerate(parts) if _has_call(part)))
    start = parts[0] if plain == 1 else Apply(node.operator, tuple(parts[:plain]), node.place)
    inner: tuple[Statement, ...] = ()
    for before, part in reversed(list(zip(parts[plain - 1 :], parts[plain:], strict=False))):
        block: tuple[Statement, ...] = (*_given(name, part), *inner)
        test = replace(name, place=before.place)
        yes, no = (block, ()) if node.operator == "and" else ((), block)
        inner = (If(test, yes, no, part.place, part=True),)
    return [*_given(name, start), *inner], name


def _given(name: Variable, value: Node) -> tuple[Statement, ...]:
    first, kept = _call(value) if isinstance(value, Call) else _node(value)
    return (*first, Assign((name.name,), (), kept, value.place))


def _temporary(node: Node) -> Variable:
    """Returns a variable that no program can name; one for each place and kind of expression."""
    kind = node.operator if isinstance(node, Apply) else "call"
    return Variable(f"#{kind}:{node.place.line}:{node.place.column}", node.place)


STREAM = "stream"
VALUES = 'stream needs the possible values of an entry: stream(values="real"), or stream(values="-1..1")'
PLAIN_NAMES = "only a plain name is supported here; write each other assignment on its own line"
MAX_LENGTH = 100_000  # characters of a program


def read_program(text: str, calls: Collection[str] = ()) -> Program:
    """Reads a program, which may call mechanisms of these names.

    Raises:
        ProgramError: anything that is not in the language, with the place, and what to write instead.
    """
    if len(text) > MAX_LENGTH:
        raise ProgramError(f"the program is longer than {MAX_LENGTH:,} characters", "", 1, 0)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(text.split("\n"), start=1):
        for column, char in enumerate(line):
            if not (char.isprintable() or char == "\t"):
                raise ProgramError(f"unexpected character {char!a}", text, number, column)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        return _ProgramReader(text, calls).program(tree)
    except SyntaxError as error:
        place = (error.lineno or 1, max(0, (error.offset or 1) - 1))
        if word := word_as_name(text, place[0]):
            reason = f"{word[0]} is a reserved word; choose another name, such as {word[0]}_"
            raise ProgramError(reason, text, place[0], word[1]) from None
        shown = "".join(text.split("\n")[place[0] - 1 : place[0]])
        raise ProgramError(of_syntax(shown, error.msg), text, *place) from None
    except (RecursionError, MemoryError, ValueError, OverflowError) as error:
        if isinstance(error, ProgramError):
            raise
        raise ProgramError("the program is nested too deeply", text, 1, 0) from None


class _ProgramReader(Expressions):
    """Turns Python's tree into ours, and refuses whatever is not on the whitelist."""

    loops: int = 0  # inside of so many
    in_function: str = ""

    def __init__(self, text: str, calls: Collection[str]) -> None:
        super().__init__(text, (), calls)
        self.giving_several: set[str] = set()  # the functions with `return a, b`

    def program(self, tree: ast.Module) -> Program:
        mistake = mistaken_import(tree, RESERVED) or first_use(
            tree,
            bound_in(tree, {n: m for n, m in {**BUILTINS, **CUSTOM}.items() if n not in self.calls}),
            RESERVED,
        )
        if mistake:
            raise self.refuse(mistake[1], mistake[0])
        body = tree.body
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:] if isinstance(body[0].value.value, str) else body
        defined = [s for s in body if isinstance(s, ast.FunctionDef)]
        for k, statement in enumerate(defined):
            if statement.name in (s.name for s in defined[:k]):
                raise self.refuse(
                    f"the function {statement.name} is defined twice; rename or remove one of the "
                    "definitions",
                    statement,
                )
            if isinstance(body[k], (ast.Import, ast.ImportFrom)):
                raise self.refuse(instead(body[k]), body[k])
            if statement is not body[k]:
                raise self.refuse(
                    "functions must be defined before the rest of the program; move this definition up",
                    statement,
                )
        self.known = {s.name for s in defined}
        functions = {s.name: self.function(s) for s in defined}
        no_recursion(functions, self.text)
        read = self.block(body[len(defined) :], 0)
        for block in (read, *(f.body for f in functions.values())):
            self.check_taken_apart(block)
        if not _says_something(read):
            reason = "the program never outputs anything: write output(...) or return ..."
            raise ProgramError(reason, self.text, 1, 0)
        functions = {name: replace(f, body=lifted(f.body)) for name, f in functions.items()}
        return Program(self.text, functions, lifted(read))

    def function(self, tree: ast.FunctionDef) -> Function:
        given = tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or given.posonlyargs:
            raise self.refuse("functions support plain parameters only; write def f(x, y):", tree)
        if tree.decorator_list:
            raise self.refuse("decorators are not supported here; remove this one", tree.decorator_list[0])
        if tree.returns or any(a.annotation for a in given.args):
            raise self.refuse("type annotations are not supported here; remove them", tree)
        names = tuple(self.new_name(a.arg, a) for a in given.args)
        if len(set(names)) < len(names):
            raise self.refuse("two parameters have the same name; rename one of them", tree)
        if tree.name in RESERVED or tree.name in self.calls:
            what = "a reserved word" if tree.name in RESERVED else "a mechanism that the program calls"
            raise self.refuse(f"{tree.name} is {what}; choose another name", tree)
        body = tree.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        self.in_function = tree.name
        read = self.block(body, 0)
        self.in_function = ""
        return Function(tree.name, names, read, self.place(tree))

    def block(self, body: list[ast.stmt], depth: int) -> tuple[Statement, ...]:
        if depth > MAX_DEPTH:
            raise self.refuse(f"blocks are nested more than {MAX_DEPTH} levels deep", body[0])
        return tuple(s for tree in body for s in self.statement(tree, depth))

    def statement(self, tree: ast.stmt, depth: int) -> list[Statement]:
        place = self.place(tree)
        match tree:
            case ast.Pass():
                return []
            case ast.Break() | ast.Continue():
                word = "break" if isinstance(tree, ast.Break) else "continue"
                if not self.loops:
                    raise self.refuse(f"{word} is only allowed inside a loop", tree)
                return [Jump(word, place)]
            case ast.Expr():
                return [self.alone(tree.value)]
            case ast.Assign() if len(tree.targets) == 1:
                target = tree.targets[0]
                if not isinstance(target, (ast.Tuple, ast.List)):
                    return [self.assign(target, self.node(tree.value, 0), place)]
                return self.taken_apart(target, self.several(tree.value), place)
            case ast.Assign():
                raise self.refuse(
                    "chained assignments are not supported; assign each name on its own line", tree.targets[1]
                )
            case ast.AugAssign() if type(tree.op) in BINARY:
                return [self.augmented(tree, BINARY[type(tree.op)])]
            case ast.If():
                then, rest = self.block(tree.body, depth + 1), self.block(tree.orelse, depth + 1)
                return [If(self.condition(tree.test, 0), then, rest, place)]
            case ast.For() if not tree.orelse:
                names = self.targets(tree.target)
                streams = is_stream(tree.iter)
                if not streams and _nearly_stream(tree.iter):
                    raise self.refuse(
                        f"unknown function {ast.unparse(tree.iter.func)}; did you mean stream?", tree.iter
                    )
                values = self.stream(tree, depth) if streams else self.sequence(tree.iter, 0)
                return [For(names, values, self.looped(tree.body, depth), place)]
            case ast.While() if not tree.orelse:
                return [While(self.condition(tree.test, 0), self.looped(tree.body, depth), place)]
            case ast.For() | ast.While():
                raise self.refuse_else(tree)
            case ast.Return():
                return [self.returned(tree)]
            case ast.FunctionDef():
                inside = "a function inside a function" if self.in_function else "a function inside a block"
                raise self.refuse(f"{inside} is not supported; define it at the left margin", tree)
            case ast.AnnAssign():
                raise self.refuse("type annotations are not supported here; remove them", tree)
        raise self.refuse(instead(tree, "this statement is not supported in programs"), tree)

    def stream(self, tree: ast.For, depth: int) -> Node:
        """Reads `stream(values=...)`, what the loop over all inputs runs through."""
        call = tree.iter
        assert isinstance(call, ast.Call)
        if depth or self.in_function or self.loops:
            raise self.refuse("the loop over a stream must start at the left margin", tree)
        if not isinstance(tree.target, ast.Name):
            raise self.refuse(
                "an entry of a stream must be a single name; write for x in stream(...)", tree.target
            )
        if call.args or len(call.keywords) != 1 or call.keywords[0].arg != "values":
            raise self.refuse(VALUES, call)
        return Apply(STREAM, (self.node(call.keywords[0].value, 0),), self.place(call))

    def refuse_else(self, tree: ast.For | ast.While) -> ProgramError:
        """Returns the error about the `else` of a loop, which has no place in Python's tree."""
        inside = tree.orelse[0].lineno
        before = range(inside, 0, -1)
        line = next((k for k in before if self.lines[k - 1].lstrip().startswith("else")), inside)
        column = len(self.lines[line - 1]) - len(self.lines[line - 1].lstrip())
        reason = (
            "else after a loop is not supported; set a variable before break, and test it with "
            "if after the loop"
        )
        return ProgramError(reason, self.text, line, column)

    def looped(self, body: list[ast.stmt], depth: int) -> tuple[Statement, ...]:
        self.loops += 1
        read = self.block(body, depth + 1)
        self.loops -= 1
        return read

    def augmented(self, tree: ast.AugAssign, word: str) -> Statement:
        """Reads `name += value`: the operator `+=` of ours has no list on its left."""
        target: ast.expr = tree.target
        while isinstance(target, ast.Subscript):
            if any(isinstance(n, ast.Call) for n in ast.walk(target.slice)):
                reason = "a call in these brackets would be evaluated twice; assign it to a name first"
                raise self.refuse(reason, target.slice)
            target = target.value
        arguments = (self.node(tree.target, 0), self.node(tree.value, 0))
        place = self.place(tree)
        return self.assign(tree.target, Apply(f"{word}=", arguments, place), place)

    def returned(self, tree: ast.Return) -> Statement:
        place = self.place(tree)
        if tree.value is None:
            if self.in_function:
                raise self.refuse("a function must return a value; write return ...", tree)
            return Jump("stop", place)
        if not self.in_function:
            return Return(self.node(tree.value, 0), place)
        if isinstance(tree.value, ast.Tuple):
            self.giving_several.add(self.in_function)
        return Return(self.several(tree.value), place)

    def check_taken_apart(self, body: Sequence[Statement]) -> None:
        for found in every_statement(body):
            apart = found.value if isinstance(found, Assign) and len(found.names) > 1 else None
            for node in (inner for given in nodes_of(found) for inner in every_node(given)):
                if isinstance(node, Call) and node.name in self.giving_several and node is not apart:
                    reason = f"{node.name} returns several values; write a, b = {node.name}(...)"
                    raise ProgramError(reason, self.text, *node.place)

    def alone(self, tree: ast.expr) -> Statement:
        """Reads an expression that is a statement: `output(x)` or `stop`."""
        word = tree.func if isinstance(tree, ast.Call) else tree
        if isinstance(word, ast.Name) and word.id in ("stop", "output") and self.in_function:
            hint = "; a function returns its value" if word.id == "output" else ""
            raise self.refuse(f"{word.id} is not allowed inside a function{hint}", tree)
        if isinstance(tree, ast.Name) and tree.id == "stop":
            return Jump("stop", self.place(tree))
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            if tree.func.id == "stop" and not tree.args:
                return Jump("stop", self.place(tree))
            if tree.func.id == "output":
                if len(tree.args) != 1 or tree.keywords:
                    raise self.refuse(
                        "output takes exactly one value; write output([a, b]) for several", tree
                    )
                return Output(self.node(tree.args[0], 0), self.place(tree))
        if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
            raise self.refuse("text on its own has no effect; write a comment with #", tree)
        if instead(tree, ""):
            raise self.refuse(instead(tree), tree)
        if isinstance(tree, ast.Call):
            self.node(tree, 0)  # may have a better reason
        ways = "return ..." if self.in_function else "output(...), stop"
        raise self.refuse(f"a value on its own has no effect; write {ways} or name = ...", tree)

    def assign(self, target: ast.expr, value: Node, place: Place) -> Assign:
        indices: list[Node] = []
        while isinstance(target, ast.Subscript):
            if isinstance(target.slice, ast.Slice):
                raise self.refuse("slices cannot be assigned to; assign each entry", target)
            indices.insert(0, self.node(target.slice, 0))  # evaluated from left to right, after the value
            target = target.value
        if indices:
            if not isinstance(target, ast.Name):
                raise self.refuse(instead(target, "only a variable can be assigned to"), target)
            return Assign((self.new_name(target.id, target),), tuple(indices), value, place)
        return Assign(self.targets(target), (), value, place)

    def taken_apart(self, target: ast.Tuple | ast.List, value: Node, place: Place) -> list[Statement]:
        """Reads an assignment to several names, or to entries of lists: first all values, then one by one."""
        if len(target.elts) < 2 or not any(isinstance(e, ast.Subscript) for e in target.elts):
            return [self.assign(target, value, place)]
        kept = tuple(f"#{k}:{place.line}:{place.column}" for k in range(len(target.elts)))
        found: list[Statement] = [Assign(kept, (), value, place)]
        for name, entry in zip(kept, target.elts, strict=True):
            if not isinstance(entry, (ast.Name, ast.Subscript)):
                raise self.refuse(PLAIN_NAMES, entry)
            found.append(self.assign(entry, Variable(name, self.place(entry)), self.place(entry)))
        return found

    def targets(self, tree: ast.expr) -> tuple[str, ...]:
        if isinstance(tree, ast.Name):
            return (self.new_name(tree.id, tree),)
        if isinstance(tree, (ast.Tuple, ast.List)) and tree.elts:
            if len(tree.elts) == 1:
                raise self.refuse("unpacking a single entry is not supported; write name = values[0]", tree)
            names = []
            for entry in tree.elts:
                if not isinstance(entry, ast.Name):
                    raise self.refuse(PLAIN_NAMES, entry)
                names.append(self.new_name(entry.id, entry))
            return tuple(names)
        raise self.refuse(instead(tree, "a name is expected here"), tree)

    def new_name(self, name: str, tree: ast.AST) -> str:
        if name in RESERVED or name in self.known:
            raise self.refuse(f"{name} is a reserved word or a function; choose another name", tree)
        if name in self.calls:
            reason = f"{name} is a mechanism that the program calls; choose another name"
            raise self.refuse(reason, tree)
        if not name.isascii() or name.startswith("__"):
            raise self.refuse("names may only contain the letters a to z, digits and _", tree)
        return name


def is_stream(tree: ast.expr) -> bool:
    """Tells whether a loop runs over `stream(...)`."""
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == STREAM


def _nearly_stream(tree: ast.expr) -> TypeGuard[ast.Call]:
    """Tells whether a call is of a word that looks like `stream`, and has the word `values`."""
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        return False
    named = [word.arg for word in tree.keywords] == ["values"]
    return named and nearest(tree.func.id, (STREAM,)) is not None


def no_recursion(functions: Mapping[str, Function], text: str) -> None:
    """Checks that no function calls itself, directly or through others.

    Raises:
        ProgramError: one does.
    """
    calls = {name: set(_called(f.body)) for name, f in functions.items()}
    for name, function in functions.items():
        seen: set[str] = set()
        pending = list(calls[name])
        while pending:
            other = pending.pop()
            if other == name:
                reason = f"the function {name} calls itself: recursion is not supported; write a loop"
                raise ProgramError(reason, text, *function.place)
            if other not in seen:
                seen.add(other)
                pending.extend(calls[other])


def _called(body: Sequence[Statement]) -> Iterator[str]:
    for statement in every_statement(body):
        for node in nodes_of(statement):
            yield from (inner.name for inner in every_node(node) if isinstance(inner, Call))


def _says_something(body: Sequence[Statement]) -> bool:
    return any(isinstance(s, (Output, Return)) for s in every_statement(body))
