"""Which functions of Python's libraries the names of a program mean, and the first use of one that it has."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from paramverify.models.programs.library import BARE, LIBRARIES, TABLE, refusal
from paramverify.models.programs.translating import UniformFunction

OURS = "paramverify"
CUSTOM: Mapping[str, str] = {  # what names mean in a program without imports
    "np": "numpy",
    "stats": "scipy.stats",
    **{name: name for name in LIBRARIES},
}
BUILTINS = {name.removeprefix("builtins."): name for name in TABLE if name.startswith("builtins.")}
GENERATORS: Mapping[str, str] = {  # what makes a generator; without arguments it has no seed
    "numpy.random.default_rng": "numpy.random.Generator",
    "numpy.random.RandomState": "numpy.random",
    "random.Random": "random",
    "random.SystemRandom": "random",
    "secrets.SystemRandom": "random",
}
Bound = Mapping[str, str]


def meant(tree: ast.expr, bound: Bound) -> str | None:
    """Returns the name in its library of what an expression means; None if that is nothing of a library."""
    match tree:
        case ast.Name(name):
            return bound.get(name)
        case ast.Attribute(value, name):
            around = meant(value, bound)
            if around == "numpy.random" and name == "Generator":
                return "numpy.random.Generator.__class__"  # its functions have a generator as an argument
            return around and f"{around}.{name}"
        case ast.Call(function, [], []):
            return GENERATORS.get(meant(function, bound) or "")
    return None


def imported(tree: ast.AST) -> dict[str, str]:
    """Returns what the imports in a tree give names to."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                found[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def assigned(tree: ast.AST) -> Counter[str]:
    """Returns how often each name of a tree is set: assigned, defined, or an argument."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found[node.id] += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] += 1
        elif isinstance(node, ast.arg):
            found[node.arg] += 1
    return found


def bound_in(tree: ast.AST, outside: Bound) -> dict[str, str]:
    """Returns what of libraries the names of a tree mean; `outside` is for those that it does not set.

    A name is a generator if it is set once, to one without a seed.
    """
    own, within = assigned(tree), imported(tree)
    found = {n: m for n, m in {**outside, **within}.items() if n not in own}
    found = {n: m for n, m in found.items() if m.partition(".")[0] in (*LIBRARIES, "builtins")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, made = node.targets[0], meant(node.value, found)
            if (
                isinstance(target, ast.Name)
                and own[target.id] == 1
                and isinstance(node.value, ast.Call)
                and made
            ):
                found[target.id] = made
    return found


def mistaken_import(tree: ast.AST, words: Collection[str]) -> tuple[ast.AST, str] | None:
    """Returns the first import that gives a word of the language another meaning, or names nothing."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if alias.name == "*":
                    return node, "this import does not say which names it is for: import each by its name"
                name = alias.asname or alias.name.partition(".")[0]
                if name in words and not is_word(imported(node)[name], name):
                    return node, other_word(name, imported(node)[name])
    return None


def is_word(meaning: str, word: str) -> bool:
    """Tells whether something of a library is the word of the language itself."""
    return meaning in (f"{OURS}.{word}", f"{OURS}.language.{word}", f"builtins.{word}") or (
        word == "exp" and meaning in ("math.exp", "numpy.exp")
    )


def other_word(word: str, meaning: str) -> str:
    """Returns what to do about a name that means something else than the word of the language."""
    return f"{word} is {meaning} here, and not the {word} of the language: give it another name"


def first_use(tree: ast.AST, bound: Bound, words: Collection[str]) -> tuple[ast.expr, str] | None:
    """Returns the first use of something of a library in a tree, with why it is refused and what is the same.

    `words` are those of the language. Generators without a seed count last: nothing uses them any more then.
    """
    known = {name: meaning for name, meaning in bound.items() if name not in words}
    for node, reason in _uses(tree, known):
        return node, reason
    for made in ast.walk(tree):
        if isinstance(made, ast.Call) and meant(made, known):
            return made, f"{ast.unparse(made)} is a generator that nothing uses any more: leave it out"
    return None


def without_library(name: str) -> str:
    """Returns what to write for a name that is a function of libraries, if these are not named; else ""."""
    several = BARE.get(name, ())
    if not several:
        return ""
    differ = f"{' and '.join(several)} are not the same" if len(several) > 1 else f"it may be {several[0]}"
    return f"{differ}: write the import of the one that you mean, and the next message is about it"


def _uses(tree: ast.AST, bound: Bound) -> Iterator[tuple[ast.expr, str]]:
    match tree:
        case ast.Compare(left, [_], [right]):
            for side in (left, right):
                name = meant(side.func, bound) if isinstance(side, ast.Call) else None
                if isinstance(side, ast.Call) and name and isinstance(TABLE.get(name), UniformFunction):
                    yield tree, refusal(name, tree, side)
        case ast.Assign(_, value) if isinstance(value, ast.Call) and meant(value, bound):
            return
        case ast.Call(function) if name := meant(function, bound):
            if not (name in GENERATORS and meant(tree, bound)):
                yield tree, refusal(name, tree)
        case ast.Attribute() if name := meant(tree, bound):
            yield tree, refusal(name, tree)
        case ast.Name(_, ast.Load()) if (
            name := meant(tree, bound)
        ) in TABLE and name not in BUILTINS.values():
            yield tree, refusal(str(name), tree)
    for child in ast.iter_child_nodes(tree):
        yield from _uses(child, bound)
