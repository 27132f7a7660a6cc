"""Running a program whose noise has no closed form: its outputs with numbers that are enclosed later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paramverify.models.context import Checks
from paramverify.models.programs.evaluating import Evaluator
from paramverify.models.programs.functions import FunctionBases, FunctionTable, share_of
from paramverify.models.programs.running import ProgramRun
from paramverify.models.programs.runs import Input, Outputs, OutputsSoFar
from paramverify.models.programs.shares import Share
from paramverify.models.programs.sharing import check_names, check_sharing
from paramverify.models.programs.syntax import Program
from paramverify.models.programs.terms import Terms, plus
from paramverify.models.programs.values import Value


def enclosed_outputs_of(
    program: Program, names: Mapping[str, Value], inputs: Sequence[Input], checks: Checks
) -> tuple[list[list[tuple[Outputs, Share]]], FunctionTable]:
    """Returns for each input each output with its probability, as a number that `enclosing` encloses.

    See `outputs_of`; the program draws noise without closed forms.
    """
    evaluator = Evaluator.of(program, checks)
    bases = evaluator.drawing.bases
    assert isinstance(bases, FunctionBases)
    check_names(program, evaluator.parameters)
    check_sharing(program, names)
    run = ProgramRun(program, evaluator, tuple(inputs))
    run.start(names)
    rows: list[dict[OutputsSoFar, Terms]] = [{} for _ in inputs]
    for (outputs, agreeing), terms in run.finished.items():
        for k in agreeing.members:
            rows[k][outputs] = plus(rows[k][outputs], terms) if outputs in rows[k] else terms
    return [[(w.outputs, share_of(terms)) for w, terms in row.items() if terms] for row in rows], bases.table
