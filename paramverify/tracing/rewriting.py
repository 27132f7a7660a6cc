"""Functions as traced code: the same statements, with calls, divisions and decimal numbers looked at.

The tree of a function is read from its file and compiled again, with its own globals and closure. Line
numbers stay. `calls` has what the inserted names do.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

from paramverify.tracing.definitions import definition
from paramverify.tracing.formulas import Refused
from paramverify.tracing.tracer import TRACED

HELPER = "__paramverify__"  # the object in the globals of traced code that the inserted calls go to
_OUTER, _INNER = "__around__", "__traced__"
_NO_WAY = {
    "eval": "eval runs code that cannot be read: call the function itself",
    "exec": "exec runs code that cannot be read: call the function itself",
    "globals": "globals() gives access to state outside the function: use the names themselves",
    "vars": "vars() gives access to state outside the function: use the attributes themselves",
    "__import__": "__import__ is not supported: use an import statement",
}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}


_SIGNS: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.Invert: "invert"}


class _Rewriter(ast.NodeTransformer):
    """Inserts the calls of `calls.Inserted` into a tree; `class_name` is that of the method's class.

    Constructs that are not supported stay as they are, and are in `found`: the line and the reason.
    """

    def __init__(self, class_name: str) -> None:
        self.class_name = class_name
        self.found: list[tuple[int, str]] = []

    def _refuse(self, reason: str, near: ast.stmt | ast.expr | ast.pattern) -> None:
        self.found.append((near.lineno, reason))

    def _inserted(self, name: str, arguments: list[ast.expr], near: ast.AST) -> ast.Call:
        function = ast.Attribute(ast.Name(HELPER, ast.Load()), name, ast.Load())
        made = ast.Call(function, arguments, [])
        for node in (made, function, function.value, *(a for a in arguments if not hasattr(a, "lineno"))):
            ast.copy_location(node, near)
        return made

    def _mangled(self, name: str) -> str:
        if self.class_name and name.startswith("__") and not name.endswith("__"):
            return f"_{self.class_name.lstrip('_')}{name}"
        return name

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._refuse("a class inside a function is not supported: define it at the top of the file", node)
        return node  # its methods move with it

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        self._refuse("async is not supported; write a plain function", node)
        return node  # it becomes another one

    def visit_Await(self, node: ast.Await) -> ast.AST:
        self._refuse("await is not supported; call a plain function", node)
        return self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        if isinstance(node.cls, ast.Name) and node.cls.id in ("float", "int", "complex"):
            reason = f"the pattern {node.cls.id}() is not supported; test with isinstance instead"
            self._refuse(reason, node)
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                as_repr = ast.copy_location(ast.Constant(part.conversion in (ord("r"), ord("a"))), part.value)
                part.value = self._inserted("text", [self.visit(part.value), as_repr], part.value)
                part.format_spec = part.format_spec and self.visit(part.format_spec)
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        return node  # patterns are compared by ==, which numbers of traced code understand

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        node.patterns = [self.visit(pattern) for pattern in node.patterns]  # keys are values, see above
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is float:
            return self._inserted("number", [node], node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        word = ast.copy_location(ast.Constant(_OPERATORS[type(node.op)]), node)
        return self._inserted("binary", [word, self.visit(node.left), self.visit(node.right)], node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        value = self.visit(node.value)
        word = ast.copy_location(ast.Constant(f"i{_OPERATORS[type(node.op)]}".rstrip("_")), node)
        target = node.target
        if isinstance(target, ast.Name):
            load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            return ast.copy_location(
                ast.Assign([target], self._inserted("binary", [word, load, value], node)), node
            )
        if isinstance(target, ast.Attribute):
            name: ast.expr = ast.copy_location(ast.Constant(self._mangled(target.attr)), node)
            before = self._inserted("of_attribute", [self.visit(target.value), name], node)
        else:
            before = self._inserted("of_entry", [self.visit(target.value), self._index(target.slice)], node)
        call = self._inserted("change", [before, word, value], node)  # in the order in which Python does
        return ast.copy_location(ast.Expr(call), node)

    def _index(self, tree: ast.expr) -> ast.expr:
        """Returns an index as an expression of its own; slices need the function."""
        if isinstance(tree, ast.Slice):
            none = ast.copy_location(ast.Constant(None), tree)
            ends = [self.visit(end) if end else none for end in (tree.lower, tree.upper, tree.step)]
            return self._inserted("slice", ends, tree)
        if isinstance(tree, ast.Tuple):
            return ast.copy_location(ast.Tuple([self._index(e) for e in tree.elts], ast.Load()), tree)
        found: ast.expr = self.visit(tree)
        return found

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            name = ast.copy_location(ast.Constant(self._mangled(node.attr)), node)
            return self._inserted("attribute", [value, name], node)
        node.value = value
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name):
            if node.func.id in _NO_WAY:
                self._refuse(_NO_WAY[node.func.id], node)
                return self.generic_visit(node)
            if node.func.id in ("super", "locals"):
                return self.generic_visit(node)
        arguments = [self.visit(node.func), *(self.visit(a) for a in node.args)]
        made = self._inserted("call", arguments, node)
        made.keywords = [self.visit(k) for k in node.keywords]
        return made

    def visit_Return(self, node: ast.Return) -> ast.AST:
        value = self.visit(node.value) if node.value else ast.copy_location(ast.Constant(None), node)
        node.value = self._inserted("returned", [value], node)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._inserted(_gone_through(node.target), [node.iter], node)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._inserted(_gone_through(node.target), [node.iter], node.iter)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = self._inserted("ordered", [node.value], node)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        self.generic_visit(node)
        node.value = self._inserted("ordered", [node.value], node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        several = (isinstance(t, (ast.Tuple, ast.List)) or _is_slice(t) for t in node.targets)
        if any(several):
            node.value = self._inserted("spread", [node.value], node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        word = _SIGNS.get(type(node.op))
        if word is None or isinstance(node.operand, ast.Constant):
            return node
        return self._inserted("unary", [ast.copy_location(ast.Constant(word), node), node.operand], node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return node
        if len(node.ops) > 1:
            self._refuse("`is` in a chain of comparisons is not supported: write `and`", node)
            return node
        same = self._inserted("same", [node.left, node.comparators[0]], node)
        if isinstance(node.ops[0], ast.Is):
            return same
        return ast.copy_location(ast.UnaryOp(ast.Not(), same), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store):
            node.value = self._inserted("entries", [node.value], node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        _without_annotations(node.args)
        node.returns = None
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        node.body = [self.visit(s) for s in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        target = self.visit(node.target)
        return ast.copy_location(ast.Assign([target], self.visit(node.value)), node)


def _gone_through(target: ast.expr) -> str:
    return "spread" if isinstance(target, (ast.Tuple, ast.List)) else "ordered"


def _is_slice(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Subscript) and isinstance(tree.slice, ast.Slice)


def _without_annotations(given: ast.arguments) -> None:
    for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if argument is not None:
            argument.annotation = None


def definition_of(function: FunctionType) -> ast.FunctionDef | ast.Lambda:
    """Returns the tree of a function in its file.

    Raises:
        Refused: its source cannot be read, or has changed.
    """
    code, name = function.__code__, function.__name__
    try:
        lines, _ = inspect.findsource(function)
    except (OSError, TypeError, IndexError):
        raise Refused(f"the source of {name} cannot be read: define the function in a file") from None
    tree = definition("".join(lines), code)
    if isinstance(tree, ast.AsyncFunctionDef):
        raise Refused(f"{name} is async: write a plain function", code.co_filename, code.co_firstlineno)
    if tree is None and name == "<lambda>":
        reason = "the lambda cannot be found in its line: define a function with def"
        raise Refused(reason, code.co_filename, code.co_firstlineno)
    if tree is None:
        raise Refused(f"{code.co_filename} has changed since {name} was imported from it: import it again")
    return copy.deepcopy(tree)


_KNOWN: dict[CodeType, CodeType | tuple[Refused, ...]] = {}


def rewritten(function: FunctionType) -> CodeType:
    """Returns the code of a function as traced code.

    Raises:
        Refused: its source cannot be read, or has a construct that is not supported.
    """
    code = function.__code__
    if code not in _KNOWN:
        _KNOWN[code] = _rewritten(function)
    found = _KNOWN[code]
    if isinstance(found, tuple):
        raise Refused(found[0].reason, found[0].file, found[0].line)
    return found


def refused_constructs(function: FunctionType) -> tuple[Refused, ...]:
    """Returns all places of a function that `rewritten` refuses."""
    try:
        rewritten(function)
    except Refused as error:
        found = _KNOWN.get(function.__code__)
        return found if isinstance(found, tuple) else (error,)
    return ()


def _rewritten(function: FunctionType) -> CodeType | tuple[Refused, ...]:
    """Returns the code of a function as traced code, or all constructs in it that are not supported."""
    code = function.__code__
    parts = function.__qualname__.split(".")
    around = parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else ""
    tree = definition_of(function)
    if isinstance(tree, ast.Lambda):
        body = ast.copy_location(ast.Return(tree.body), tree)
        tree = ast.copy_location(ast.FunctionDef(_INNER, tree.args, [body], []), tree)
    tree.decorator_list = []
    defaults = len(tree.args.defaults), [d is not None for d in tree.args.kw_defaults]
    nothing = ast.Constant(None)
    tree.args.defaults = [ast.copy_location(ast.Constant(None), tree) for _ in range(defaults[0])]
    tree.args.kw_defaults = [ast.copy_location(nothing, tree) if given else None for given in defaults[1]]
    tree.name = _INNER  # its own name means the global one, or the one of its closure
    rewriter = _Rewriter(around)
    made: ast.stmt = rewriter.visit(tree)
    if rewriter.found:
        return tuple(Refused(reason, code.co_filename, line) for line, reason in sorted(rewriter.found))
    if around:
        # a name that the method does not mean by the name of its class, but that mangles names as it does
        made = ast.copy_location(ast.ClassDef(f"_____{around.lstrip('_')}", [], [], [made], []), tree)
    free = [n for n in code.co_freevars if n != "__class__"]
    empty = ast.arguments([], [], None, [], [], None, [])
    sets: list[ast.stmt] = [
        ast.copy_location(ast.Assign([ast.Name(n, ast.Store())], ast.Constant(None)), tree) for n in free
    ]
    outer = ast.copy_location(ast.FunctionDef(_OUTER, empty, [*sets, made], []), tree)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    compiled = compile(module, TRACED + code.co_filename, "exec", dont_inherit=True)
    return _code_inside(compiled).replace(co_name=code.co_name, co_qualname=code.co_qualname)


def _code_inside(code: CodeType) -> CodeType:
    """Returns the code of the function that was compiled."""
    pending = [code]
    while pending:
        one = pending.pop(0)
        if one.co_name == _INNER:
            return one
        pending += [c for c in one.co_consts if isinstance(c, CodeType)]
    raise Refused("the function cannot be compiled again")


def traced_function(function: FunctionType, defaults: Mapping[str, Any]) -> FunctionType:
    """Returns a function as traced code, in the globals and with the closure of the original.

    `defaults` has "positional" and "keyword": the values of its defaults, which are those of this run.
    """
    code = rewritten(function)
    cells: dict[str, CellType] = dict(
        zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    )
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, defaults["positional"], closure)
    made.__kwdefaults__ = defaults["keyword"]
    made.__qualname__ = function.__qualname__
    return made
