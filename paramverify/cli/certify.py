"""`paramverify certify CASE`: the exact probabilities of one counterexample candidate."""

from __future__ import annotations

import click

from paramverify.cases import load
from paramverify.claims import Origin
from paramverify.cli._common import case_argument, json_option, parse_point, print_json, timeout_option
from paramverify.errors import InputError
from paramverify.evidence.witnesses import Witness, evaluate
from paramverify.models.model import Model
from paramverify.reports import documents, text

CHOOSE = "choose one with --secrets LEFT RIGHT"


@click.command("certify")
@case_argument
@click.option("--observations", required=True, multiple=True, metavar="A,B,...", help="The output sequence.")
@click.option("--secrets", nargs=2, metavar="LEFT RIGHT", help="The secrets; needed if the case has several.")
@click.option("--at", "at", multiple=True, metavar="P=1/2,...", help="The parameter point.")
@json_option
@timeout_option
def command(
    case: str,
    observations: tuple[str, ...],
    secrets: tuple[str, str] | None,
    at: tuple[str, ...],
    as_json: bool,
    timeout: float,
) -> int:
    """Evaluate one counterexample candidate exactly.

    Exit code 1 if the candidate is a violation, 0 if it is not.
    """
    del timeout  # one forward recursion on numbers: there is nothing to limit
    loaded = load(case).model
    word = tuple(name.strip() for part in observations for name in part.split(",") if name.strip())
    if not word:
        raise InputError("no observations are given")
    if isinstance(loaded, Model):
        model = loaded
        left, right = secrets or _only_pair(model)
    elif secrets is None:
        raise InputError(f"the case compares {loaded.neighbourhood.pairs:,} pairs: {CHOOSE}")
    else:
        left, right = secrets
        model = loaded.of_names(left, right)
    point = parse_point(at)
    for name in point:
        if name not in model.domain.ring.parameters:
            raise InputError(f"unknown parameter {name!r}")
    for name, interval in model.domain.box.items():
        if interval.is_point:
            point.setdefault(name, interval.lower)
    found = evaluate(model, Origin(left, right, word), point)
    if secrets is None:
        found = worse(found, evaluate(model, Origin(right, left, word), point))
    if model.lengths and len(word) not in model.lengths:
        known = "..".join(dict.fromkeys(str(n) for n in (model.lengths[0], model.lengths[-1])))
        click.echo(f"note: the case is about sequences of length {known}; this one has {len(word)}", err=True)
    if as_json:
        status = "violation" if found.exceeds else "no violation"
        print_json({"status": status, "witness": documents.witness(found)})
        return int(found.exceeds)
    click.echo("violation" if found.exceeds else "not a violation")
    for line in text.witness_lines(found):
        click.echo(f"  {line}")
    return int(found.exceeds)


def _only_pair(model: Model) -> tuple[str, str]:
    if len(model.pairs) > 1:
        raise InputError(f"the case compares {len(model.pairs)} pairs: {CHOOSE}")
    return model.pairs[0].left, model.pairs[0].right


def worse(first: Witness, second: Witness) -> Witness:
    """Returns the direction with the larger ratio."""
    left, right = first.probabilities
    return first if (left - right).sign() >= 0 else second
