"""`paramverify certify CASE`: the exact probabilities of one counterexample candidate."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import click

from paramverify.algebra.domains import check_names
from paramverify.claims import Origin
from paramverify.cli._common import (
    case_argument,
    json_option,
    print_json,
    say,
    whole_timeout_option,
)
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.cli._together import certify_together
from paramverify.divergences import Average, PositiveParts, SumDivergence
from paramverify.errors import InputError
from paramverify.evidence.witnesses import ExactWitness, evaluate, given_set, worst_set
from paramverify.models.mechanisms import Worded
from paramverify.models.model import Model, is_about, need_privacy
from paramverify.models.neighbourhoods import read_neighbours
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.runs import told_run
from paramverify.reports import json_documents, verdict_reports
from paramverify.reports.observations import read_observations
from paramverify.subjects.written_numbers import read_point

LISTED = (220, "Compute the exact probabilities of one suspected violation, in both directions.")


@click.command("certify")
@case_argument
@click.option("--observations", multiple=True, metavar="A,B,...", help="Evaluate this output sequence.")
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="A,B,...",
    help="Add this output to the set to evaluate, for a case with a delta; by default the worst set.",
)
@click.option("--secrets", nargs=2, metavar="LEFT RIGHT", help="Compare these secrets.")
@click.option(
    "--at", "at", multiple=True, metavar="P=1/2,...", help="Evaluate at these values of the parameters."
)
@json_option
@whole_timeout_option
def command(
    case: str,
    observations: tuple[str, ...],
    outputs: tuple[str, ...],
    secrets: tuple[str, str] | None,
    at: tuple[str, ...],
    as_json: bool,
) -> int:
    """Compute the exact probabilities of one suspected violation, in both directions.

    \b
    Example:
      paramverify certify case.toml --observations 0,0 --secrets '(0, 0)' '(1, 0)' --at alpha=1/2

    For most cases, the suspected violation is an output sequence. For a case with a delta it is a set of
    outputs, by default the worst one. For a bound on a divergence it is a prior alone, because the divergence
    is over all outputs. --secrets is required if the case compares several pairs.

    Exit codes: 1 if it is a violation in either direction, 0 if it is a violation in neither, 3 if that is
    undecided.
    """
    point = read_point(at)
    loaded = load(case, point, settings())
    if is_about(loaded.model, PositiveParts):
        if observations:
            raise click.UsageError(
                "--observations is for cases without a delta: give the outputs of a set with --output"
            )
        return _certify_set(loaded, loaded.model, point, outputs, secrets, as_json=as_json)
    if is_about(loaded.model, Average, SumDivergence):
        if observations or outputs:
            raise click.UsageError(
                "the divergence of this case is over all outputs: leave --observations and --output out"
            )
        require_possible(loaded.model)
        check_names(loaded.model.domain.ring, point)
        _complete(point, loaded.model)
        pair = secrets or _only_pair(loaded.model)
        return certify_together(loaded.model, point, *pair, as_json=as_json)
    if not observations or outputs:
        raise click.UsageError(
            "--output is for cases with a delta: give one output sequence with --observations instead"
            if outputs
            else "the output sequence is missing: give it with --observations"
        )
    model = need_privacy(loaded.model, "certify", tied=True, densities=True)
    require_possible(model)
    condition = json_documents.side_condition(model)
    model = model.whole or model
    word = read_observations(observations, model.hmm.observations, alone=isinstance(loaded.mechanism, Worded))
    left, right = secrets or _only_pair(model)
    if model.stands_for:
        hmm, pairs = model.stands_for.compare(*read_neighbours(left, right, model.stands_for))
        model = replace(model, hmm=hmm, pairs=tuple(pairs))
    check_names(model.domain.ring, point)
    _complete(point, model)
    both = [evaluate(model, Origin(*pair, word), point) for pair in ((left, right), (right, left))]
    ignored = condition and len({p.sign() > 0 for p in both[0].probabilities}) > 1
    if ignored:
        both = [replace(witness, exceeds=False) for witness in both]
    found = worse(*both)
    both.sort(key=lambda witness: witness is not found)
    if model.lengths and len(word) not in model.lengths:
        known = "..".join(dict.fromkeys(str(n) for n in (model.lengths[0], model.lengths[-1])))
        click.echo(
            f"note: the case is about sequences of length {known}; this one has length {len(word)}", err=True
        )
    run = told_run(loaded, found)
    if as_json:
        status = "violation" if found.exceeds else "no violation"
        directions = [witness.answer() for witness in both]
        told = found.answer() | verdict_reports.run_document(run)
        document = {"status": status, "witness": told, "directions": directions}
        print_json(document | condition | ({"ignored": True} if ignored else {}))
        return Exit.VIOLATED if found.exceeds else Exit.HOLDS
    if ignored:
        click.echo("ignored because of a side condition, so not a violation")
        for line in found.probability_lines():
            say(f"  {line}")
        say(f"  Note: {condition['side_condition']}.")
        return Exit.HOLDS
    click.echo("violation" if found.exceeds else "not a violation")
    for line in (*found.lines(), *verdict_reports.run_lines(run)):
        say(f"  {line}")
    say(f"  The other way around, {both[1].comparison()}")
    return Exit.VIOLATED if found.exceeds else Exit.HOLDS


def _certify_set(
    case: PrivacyCase,
    model: Model,
    point: dict[str, Fraction],
    given: Sequence[str],
    secrets: tuple[str, str] | None,
    as_json: bool = False,
) -> int:
    """Evaluates a set of outputs in both directions; without one, the worst set of each length."""
    require_possible(model)
    check_names(model.domain.ring, point)
    _complete(point, model)
    left, right = secrets or _only_pair(model)
    names, alone = model.hmm.observations, isinstance(case.mechanism, Worded)
    words = [read_observations([text], names, alone=alone) for text in given]
    if words:
        both = [
            given_set(model, *pair, outputs=words, point=point) for pair in ((left, right), (right, left))
        ]
    else:
        both = [
            worst_set(model, *pair, length=length, point=point)
            for pair in ((left, right), (right, left))
            for length in model.lengths
        ]
    both.sort(key=lambda witness: witness.beyond.enclosure()[0], reverse=True)
    both.sort(key=lambda witness: not witness.exceeds)
    found = both[0]
    lengths = {witness.length for witness in both} - set(model.lengths)
    if lengths:
        click.echo("note: the case is about sequences of other lengths than this set", err=True)
    if as_json:
        status = "violation" if found.exceeds else "no violation"
        directions = [witness.answer() for witness in both]
        print_json({"status": status, "witness": directions[0], "directions": directions})
    else:
        click.echo("violation" if found.exceeds else "not a violation")
        for line in found.lines():
            say(f"  {line}")
    return Exit.VIOLATED if found.exceeds else Exit.HOLDS


def _complete(point: dict[str, Fraction], model: Model) -> None:
    """Adds the parameters that the case fixes.

    Raises:
        InputError: another one has no value.
    """
    for name, interval in model.domain.box.items():
        if interval.is_point:
            point.setdefault(name, interval.lower)
    free = {unbounded.variable: unbounded.name for unbounded in model.domain.ring.unbounded}
    missing = [free.get(name, name) for name in model.domain.ring.parameters if name not in point]
    if missing:
        raise InputError(f"no value for {', '.join(missing)}: add --at {missing[0]}=VALUE,...")


def _only_pair(model: Model) -> tuple[str, str]:
    count = model.stands_for.pairs if model.stands_for else len(model.pairs)
    if count > 1:
        first = f", such as --secrets {shlex.join((model.pairs[0].left, model.pairs[0].right))}"
        raise InputError(
            f"the case compares {count:,} secret pairs: choose one with --secrets LEFT RIGHT{first}"
        )
    return model.pairs[0].left, model.pairs[0].right


def worse(first: ExactWitness, second: ExactWitness) -> ExactWitness:
    """Returns the direction with the larger ratio."""
    left, right = first.probabilities
    return first if (left - right).sign() >= 0 else second
