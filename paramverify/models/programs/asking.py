"""Mechanisms that a program calls: what they give for arguments, and how likely, with their own fresh noise.

A call is a draw whose outcomes and weights depend on the arguments alone. A program that is called runs by
itself, on these arguments; nothing of its variables or its noise is left after it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace

from paramverify.errors import DefectError, located
from paramverify.models.programs.arguments import (
    asked_at,
    constant_of,
    entries_of,
    named_arguments,
    result_of,
)
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.drawing import ProgramDrawing
from paramverify.models.programs.evaluating import Answers, Evaluator
from paramverify.models.programs.measure import UNIT_KEY
from paramverify.models.programs.runs import Told
from paramverify.models.programs.sharing import check_names, check_sharing
from paramverify.models.programs.syntax import Ask, CalledProgram, CalledRow, Program
from paramverify.models.programs.terms import Terms, plus, text
from paramverify.models.programs.values import Value, key

Finished = Mapping[Told, Terms]  # the weights of what runs have told at their end


@dataclass(frozen=True, eq=False)
class Asking:
    """Calls of mechanisms by one program; `run` runs a program that is called, with variables at its start.

    `known` is what was called before with the same arguments, here or by another program.
    """

    program: Program
    evaluator: Evaluator
    run: Callable[[Evaluator, Mapping[str, Value], dict[Hashable, Answers]], Finished]
    known: dict[Hashable, Answers] = field(default_factory=dict)

    def __call__(self, node: Ask, given: tuple[Value, ...]) -> Answers:
        """Returns what a mechanism gives for these arguments, with the weights.

        Raises:
            ProgramError: it does not take them, or does something itself that is not covered.
        """
        callee = self.program.calls[node.name]
        what = (callee.key, key(given))
        if what not in self.known:
            with asked_at(self.program, node):
                if isinstance(callee, CalledProgram):
                    self.known[what] = self._of_program(callee, node, given)
                else:
                    self.known[what] = _of_row(callee, given, self.evaluator.drawing)
        return self.known[what]

    def _of_program(self, callee: CalledProgram, node: Ask, given: tuple[Value, ...]) -> Answers:
        names = named_arguments(callee, node, given)
        program = callee.program
        drawing = replace(self.evaluator.drawing, text=program.text)
        evaluator = replace(self.evaluator, program=program, drawing=drawing)
        with located(key=callee.key, anchored=True):
            check_names(program, evaluator.parameters)
            check_sharing(program, names)
            finished = self.run(evaluator, names, self.known)
            total: Terms = {}
            for terms in finished.values():
                total = plus(total, terms)
            if text(total) != text({UNIT_KEY: drawing.bases.calculus.one}):
                raise DefectError(f"the runs of {node.name} have not the weight one")
            found: dict[Hashable, tuple[Value, Terms]] = {}
            for (written, _), terms in finished.items():
                value = result_of(program, node.name, written.outputs)
                before = found.get(key(value))
                found[key(value)] = value, plus(before[1], terms) if before else terms
        return [(value, terms) for value, terms in found.values() if terms]


def _of_row(callee: CalledRow, given: tuple[Value, ...], drawing: ProgramDrawing) -> Answers:
    entries = entries_of(callee.name, given, callee.count)
    row = callee.row(tuple(constant_of(callee.name, entry) for entry in entries))
    ring = drawing.checks.ring
    return [(value, {UNIT_KEY: Coefficient.of(ring, share)}) for value, share in row if share.numerator]
