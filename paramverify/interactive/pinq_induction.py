"""The example motivated by PINQ for every t, maxPts, data and K at once, by induction ([T], Theorem 3).

Let K be any set of functions on multisets of data points with ε-differential privacy. Two runs are compared
whose contents are alike in all but one slot of age q (0 is the current slot). There the second run has B + Δ
where the first one has B. Of the formal sum Δ of data points only the signs matter, the form: (1) is a point
more (add), (1, −1) is one point in place of another (swap). Let x = |Δ| be the sum of the signs, and m the
number of free places in the slot of the first run, so m ≥ 0 and m − x ≥ 0. Let F be a set of forms
with these obligations:

1. Inserting a data point leads to equal states or to a form of F at age 0.
2. From each form of F, each data point leads to a form of F at the same age. At age 0 the first run stores
   the point iff m ≥ 1, and the second iff m − x ≥ 1. Both do where m ≥ max(1, x + 1), so that number and the
   finitely many below it are all cases. At other ages the current slots are alike, and so are their changes;
   but where slots share their places, a point that one run alone stores makes a second slot differ.
3. A query costs at most δ = Nε, where N is the largest number of signs of a form: so many points are added or
   removed on the way from B to B + Δ, all multisets. Both runs have the same answers of positive probability.
4. After a query the age is q + 1. At age t the slot is emptied, and the states are equal.

Then rel[j] = {states with a form of F at age t − j, or equal} is an unwinding family with t steps of δ, by
induction over j: rel[0] is equality, and the obligations say what a step from rel[j] leads to, whatever t,
maxPts, B and K are. By 1 it covers all insertions. So the system has t·N·ε. Without slots all states are
equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

from paramverify.interactive.system_cases import load_slots

MAX_FORMS = 20

Form = tuple[int, ...]  # signs, sorted, the positive ones first


@dataclass(frozen=True)
class DataPointProgram:
    """What the program does with data points; numbers of slots and points play no part."""

    shared: bool
    drops: bool
    deletes: bool

    def document(self) -> dict[str, bool]:
        """Returns it as JSON data."""
        return {"shared": self.shared, "drops": self.drops, "deletes": self.deletes}


@dataclass(frozen=True)
class Every:
    """The forms of a family for every t, or why there is none of this kind."""

    program: DataPointProgram
    forms: tuple[Form, ...]
    steps: int  # N: each query costs at most so many ε
    reason: str


def read_program(path: str | PathLike[str]) -> tuple[DataPointProgram, str, str]:
    """Reads what a case of slots does with data points; returns also its title and digest.

    Raises:
        InputError: any mistake in the file, with file, key and reason; it is no case of slots.
    """
    given, title, digest = load_slots(path)
    return DataPointProgram(given.shared, given.drops, given.delete), title, digest


def every(program: DataPointProgram) -> Every:
    """Returns the least set of forms with the obligations, if it is finite and small."""
    first: Form = (1,)
    forms = [first]
    if not program.deletes:
        return Every(program, (), 0, "a slot that is not emptied keeps the difference for ever")
    for form in forms:  # grows while it is walked through
        for after in _after(program, form):
            if program.shared and after != form:
                reason = "a data point in one slot decides whether another slot stores a later one"
                return Every(program, (), 0, reason)
            if after not in forms:
                forms.append(after)
        if len(forms) > MAX_FORMS:
            return Every(program, (), 0, f"more than {MAX_FORMS} forms of a difference")
    return Every(program, tuple(forms), max(map(len, forms)), "")


def _after(program: DataPointProgram, form: Form) -> Iterator[Form]:
    """Yields the forms that a data point leads to, with every number of free places."""
    excess = sum(form)
    for free in range(max(0, excess), max(1, excess + 1) + 1):
        first, second = free >= 1, free - excess >= 1
        if not program.drops and not (first and second):
            continue  # assumed not to come
        change = second - first
        after = (*form, change) if change else form
        if after:
            yield tuple(sorted(after, reverse=True))
