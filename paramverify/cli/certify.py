"""`paramverify certify CASE`: the exact probabilities of one counterexample candidate."""

from __future__ import annotations

from dataclasses import replace

import click

from paramverify.cases import load
from paramverify.claims import Origin
from paramverify.cli._common import case_argument, json_option, parse_point, print_json, timeout_option
from paramverify.errors import InputError
from paramverify.evidence.witnesses import Witness, evaluate
from paramverify.models.kinds import need_privacy
from paramverify.models.model import Model
from paramverify.models.neighbourhoods import read_neighbours
from paramverify.portfolio.possible import require_possible
from paramverify.reports import documents, text


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
    model = need_privacy(load(case).model, "certify")
    require_possible(model)
    word = tuple(name.strip() for part in observations for name in part.split(",") if name.strip())
    if not word:
        raise InputError("no observations are given")
    left, right = secrets or _only_pair(model)
    if model.stands_for:
        hmm, pairs = model.stands_for.compare(*read_neighbours(left, right, model.stands_for))
        model = replace(model, hmm=hmm, pairs=tuple(pairs))
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
    count = model.stands_for.pairs if model.stands_for else len(model.pairs)
    if count > 1:
        raise InputError(f"the case compares {count:,} pairs: choose one with --secrets LEFT RIGHT")
    return model.pairs[0].left, model.pairs[0].right


def worse(first: Witness, second: Witness) -> Witness:
    """Returns the direction with the larger ratio."""
    left, right = first.probabilities
    return first if (left - right).sign() >= 0 else second
