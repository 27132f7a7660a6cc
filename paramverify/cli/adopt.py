"""`paramverify adopt FILE.py::FUNCTION`: the case of a Python function, whose source stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from paramverify.cli import _functions, _output
from paramverify.cli._common import (
    OUTPUT_FILE,
    json_option,
    print_json,
    say,
    time_limit,
    timeout_option,
    write_text,
)
from paramverify.cli._exits import Exit
from paramverify.errors import InputError

LISTED = (30, "Make a case of a Python function, without changes to its source.")

INPUT = (
    'Give the values of an argument, such as "x = 0..3", "x = yes,no", or "q = 0..1 * 3" for a list of 3 '
    "entries; repeatable."
)
PARAMETER = 'Prove it for all values of an argument, such as "epsilon = (0, oo)"; repeatable.'
NEIGHBOURS = (
    'Say which inputs are neighbours, as in [neighbours]: "differ = each", "differ = one, by = any" '
    'or "related = abs(x - y) <= 1".'
)
SAMPLES = (
    "Run the function itself N times for each input, at up to 3 points of the parameters, and compare the "
    "counts of its outputs with their exact probabilities."
)
BESIDE = "Show the function, and its program with the lines of the file that each line comes from."
LEAK_TEST = "Write a test for pytest that shows, by sampling, that the function is not private."
CONSTANT = "Give another argument of the function a fixed value; repeatable."


@click.command("adopt")
@click.argument("function", metavar="FILE.py::FUNCTION")
@click.option("--input", "inputs", multiple=True, required=True, metavar="NAME=VALUES", help=INPUT)
@click.option("--parameter", "parameters", multiple=True, metavar="NAME=DOMAIN", help=PARAMETER)
@click.option("--constant", "constants", multiple=True, metavar="NAME=VALUE", help=CONSTANT)
@click.option("--neighbours", metavar="RULE", help=NEIGHBOURS)
@click.option("--epsilon", metavar="NUMBER", help='State the budget, such as 1, "ln(3)" or "epsilon".')
@click.option("--ratio", metavar="NUMBER", help="State e^epsilon instead of epsilon.")
@click.option("--delta", metavar="NUMBER", help="State delta besides.")
@click.option(
    "--deterministic", multiple=True, metavar="MODULE", help="Trust that functions of this module never draw."
)
@click.option("--samples", type=click.IntRange(min=1), metavar="N", help=SAMPLES)
@click.option("--beside", is_flag=True, help=BESIDE)
@click.option("--leak-test", "leak_test", type=OUTPUT_FILE, help=LEAK_TEST)
@click.option("-o", "--output", type=OUTPUT_FILE, help="Write the case to this file.")
@json_option
@timeout_option
def command(
    function: str,
    inputs: tuple[str, ...],
    parameters: tuple[str, ...],
    constants: tuple[str, ...],
    neighbours: str | None,
    epsilon: str | None,
    ratio: str | None,
    delta: str | None,
    deterministic: tuple[str, ...],
    samples: int | None,
    beside: bool,
    leak_test: Path | None,
    output: Path | None,
    as_json: bool,
    timeout: float,
) -> int:
    """Make a case of a Python function, without changes to its source.

    \b
    Example:
      paramverify adopt survey.py::respond --input "truth = 0,1" --epsilon 1 -o respond.toml

    The file is imported, and the function is run on each input and on every outcome of its random choices.
    The case has a program with exactly the same distribution of outputs, in which random doubles are real
    numbers and floats are the decimal numbers that Python shows. All other commands read the case.
    """
    place = _functions.named(function)
    if place is None:
        raise click.UsageError(f"{function!r} does not name a function: write FILE.py::FUNCTION")
    import paramverify
    from paramverify.answers import Standing
    from paramverify.tracing import listings

    with time_limit(timeout):
        found = _functions.function_of(*place)
        if isinstance(found, paramverify.Mechanism):
            raise InputError("this function is decorated already: use it with verify", file=function)
        _output.runs_users_code(True)
        made = paramverify.adopt(
            found,
            inputs=dict(_input(text) for text in inputs),
            parameters=dict(_pair(text, "--parameter") for text in parameters),
            constants={name: _value(text) for name, text in (_pair(t, "--constant") for t in constants)},
            neighbours=_rule(neighbours),
            epsilon=epsilon,
            ratio=ratio,
            delta=delta,
            deterministic=deterministic,
            samples=samples or 0,
        )
        text = f"# Adopted from {function}\n{made.to_toml()}"
        told: list[str] = []
        if leak_test:
            report = made.verify(timeout=_output.remaining(timeout))
            told = list(report.lines)
            if report.status is not Standing.VIOLATED:
                raise InputError(f"a test needs a violation, but the function is {told[0]}", file=function)
            test = made.test_of(report.witness, path=_functions.way(leak_test, place[0]))
        _output.runs_users_code(False)
    if output:
        write_text(output, text)
        told = [f"Wrote {output}. Decide it with: paramverify verify {output}", *told]
    if leak_test:
        write_text(leak_test, test)
        told.append(f"Wrote {leak_test}. Run it with: pytest {leak_test}")
    if as_json:
        agreement = made.explored.agreement
        print_json(
            {
                "function": function,
                "file": str(output) if output else None,
                "text": text,
                "lines": listings.rows(made.explored),
                "notes": [made.source.origin],
                **({"samples": agreement.document()} if agreement else {}),
                **({"leak_test": str(leak_test)} if leak_test else {}),
            }
        )
        return Exit.HOLDS
    for line in told:
        say(line)
    if beside:
        for line in listings.beside(made.explored):
            say(line)
    elif not told:
        click.echo(text, nl=False)
    if made.explored.agreement:
        say(f"Note: {made.explored.agreement.note()}.", err=not told and not beside)
    return Exit.HOLDS


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise click.UsageError(f"{option} {text!r} must have the form NAME=VALUE")
    return name.strip(), value.strip()


def _input(text: str) -> tuple[str, dict[str, Any]]:
    name, value = _pair(text, "--input")
    values, star, length = value.rpartition("*")
    found: dict[str, Any] = {}
    if star:
        if not length.strip().isdigit():
            raise click.UsageError(f"--input {text!r}: write a length after *, such as 0..1 * 3")
        found["length"] = int(length)
        value = values.strip()
    found["values"] = value if ".." in value else [_value(part) for part in value.split(",")]
    return name, found


def _value(text: str) -> Any:
    text = text.strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip("'\"")


def _rule(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    if text.lstrip().startswith("related"):
        return dict([_pair(text, "--neighbours")])
    return {name: _value(value) for name, value in (_pair(part, "--neighbours") for part in text.split(","))}
