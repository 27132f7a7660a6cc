"""The package as users get it: installed, built, started in every way, typed, and layered."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from configparser import ConfigParser
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

import paramverify

PACKAGE = Path(paramverify.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
IMPORTABLE = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in MODULES
    if path.name not in ("__init__.py", "__main__.py")
]

# Every import goes to a lower layer or stays in its own package.
LAYERS = (
    ("kernel", "printable", "spelling"),
    ("checker", "rereader"),
    ("errors",),
    ("toml_mistakes",),
    ("algebra", "files", "language", "plugins", "tracing"),
    ("claims", "tables"),
    ("bounds", "divergences"),
    ("answers", "models"),
    ("formats",),
    ("evidence",),
    ("simplify", "verdicts"),
    ("encodings", "exact", "expectations"),
    ("backends",),
    ("processes",),
    ("tasks",),
    ("portfolio",),
    ("privacy",),
    ("automata", "interactive", "scripts", "synthesis"),
    ("comparison", "composition", "logic", "statistics"),
    ("reports",),
    ("subjects",),
    ("pages",),
    ("api", "cli"),
    ("testing",),
    ("__main__",),
)


# What the second reader takes of the kernel. Judgements are its own: words of errors, numbers of documents,
# rounding that is proved, and sums over regions of noise, which the kernel needs for automata alone.
SHARED = {
    "strict_reading": {"Rejected", "UnreadCase", "counted", "plain"},
    "evidence_polynomials": {"integer", "number"},
    "rounded_constants": {"UNIT", "exp", "exp_bounds", "ln"},
    "noise_regions": {
        *("ONE", "ZERO", "Key", "Kinds", "Pieces", "Region", "RegionSums", "Terms", "VariableLaw"),
        *("add_terms", "ends_of", "limited", "possible"),
    },
}


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command without the variables that change what Python imports."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def output_of(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Returns the standard output of a command that has to succeed."""
    done = run(*command, cwd=cwd, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that is installed beside these tests, except the package itself."""
    folder = tmp_path_factory.mktemp("dependencies")
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(place).iterdir():
            if not entry.name.lower().startswith(("paramverify", "__editable__")):
                (folder / entry.name).symlink_to(entry)
    return folder


def copy_of(root: Path, folder: Path) -> Path:
    """Returns a copy of the sources as in a fresh clone, so that builds leave the repository alone."""
    leave = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "*.pyc")
    return Path(shutil.copytree(root, folder / "clone", symlinks=True, ignore=leave))


class Venv:
    """A fresh virtual environment that sees the dependencies and nothing else."""

    def __init__(self, folder: Path, dependencies: Path) -> None:
        self.folder = folder
        output_of(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
        self.python = folder / "bin" / "python"
        self.command = folder / "bin" / "paramverify"
        site = output_of(
            self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
        )
        (Path(site.strip()) / "dependencies.pth").write_text(f"{dependencies}\n")

    def pip(self, *arguments: str | Path) -> None:
        """Installs without a network: what the build needs is among the dependencies of the tests."""
        pip = (sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check")
        offline = ("--no-deps", "--no-index", "--no-build-isolation", "--quiet")
        output_of(*pip, "install", *offline, *arguments, cwd=self.folder)

    def check(self, elsewhere: Path) -> None:
        """Checks that the package works from another folder, with its cases."""
        self.check_start(elsewhere)
        listed = output_of(self.command, "cases", cwd=elsewhere)
        assert {"blood-test", "logic/survey"} <= {line.split()[0] for line in listed.splitlines()}
        (elsewhere / "case.toml").write_text(output_of(self.command, "cases", "survey-memory", cwd=elsewhere))
        output_of(self.command, "verify", "case.toml", cwd=elsewhere)

    def check_start(self, elsewhere: Path) -> None:
        """Checks that command and module start from another folder."""
        for command in ((self.command,), (self.python, "-m", "paramverify")):
            shown = output_of(*command, "--help", cwd=elsewhere)
            assert shown.startswith("Usage: paramverify ")
            assert paramverify.__version__ in output_of(*command, "--version", cwd=elsewhere)


@pytest.fixture(scope="session")
def sdist(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked sdist, made from a copy of the sources, which is gone then."""
    folder = tmp_path_factory.mktemp("sdist")
    source = copy_of(root, folder)
    hook = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"
    output_of(sys.executable, "-c", hook, folder, cwd=source)
    shutil.rmtree(source)
    (made,) = folder.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return unpacked


@pytest.fixture(scope="session")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built once from the sdist, so that it shows that the sdist is complete."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check")
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--check-build-dependencies")
    output_of(*pip, *offline, "--wheel-dir", folder, sdist, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.slow
def test_sdist_is_complete(sdist: Path) -> None:
    """The sdist has the pages of the root, and nothing that Python or Coq compiled."""
    pages = {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md"}
    assert pages <= {path.name for path in sdist.iterdir()}
    assert not [path for path in sdist.rglob("*") if path.suffix in (".pyc", ".vo", ".glob")]


@pytest.fixture(scope="session")
def installed(wheel: Path, dependencies: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """A fresh environment in which the wheel is installed."""
    venv = Venv(tmp_path_factory.mktemp("installed") / "venv", dependencies)
    venv.pip(wheel)
    return venv


@pytest.mark.slow
def test_wheel_contents(wheel: Path, root: Path) -> None:
    """The wheel has what the repository has: every module, `encodings` included, the type marker, templates,
    the cases with what they name, the theories, and the licence; nothing else."""
    data = [PACKAGE / "py.typed", PACKAGE / "portfolio" / "order.json", *(PACKAGE / "templates").iterdir()]
    cases = [path for path in (root / "cases").rglob("*") if path.is_file()]
    wanted = {
        **{str(path.relative_to(PACKAGE.parent)): path for path in (*MODULES, *data)},
        **{
            f"paramverify/pages/assets/{path.name}": path for path in (PACKAGE / "pages" / "assets").iterdir()
        },
        **{f"paramverify/shipped/{path.relative_to(root / 'cases').as_posix()}": path for path in cases},
        **{f"paramverify/theories/{path.name}": path for path in (root / "proofs" / "theories").glob("*.v")},
    }
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        assert {name for name in names if name.startswith("paramverify/")} == wanted.keys()
        assert [n for n, path in sorted(wanted.items()) if archive.read(n) != path.read_bytes()] == []
    info = f"paramverify-{paramverify.__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"paramverify", info}
    assert any(name.startswith(info) and name.endswith("/LICENSE") for name in names)


@pytest.mark.slow
def test_wheel_metadata(wheel: Path, root: Path) -> None:
    """The wheel names its licence, its Python, its command, and exactly the extras that are documented."""
    with ZipFile(wheel) as archive:
        info = f"paramverify-{paramverify.__version__}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode().split("\n\n")[0].splitlines()
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert "paramverify = paramverify.cli.main:main" in entry_points
    extras = {line.removeprefix("Provides-Extra: ") for line in metadata if line.startswith("Provides-Extra")}
    assert extras == {
        "all",
        "bench",
        "cluster",
        "docs",
        "plots",
        "qepcad",
        "release",
        "sos",
        "stats",
        "storm",
        "test",
        "yices",
    }
    pyproject = tomllib.loads((root / "pyproject.toml").read_text())
    assert set(pyproject) == {"build-system", "tool"}


def test_all_is_every_extra_for_users(root: Path) -> None:
    """The extra `all` has what every other extra has, except those for work on paramverify."""
    setup = ConfigParser()
    setup.read(root / "setup.cfg")
    extras = {name: set(text.split()) for name, text in setup["options.extras_require"].items()}
    every = extras.pop("all")
    assert extras.pop("bench")
    assert extras.pop("docs")
    assert extras.pop("release")
    assert extras.pop("test")
    assert every == set().union(*extras.values())


@pytest.mark.slow
def test_installed_wheel(installed: Venv, tmp_path: Path) -> None:
    """The wheel works in a fresh environment, and does not need the sources."""
    installed.check(tmp_path)


@pytest.mark.slow
def test_editable_install(root: Path, dependencies: Path, tmp_path: Path) -> None:
    """`pip install -e .` works in a fresh environment, and changes of the sources take effect."""
    source = copy_of(root, tmp_path)
    venv = Venv(tmp_path / "venv", dependencies)
    venv.pip("-e", source)
    venv.check_start(tmp_path)
    (source / "paramverify" / "__init__.py").write_text('__version__ = "changed"\n')
    assert "changed" in output_of(venv.command, "--version", cwd=tmp_path)


@pytest.mark.slow
def test_from_the_repository_root(root: Path, dependencies: Path, tmp_path: Path) -> None:
    """`python -m paramverify` works from the repository root without any installation."""
    venv = Venv(tmp_path / "venv", dependencies)
    assert output_of(venv.python, "-m", "paramverify", "--help", cwd=root).startswith("Usage: paramverify ")
    assert run(venv.python, "-m", "paramverify", "--help", cwd=tmp_path).returncode != 0


@pytest.mark.slow
def test_repository_root_on_the_path(root: Path, dependencies: Path, tmp_path: Path) -> None:
    """Python starts with the root on PYTHONPATH, and `encodings` is still the standard library's."""
    venv = Venv(tmp_path / "venv", dependencies)
    script = "import encodings, paramverify.formats.smtlib; print(encodings.__file__)"
    found = output_of(venv.python, "-c", script, cwd=tmp_path, PYTHONPATH=str(root))
    assert Path(found.strip()).parent == Path(sysconfig.get_path("stdlib")) / "encodings"
    shown = output_of(venv.python, "-m", "paramverify", "--help", cwd=tmp_path, PYTHONPATH=str(root))
    assert shown.startswith("Usage: paramverify ")


def test_why_encodings_has_no_init(root: Path, tmp_path: Path) -> None:
    """With an `__init__.py` in it, the link `encodings` at the root would stop Python from starting."""
    assert not (root / "paramverify" / "encodings" / "__init__.py").exists()
    (tmp_path / "encodings").mkdir()
    (tmp_path / "encodings" / "__init__.py").touch()
    assert run(sys.executable, "-c", "", cwd=tmp_path, PYTHONPATH=str(tmp_path)).returncode != 0


@pytest.mark.parametrize("name", ["backends", "encodings"])
def test_links_at_the_root(root: Path, name: str) -> None:
    """The two layers that people extend are links at the root, relative ones."""
    assert (root / name).readlink() == Path("paramverify") / name
    assert (root / name).resolve() == (root / "paramverify" / name).resolve()


USER_CODE = '''
from collections.abc import Mapping
from fractions import Fraction
from typing import assert_never

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Ring
from paramverify.backends import DECIDES, Backend
from paramverify.claims import Claim, Origin
from paramverify.errors import InputError
from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.verdicts import Holds, Unknown, Verdict, Violated


class Undecided:
    """A backend in a few lines."""

    name = "undecided"
    builtin = False
    description = "Never decides."
    install = "nothing to install"
    abilities = DECIDES

    def version(self) -> str | None:
        return "1"

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        return Open(End.GAVE_UP, str(claim.origins[0]))


def sentence(verdict: Verdict) -> str:
    match verdict:
        case Holds(evidence):
            return f"holds by {len(evidence)} proofs"
        case Violated(witness):
            return f"violated: {witness}"
        case Unknown(end, detail):
            return f"{end.value}: {detail}"
        case _:
            assert_never(verdict)


def point(answer: Answer) -> Mapping[str, Fraction] | None:
    if isinstance(answer, Refuted):
        return answer.point
    if isinstance(answer, Proved):
        return None
    raise InputError(answer.detail, file="case.toml")


ring = Ring(("p",))
box = {"p": Interval(Fraction(0), Fraction(1), lower_closed=True)}
claim = Claim(ring.variable("p"), Domain(ring, box), (Origin("a", "b", ("0", "1")),))
backend: Backend = Undecided()
answer: Answer = backend.decide(claim, {})
text: str = sentence(Unknown(End.TIMEOUT, claim.digest()))
truth: bool = claim.holds_at({"p": Fraction(1, 2)})

Interval(0.5, 1.0)  # type: ignore[arg-type]
Unknown("timeout", "")  # type: ignore[arg-type]
wrong: Verdict = Open(End.TIMEOUT)  # type: ignore[assignment]
number: int = claim.text()  # type: ignore[assignment]
'''


CALLING_CODE = """
from fractions import Fraction

import paramverify
from paramverify import Case, ExactNumber, Witness, load, loads
from paramverify.testing import assert_private

case: Case = load("case.toml")
other: Case = loads("title = 'x'").with_(budget="ln(2)", parameters={"p": Fraction(1, 2)})
report = case.verify(timeout=5, backends=["z3"], memory="2GB")
word: str = report.verdict
if report and isinstance(report.witness, Witness):
    ratio: ExactNumber = report.witness.ratio
    same: bool = ratio == 8 and ratio > Fraction(1, 3) and ratio < 2.5
    value: float = float(ratio)
budget = paramverify.budget(case, precision="1e-6", timeout=1)
if budget.ratio is not None:
    print(budget.ratio, float(budget.ratio))
data: dict[str, object] = paramverify.synthesize(case, "exact").to_dict()
accepted: bool = paramverify.check(report.evidence(), case).accepted
print(paramverify.show(case).latex(), paramverify.sample(case, runs=10).rejected)
assert_private(case, timeout=3)
case.verify(timeout="long")  # type: ignore[arg-type]
"""


@pytest.mark.slow
def test_types_for_users(installed: Venv, tmp_path: Path) -> None:
    """mypy accepts strict user code on the installed package, and sees the five mistakes marked in it.

    In strict mode a mark without a mistake is an error, so this fails too if the package has no types.
    """
    (tmp_path / "user.py").write_text(USER_CODE)
    (tmp_path / "calling.py").write_text(CALLING_CODE)
    options = ("--strict", "--python-executable", installed.python, "--cache-dir", os.devnull)
    shown = output_of(sys.executable, "-m", "mypy", *options, "user.py", "calling.py", cwd=tmp_path)
    assert shown == "Success: no issues found in 2 source files\n"


def loaded_by(script: str, cwd: Path) -> set[str]:
    """Returns the top-level modules that are loaded after a script."""
    report = "import sys; print(' '.join({name.split('.')[0] for name in sys.modules}))"
    return set(output_of(sys.executable, "-c", f"{script}\n{report}", cwd=cwd).splitlines()[-1].split())


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    """Neither importing the package nor printing help loads solvers, sympy, flint or rich."""
    heavy = {"cvc5", "flint", "matplotlib", "numpy", "pysmt", "rich", "scipy", "stormpy", "sympy", "z3"}
    script = "import paramverify; from paramverify.cli.main import run; assert run(['--help']) == 0"
    loaded = loaded_by(script, tmp_path)
    assert {"paramverify", "click"} <= loaded
    assert not heavy & loaded


@pytest.mark.slow
def test_no_module_imports_a_solver_when_it_is_imported(tmp_path: Path) -> None:
    """Solvers and sympy are imported where they are used; the walkers of PySMT are a module of their own."""
    heavy = {"cvc5", "matplotlib", "numpy", "pysmt", "scipy", "stormpy", "sympy", "z3"}
    names = [name for name in IMPORTABLE if name != "paramverify.formats.formula_printers"]
    script = f"import importlib\nfor name in {names}: importlib.import_module(name)"
    assert not heavy & loaded_by(script, tmp_path)


IMPORTS = re.compile(r"^ *(?:from [\w.]+ import (?:\([^)]*\)|[^(\n]+)|import [\w., ]+)$", re.MULTILINE)


@cache
def imports_of(path: Path) -> list[str]:
    """Returns the absolute names that a module imports anywhere, also for type checkers only.

    They are found by their lines, because to parse all modules takes ten seconds.
    """
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    found = []
    for line in IMPORTS.findall(re.sub(r"  #.*", "", path.read_text())):
        (node,) = ast.parse(line.strip()).body
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), ".".join(parts[:-1]))
            found += [f"{source}.{alias.name}" for alias in node.names]
    return found


def component(name: str) -> str | None:
    """Returns the part of the package that an absolute name belongs to, such as `algebra`."""
    first, _, rest = name.partition(".")
    part = rest.split(".")[0]
    inside = first == "paramverify" and any(part in layer for layer in LAYERS)
    return part if inside else None


def rank(part: str) -> int:
    return next(height for height, layer in enumerate(LAYERS) if part in layer)


def points_downwards(own: str, name: str) -> bool:
    """Whether a module of one part of the package may import this absolute name."""
    part = component(name)
    if own == "__init__":
        return part in ("api", "language") or not name.startswith("paramverify.")
    if part is None:
        return not name.startswith("paramverify.") or name == "paramverify.__version__"
    return part == own or rank(part) < rank(own)


@pytest.mark.slow
def test_imports_point_downwards() -> None:
    """A module imports from lower layers and from its own package only; the package itself is the face."""
    wrong = [
        f"{path.relative_to(PACKAGE)} must not import {name}"
        for path in MODULES
        for name in imports_of(path)
        if not points_downwards(path.relative_to(PACKAGE).with_suffix("").parts[0], name)
    ]
    assert wrong == []


def test_both_readers_share_what_is_listed() -> None:
    """The second reader takes the listed names of the kernel, and the kernel nothing of the second reader."""
    taken: dict[str, set[str]] = {}
    for path in MODULES:
        for name in imports_of(path):
            room, _, rest = name.removeprefix("paramverify.").partition(".")
            own = path.relative_to(PACKAGE).parts[0]
            assert (own, room) != ("kernel", "rereader"), path
            if (own, room) == ("rereader", "kernel"):
                taken.setdefault(rest.rpartition(".")[0], set()).add(rest.rpartition(".")[2])
    assert taken == SHARED


def test_every_room_has_its_layer() -> None:
    """Every package and every module beside them stands in the order."""
    rooms = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES} - {"__init__"}
    assert rooms == {part for layer in LAYERS for part in layer}


def test_no_files_import_each_other_in_a_circle() -> None:
    """There is an order of all files in which each imports earlier ones only."""
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in MODULES}
    graph: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for found in imports_of(path):
            graph[name] |= {known for known in (found, found.rpartition(".")[0]) if known in names}
    assert list(TopologicalSorter(graph).static_order())


def test_every_module_says_its_job() -> None:
    """Every module starts with a docstring."""
    silent = [str(path.relative_to(PACKAGE)) for path in MODULES if not re.match(r'r?"""', path.read_text())]
    assert silent == []


def test_workflows_call_the_scripts(root: Path) -> None:
    """The workflows for a public host run the documented scripts, which are executable Bash."""
    called: set[str] = set()
    for path in sorted((root / ".github" / "workflows").glob("*.yml")):
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        called |= {step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}
    assert {".ci/run", ".ci/release"} <= called
    for name in ("run", "release", "lowest"):
        assert os.access(root / ".ci" / name, os.X_OK)
        assert run("bash", "-n", f".ci/{name}", cwd=root).returncode == 0
