"""A subject of another package with its own engine, as docs/extending.md describes it.

It reads files `.table` with lines such as `bound 3`, `yes 3/4 1/4` and `no 1/4 3/4`: a bound of the ratios,
and the probabilities of the outputs for each input.
"""

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.expressions import constant
from paramverify.answers import Standing
from paramverify.bounds import Bounds
from paramverify.errors import InputError
from paramverify.subjects.questions import Budget, Synthesize, Verify
from paramverify.subjects.results import Result
from paramverify.subjects.subject import NotAsked, Subject


class Table(Subject):
    name = "table"
    title = "a table of probabilities"

    def reads(self, file):
        return file.path.suffix == ".table"

    def read(self, file):  # what it returns is what file.content() returns later
        rows = {}
        for number, line in enumerate(file.read_text().splitlines(), 1):
            try:
                name, *texts = line.split() or [""]
                rows[name] = [constant(text) for text in texts]  # exact, also of 0.1
                if name != "bound" and (sum(rows[name]) != 1 or min(rows[name]) < 0):
                    raise InputError("probabilities are at least 0, and their sum is 1", key=name)
            except InputError as error:
                error.file_line = number
                raise
        bound = rows.pop("bound", [])
        if len(bound) != 1 or len({len(row) for row in rows.values()}) != 1:
            raise InputError("one bound is needed, and lines with equally many probabilities")
        return bound[0], list(rows.values())

    def answers(self):
        return {Verify: verify, Budget: budget, Synthesize: NotAsked("a table has no parameters")}

    def declined(self, question):  # options that are refused, with the reasons; by default all
        reasons = dict(super().declined(question))
        reasons.pop("precision", None)  # its bounds are exact, so they have every precision
        return reasons


def largest(rows):
    pairs = [(p, q) for left in rows for right in rows for p, q in zip(left, right, strict=True) if p]
    return max(ExactNumber(p / q if q else None) for p, q in pairs)  # None: infinity


def verify(file, asked, options, watch):
    bound, rows = file.content()
    ratio = largest(rows)
    standing = Standing.HOLDS if ratio <= bound else Standing.VIOLATED
    return Result(
        [f"{standing.of_case}: the largest ratio is {ratio}"],
        {"status": standing.value, "verdict": standing.of_case, "ratio": str(ratio)},
        standing=standing,
        no_evidence="for tables",
    )


def budget(file, asked, options, watch):
    ratio = largest(file.content()[1])
    bounds = Bounds("ratio", lower=ratio, upper=ratio, attained=True)
    return Result([f"ratio = {ratio}"], {"ratio": str(ratio)}, bounds=(bounds,))


SUBJECT = Table()
