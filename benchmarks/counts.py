"""The counts by which the house is watched, beside their goals.

    python benchmarks/counts.py [TREE] [--branches] [--names]

All of it is read from the syntax of the sources; nothing is imported.

- Lines and modules: of `paramverify/` by folder, and of `tests/`; every line of a `.py` file counts.
- Names used twice: names of classes at the top of a module that two modules of `paramverify/` have.
- Branches: places that ask what something is, where another case of the family could be forgotten. Counted in
  all modules but those of `reports/theorems/`, `kernel/` and `rereader/`, which must know the forms that
  they write or check. One place is one of
    - `isinstance(x, C)` or `isinstance(x, (C, D))`, once for the call, if a class there is of a family;
    - `case C(...)` in a `match`, once for each such pattern;
    - `x is Kind.M`, `is not`, `==`, `!=`, `in (Kind.M, ...)`, and `case Kind.M`, if `Kind` is an enumeration
      of a family;
    - a call of `is_about(model, C)` or `of_form(model, C)`, which ask for the class of a model's measure;
    - a read of an attribute `x.by_...` that a class of models or measures has (such as `by_sets`).
  A place that asks two of these, as `isinstance(x, C) and x.kind is Kind.M` does, counts twice.
- Families: the classes and unions of types that are defined at the top of the modules in `FAMILIES`, whether
  they come by `from ... import`, by another name, or through their module. A name of a union stands for its
  classes. Private classes, protocols and errors are none of a family.
- Bounds, witnesses, results: classes whose name, or that of a base class, starts or ends with one of the
  words of `ROLES`; a class counts in the first role that fits.
- Refusals: calls of functions and methods named `need_...` or `refuse_...`.

Earlier counts had other definitions, and are not comparable: "163 branches on models and measures", and 278.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "paramverify"
FAMILIES = {
    "model": ("models.model", "models.enclosed_models", "models.definitions"),
    "measure": (
        *("divergences.forms", "divergences.sums", "divergences.chi_squared", "divergences.hockey_stick"),
        *("divergences.kl", "divergences.max_divergence", "divergences.renyi"),
        *("divergences.zero_concentrated", "divergences"),
    ),
    "witness": (
        *("evidence.witnesses", "evidence.algebraic_witnesses", "evidence.divergence_witnesses"),
        *("evidence.enclosed_witnesses", "evidence.interval_witnesses"),
        *("evidence.witness", "evidence.told_witnesses"),
    ),
    "verdict": ("verdicts", "answers"),
    "subject": (
        *("api.reading", "privacy.cases", "logic.logic_cases", "interactive.system_cases"),
        *("automata.stream_cases", "subjects.kinds"),
    ),
}
GUARDS = {"is_about": "measure", "of_form": "measure"}  # functions that ask for a class, with its family
APART = ("reports/theorems/", "kernel/", "rereader/")
ROLES = {
    "bounds": ("Bound", "Bounds", "Budget", "Budgets", "Least", "Between", "Curve", "Optimum", "Interval"),
    "witnesses": ("Witness", "Counterexample", "Violation", "Refutation", "Example"),
    "results": ("Report", "Result", "Results", "Verdict", "Answer", "Outcome"),
}
GOALS = {"lines": "<= 130,000", "modules": "about 500", "tests": "<= 65,000", "branches": "<= 60"}


@dataclass(frozen=True)
class Source:
    """A module: its place below the package, its dotted name there, its text and its syntax."""

    place: str
    name: str
    lines: int
    tree: ast.Module


@dataclass
class Known:
    """The names of the families: for each module the names that it defines, with their families."""

    defined: dict[str, dict[str, str]] = field(default_factory=dict)
    enumerations: set[tuple[str, str]] = field(default_factory=set)
    flags: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Branch:
    """A place that asks what something is."""

    family: str
    form: str
    place: str
    line: int


def sources(folder: Path) -> list[Source]:
    """Returns all modules of a folder."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        place = path.relative_to(folder).as_posix()
        name = place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        found.append(Source(place, name, len(text.splitlines()), ast.parse(text)))
    return found


def bases(node: ast.ClassDef) -> list[str]:
    """Returns the names of the base classes."""
    bare = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
    return [ast.unparse(base).split(".")[-1] for base in bare]


def families(modules: list[Source]) -> Known:
    """Returns what the modules of the families define."""
    known = Known()
    by_name = {module.name: module for module in modules}
    for family, names in FAMILIES.items():
        for name in names:
            if name not in by_name:  # a count of nothing would look like a good one
                print(f"{name} is not there: no branch on a {family} of it is counted", file=sys.stderr)
                continue
            known.defined[name] = dict.fromkeys(told(by_name[name], known, family), family)
    return known


def told(module: Source, known: Known, family: str) -> Iterator[str]:
    """Yields the names of the classes and unions of a module; notes enumerations and flags."""
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef):
            above = bases(node)
            if node.name.startswith("_") or any(b == "Protocol" or b.endswith("Error") for b in above):
                continue
            if any(base.endswith("Enum") for base in above):
                known.enumerations.add((module.name, node.name))
            if family in ("model", "measure"):
                known.flags.update(dict.fromkeys(flags(node), family))
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            target = node.targets[0]
            if isinstance(target, ast.Name) and isinstance(node.value.op, ast.BitOr):
                yield target.id
        elif isinstance(node, ast.ImportFrom) and module.place.endswith("/__init__.py"):
            inside = (node.module or "").removeprefix(PACKAGE).removeprefix(".")
            kept = known.defined.get(inside, {})
            known.enumerations |= {
                (module.name, alias.name)
                for alias in node.names
                if (inside, alias.name) in known.enumerations
            }
            yield from (alias.name for alias in node.names if alias.name in kept)


def flags(node: ast.ClassDef) -> Iterator[str]:
    """Yields the attributes and properties of a class that are named `by_...`."""
    for part in node.body:
        target = part.target if isinstance(part, ast.AnnAssign) else None
        name = target.id if isinstance(target, ast.Name) else getattr(part, "name", "")
        if name.startswith("by_"):
            yield name


class Names:
    """What the names of one module mean: those of a family, with the module that defines each."""

    def __init__(self, module: Source, known: Known) -> None:
        self.known = known
        own = known.defined.get(module.name, {})
        self.meant = {name: (module.name, name) for name in own}
        self.modules: dict[str, str] = {}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
                inside = (node.module or "").removeprefix(PACKAGE).removeprefix(".")
                for alias in node.names:
                    self.bind(inside, alias)

    def bind(self, inside: str, alias: ast.alias) -> None:
        """Notes one imported name."""
        if alias.name in self.known.defined.get(inside, {}):
            self.meant[alias.asname or alias.name] = (inside, alias.name)
        below = f"{inside}.{alias.name}" if inside else alias.name
        if below in self.known.defined:
            self.modules[alias.asname or alias.name] = below

    def family(self, node: ast.expr, enumeration: bool = False) -> str:
        """Returns the family of a class that an expression names, or ""."""
        found = None
        if isinstance(node, ast.Name):
            found = self.meant.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            inside = self.modules.get(node.value.id, "")
            found = (inside, node.attr) if node.attr in self.known.defined.get(inside, {}) else None
        if found is None or (enumeration and found not in self.known.enumerations):
            return ""
        return self.known.defined[found[0]][found[1]]

    def member(self, node: ast.expr) -> str:
        """Returns the family of an enumeration of which an expression is a member, or ""."""
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return next(filter(None, map(self.member, node.elts)), "")
        return self.family(node.value, enumeration=True) if isinstance(node, ast.Attribute) else ""


def classes(node: ast.expr) -> Iterator[ast.expr]:
    """Yields the classes of the second argument of isinstance."""
    if isinstance(node, ast.Tuple):
        for part in node.elts:
            yield from classes(part)
    elif isinstance(node, ast.BinOp):
        yield from classes(node.left)
        yield from classes(node.right)
    else:
        yield node


def branches(module: Source, known: Known) -> Iterator[Branch]:
    """Yields the places of a module that ask what something is."""
    names = Names(module, known)
    for node in ast.walk(module.tree):
        family, form = asks(node, names)
        if family:
            yield Branch(family, form, module.place, getattr(node, "lineno", 0))


def asks(node: ast.AST, names: Names) -> tuple[str, str]:
    """Returns the family that a node asks about, and in which form; two empty texts if it asks nothing."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        found = (names.family(one) for one in classes(node.args[1]))
        return next(filter(None, found), ""), "isinstance"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in GUARDS:
        return GUARDS[node.func.id], "guard"
    if isinstance(node, ast.MatchClass):
        return names.family(node.cls), "match"
    if isinstance(node, ast.MatchValue):
        return names.member(node.value), "kind"
    if isinstance(node, ast.Compare):
        return next(filter(None, map(names.member, (node.left, *node.comparators))), ""), "kind"
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return names.known.flags.get(node.attr, ""), "flag"
    return "", ""


def roles(modules: list[Source]) -> dict[str, list[str]]:
    """Returns the classes of each role."""
    found: dict[str, list[str]] = {role: [] for role in ROLES}
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                named = [node.name, *bases(node)]
                fits = (role for role, words in ROLES.items() if any(is_one(name, words) for name in named))
                if role := next(fits, ""):
                    found[role].append(f"{module.place}: {node.name}")
    return found


def is_one(name: str, words: tuple[str, ...]) -> bool:
    """Tells whether a name starts or ends with one of the words."""
    return name.startswith(words) or name.endswith(words)


def refusals(modules: list[Source]) -> Counter[str]:
    """Returns how often each `need_...` and `refuse_...` is called."""
    counts: Counter[str] = Counter()
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                counts[name] += name.startswith(("need_", "refuse_"))
    return +counts


def twice(modules: list[Source]) -> dict[str, list[str]]:
    """Returns the names of classes that several modules have."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module.place)
    return {name: places for name, places in sorted(found.items()) if len(places) > 1}


def main() -> None:
    """Counts and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", nargs="?", type=Path, default=ROOT, help="the source tree")
    parser.add_argument("--branches", action="store_true", help="list the branches with their places")
    parser.add_argument("--names", action="store_true", help="list names used twice, roles and refusals")
    options = parser.parse_args()
    modules, tests = sources(options.tree / PACKAGE), sources(options.tree / "tests")
    known = families(modules)
    looked = [module for module in modules if not module.place.startswith(APART)]
    asked = [branch for module in looked for branch in branches(module, known)]
    doubled, by_role, refused = twice(modules), roles(modules), refusals(modules)

    print("| folder | modules | lines |\n| --- | --- | --- |")
    folders: defaultdict[str, list[int]] = defaultdict(list)
    for module in modules:
        folders[module.place.split("/")[0] if "/" in module.place else "."].append(module.lines)
    for folder, lines in sorted(folders.items(), key=lambda item: -sum(item[1])):
        print(f"| {folder} | {len(lines)} | {sum(lines):,} |")

    print("\n| count | now | goal |\n| --- | --- | --- |")
    print(f"| lines of {PACKAGE}/ | {sum(m.lines for m in modules):,} | {GOALS['lines']} |")
    print(f"| modules of {PACKAGE}/ | {len(modules)} | {GOALS['modules']} |")
    print(f"| lines of tests/ | {sum(m.lines for m in tests):,} | {GOALS['tests']} |")
    watched = [branch for branch in asked if branch.family in ("model", "measure", "witness")]
    print(f"| branches on the class of a model, measure or witness | {len(watched)} | {GOALS['branches']} |")
    print(f"| names of classes used twice | {len(doubled)} | |")
    for role, found in by_role.items():
        print(f"| classes that are {role} | {len(found)} | |")
    print(f"| calls of need_... and refuse_... | {refused.total()} | |")

    print("\n| branches on a | isinstance | match | kind | flag | guard | all |\n" + "| --- " * 7 + "|")
    for family in FAMILIES:
        counts = Counter(branch.form for branch in asked if branch.family == family)
        cells = [counts[form] for form in ("isinstance", "match", "kind", "flag", "guard")]
        print(f"| {family} | {' | '.join(map(str, cells))} | {sum(cells)} |")

    if options.branches:
        for branch in sorted(asked, key=lambda branch: (branch.family, branch.place, branch.line)):
            print(f"{branch.family}, {branch.form}: {branch.place}:{branch.line}")
    if options.names:
        for name, places in doubled.items():
            print(f"{name}: {', '.join(places)}")
        for role, found in by_role.items():
            print(f"{role}: {'; '.join(found)}")
        print(", ".join(f"{name}: {number}" for name, number in refused.most_common()))


if __name__ == "__main__":
    main()
