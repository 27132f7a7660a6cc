"""Builds REDUCE, with Redlog, on Steel Bank Common Lisp from sources that are at hand.

    python benchmarks/build_reduce.py SOURCES TARGET

SOURCES is a folder or a git repository with the sources of REDUCE (https://reduce-algebra.sourceforge.io, BSD
licence), revision 6261 or about it: `common-lisp`, `packages` and `psl/boot.sl` are used. It needs `sbcl` (on
Debian the package sbcl) and takes about ten minutes. TARGET/redsbcl is then the program: put TARGET on PATH,
and the backend `redlog` finds it.

Four things are mended in the copy that is built: a function of older SBCLs that is no longer there, basic
functions that have moved to a package of their own and are needed before it, names of characters, and files
that are not UTF-8.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

PARTS = ("common-lisp", "packages", "psl/boot.sl")
MENDS = {
    # SBCL resets the guard page by itself when it unwinds
    "common-lisp/sl-on-cl.lisp": ("(sb-kernel::reset-control-stack-guard-page)", "nil"),
    "common-lisp/bootstrap.sh": (
        "(load!-package!-sources 'alg 'alg)",
        "(load!-package!-sources 'rtoolsboot 'rtools)\n(load!-package!-sources 'alg 'alg)\n"
        "(load!-package!-sources 'rtools 'rtools)",
    ),
    "common-lisp/build.sh": ("(load!-package 'poly)", "(load!-package 'rtools)\n(load!-package 'poly)"),
    "common-lisp/clrend.red": (
        "Comment The following functions, which are referenced in the basic",
        "global '(cr!* ff!* tab!*);\ncr!* := int2id 13;\nff!* := int2id 12;\ntab!* := int2id 9;\n\n"
        "Comment The following functions, which are referenced in the basic",
    ),
}
BEFORE_ALG = "module rtoolsboot;\ncreate!-package('(rtoolsboot general sort), nil);\nendmodule;\nend;\n"


def copy(sources: Path, target: Path) -> None:
    """Copies what is needed, from a folder or from the newest commit of a git repository."""
    if all((sources / part).exists() for part in PARTS):
        for part in PARTS:
            (target / part).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (sources / part).is_dir() else shutil.copy)(sources / part, target / part)
        return
    git = ["git", "-C", str(sources)]
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD", *PARTS], capture_output=True, check=True)
    for entry in filter(None, listed.stdout.decode().split("\0")):
        about, name = entry.split("\t", 1)
        mode, _, digest = about.split()
        found = subprocess.run([*git, "cat-file", "blob", digest], capture_output=True)
        if found.returncode:  # a snapshot may lack large files, such as logs of benchmarks
            print(f"left out: {name}", file=sys.stderr)
            continue
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(found.stdout)
        path.chmod(int(mode[-3:], 8))


def mend(target: Path) -> None:
    """Changes what this SBCL, and this layout of packages, do not accept."""
    for name, (old, new) in MENDS.items():
        path = target / name
        text = path.read_bytes()
        if text.count(old.encode()) != 1:
            sys.exit(f"{name} is another one than expected: {old!r} is not there once")
        path.write_bytes(text.replace(old.encode(), new.encode()))
    (target / "packages/rtools/rtoolsboot.red").write_text(BEFORE_ALG)
    for path in (target / "packages").rglob("*.red"):
        content = path.read_bytes()
        try:
            content.decode()
        except UnicodeDecodeError:
            path.write_bytes(content.decode("latin-1").encode())


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sources, target = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    if not shutil.which("sbcl"):
        sys.exit("sbcl is missing; on Debian: apt-get install sbcl")
    if target.exists():
        sys.exit(f"{target} is there already")
    copy(sources, target)
    mend(target)
    folder = target / "common-lisp"
    for script in ("build.sh", "bootstrap.sh"):
        (folder / script).chmod(0o755)
    with (target / "build.log").open("wb") as log:
        subprocess.run(["./build.sh", "-l", "sbcl"], cwd=folder, stdout=log, stderr=log, check=True)
    image = folder / "fasl.sbcl" / "reduce.img"
    if not image.exists():
        sys.exit(f"no image was made: see {target / 'build.log'} and {folder / 'log.sbcl'}")
    program = target / "redsbcl"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("sbcl")} --noinform --core "{image}" "$@"\n')
    program.chmod(0o755)
    asked = "load_package redlog; rlset r; off nat; rlqe all(x, x**2 + 1 > 0); quit;"
    said = subprocess.run([program], input=asked, capture_output=True, text=True)
    if "true$" not in said.stdout or "*****" in said.stdout:
        sys.exit(f"it answers wrong: {said.stdout}{said.stderr}")
    print(f"{program} answers; put {target} on PATH")


if __name__ == "__main__":
    main()
