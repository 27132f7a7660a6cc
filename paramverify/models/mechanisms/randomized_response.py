"""`kind = "randomized_response"`: one of k values, reported truthfully or at random.

[Warner65] for two values; k-ary as in [Kairouz16].
"""

from __future__ import annotations

from fractions import Fraction

from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, located
from paramverify.models.context import Checks
from paramverify.models.mechanisms import Input, Mechanism, read_query
from paramverify.models.mechanisms._one_shot import OneShot
from paramverify.models.mechanisms._queries import LABELS, QUERY
from paramverify.models.names import distinct, read_labels
from paramverify.tables import EXPRESSION, FLAG, VALUE, Key, Listed, Section, Table, exactly_one

TOLD = (
    "One of k values is reported. With truth = t, the true value is reported with "
    "probability t, and each other value with probability (1 - t)/(k - 1). With coin = "
    "h, the true value has probability h + (1 - h)/k, and each other one (1 - h)/k."
)

CHECKED = True  # `read` checks the probabilities
SECTION = Section(
    "randomized_response",
    "One of several values is reported, truthfully or at random.",
    (
        QUERY,
        Key(
            "values",
            Listed("a list of values", VALUE, least=2, distinct=True),
            "The values that may be reported.",
            default=[0, 1],
        ),
        Key(
            "truth",
            EXPRESSION,
            "The probability of reporting the true value; the other values are equally likely.",
        ),
        Key(
            "coin",
            EXPRESSION,
            "The probability of answering truthfully; otherwise a value is drawn uniformly, and "
            "may be the true one.",
        ),
        Key("memory", FLAG, "Whether the first answer is repeated in all later steps.", default=False),
        LABELS,
    ),
    rules=(exactly_one("truth", "coin"),),
)


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `query`, `values`, and one of `truth` and `coin`.

    With `truth = t` the true value is reported with probability t and every other value with (1−t)/(k−1).
    With `coin = h` the answer is truthful with probability h, otherwise uniform over all k values. With
    `memory = true` a sequence of answers repeats the first one (permanent randomised response
    [Erlingsson14]); otherwise every answer is drawn afresh.
    """
    listed = table.get("values") if "values" in table else [0, 1]
    if not isinstance(listed, list) or len(listed) < 2:
        raise CaseError("values must be a list of at least two values", key="values")
    with located(key="values"):
        values = tuple(distinct(listed))
    way = table.either("truth", "coin")
    for name in ("query", "memory", "labels"):
        table.get(name)
    one = RationalFunction.of(checks.ring.number(1))
    if way == "truth":
        truth = checks.named(table, "truth")
        share = RationalFunction.of(checks.ring.number(Fraction(1, len(values) - 1)))
        other = (one - truth) * share
    else:
        coin = checks.named(table, "coin")
        other = (one - coin) * RationalFunction.of(checks.ring.number(Fraction(1, len(values))))
        truth = coin + other
    rows = {(v,): [truth if w == v else other for w in values] for v in values}
    first = rows[(values[0],)]
    checks.distribution(dict(zip(map(str, values), first, strict=True)), "randomized response")

    def release(given: Input) -> list[RationalFunction]:
        return rows[(given[0],)]

    outputs = read_labels(table, [str(v) for v in values])
    memory = table.flag("memory")
    return OneShot(checks, read_query(table), (values,), outputs, release, default_by="any", memory=memory)
