"""General LTL path formulas on Markov chains by Storm, exactly, where it is installed (the extra `storm`).

Storm is the model checker of [Hensel22]. The model goes to Storm in its DRN format with one label for each
state formula, and comes back as a rational number or rational function for each state. With parameters Storm
takes for granted that no probability of the model becomes zero inside the domain; that is demanded here
before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from flint import fmpq

from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import RationalFunction, to_rational_function
from paramverify.errors import SizeError, UnsupportedError
from paramverify.logic.path_automata import (
    And,
    Node,
    NormalConstant,
    NormalLiteral,
    NormalNext,
    NormalRelease,
    NormalUntil,
    Or,
    later,
    with_literals,
)
from paramverify.logic.reachability import Guard
from paramverify.models.chains.markov_chains import Chain, Value
from paramverify.models.chains.prism_files import INSTALL, available, silence

MAX_UNFOLDED = 2_000  # steps of bounded operators, which Storm gets written out with X


def ltl_probabilities(
    chain: Chain,
    formula: Node,
    leaves: Sequence[Sequence[bool]],
    starts: Iterable[int],
    guard: Guard | None,
) -> dict[int, Value]:
    """Returns the probability of any path formula from each start, in a Markov chain.

    Raises:
        UnsupportedError: Storm is not installed, or gives up.
        SizeError: bounded operators with too many steps.
    """
    if not available():
        raise UnsupportedError(
            "this path formula mixes unbounded U or F with unbounded G or R, and the built-in engine "
            "has X, bounded "
            f"operators, and one kind of unbounded ones only; with Storm it can be checked: {INSTALL}"
        )
    if guard:
        for rows in chain.rows:
            for _, weight in rows[0]:
                guard(weight)
    import stormpy

    # Storm's LTL translation takes constants for labels and knows no label that holds nowhere.
    text = _text(_settled(formula, [any(leaf) for leaf in leaves]), [0])
    silence()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.drn"
        path.write_text(drn(chain, leaves), encoding="utf-8")
        kind = stormpy.Rational if chain.numeric else stormpy.RationalFunction
        try:
            model = stormpy.build_model_from_drn[kind](str(path))
            result = stormpy.model_checking(model, stormpy.parse_property(f"P=? [ {text} ]"))
            return {state: _value(chain, str(result.get_value(state))) for state in starts}
        except RuntimeError as error:
            raise UnsupportedError(f"Storm could not check the path formula: {error}") from None


def drn(chain: Chain, leaves: Sequence[Sequence[bool]]) -> str:
    """Returns a Markov chain in Storm's DRN format; leaf k is the label `Lk`, and every state has `LT`."""
    names = () if chain.numeric else chain.domain.ring.names
    lines = [
        "@type: DTMC",
        f"@value_type: {'rational' if chain.numeric else 'parametric'}",
        "@parameters",
        " ".join(names),
        "@reward_models",
        "",
        "@nr_states",
        str(len(chain.states)),
        "@nr_choices",
        str(len(chain.states)),
        "@model",
    ]
    for state, rows in enumerate(chain.rows):
        words = ["init"] if state in chain.initial else []
        words += ["LT", *(f"L{k}" for k, leaf in enumerate(leaves) if leaf[state])]
        lines.append(f"state {state} {' '.join(words)}".rstrip())
        lines.append("\taction 0")
        lines += [
            f"\t\t{t} : {_written(weight)}" for t, weight in sorted(rows[0], key=lambda entry: entry[0])
        ]
    return "\n".join([*lines, ""])


def _settled(node: Node, somewhere: Sequence[bool]) -> Node:
    """Returns the formula in which literals of leaves that hold nowhere are constants."""

    def settled(literal: NormalLiteral) -> Node:
        return literal if somewhere[literal.leaf] else NormalConstant(not literal.positive)

    return with_literals(node, settled)


def _written(value: Value) -> str:
    if not isinstance(value, RationalFunction):
        return str(value)
    return f"({value.numerator})/({value.denominator})"


def _value(chain: Chain, text: str) -> Value:
    """Reads Storm's answer, such as `(-1 * (p^2+(-1)))/(p+1)`."""
    if chain.numeric:
        number = Fraction(text)
        return fmpq(number.numerator, number.denominator)
    return to_rational_function(
        parse(text.replace("^", "**")),
        chain.domain.ring,
        {name: RationalFunction.of(chain.domain.ring.variable(name)) for name in chain.domain.ring.names},
    )


def _text(node: Node, steps: list[int]) -> str:
    """Returns a path formula in Storm's syntax, every operator in brackets, bounds written out."""
    match node:
        case NormalConstant():
            return '"LT"' if node.value else '(!"LT")'
        case NormalLiteral():
            return f'"L{node.leaf}"' if node.positive else f'(!"L{node.leaf}")'
        case NormalNext():
            return f"(X {_text(node.inner, steps)})"
        case And() | Or():
            sign = " & " if isinstance(node, And) else " | "
            return f"({sign.join(_text(part, steps) for part in node.parts)})"
        case NormalUntil() | NormalRelease():
            return _repeated(node, steps)


def _repeated(node: NormalUntil | NormalRelease, steps: list[int]) -> str:
    steps[0] += 1
    if steps[0] > MAX_UNFOLDED:
        raise SizeError(f"bounded operators with more than {MAX_UNFOLDED:,} steps in a formula for Storm")
    until = isinstance(node, NormalUntil)
    if node.low == 0 and node.high is None:
        if until:
            return f"({_text(node.left, steps)} U {_text(node.right, steps)})"
        # a R b = !(!a U !b)
        return f"(!((!{_text(node.left, steps)}) U (!{_text(node.right, steps)})))"
    outer, inner = ("|", "&") if until else ("&", "|")
    if node.low > 0:
        return f"({_text(node.left, steps)} {inner} (X {_text(later(node), steps)}))"
    right = _text(node.right, steps)
    if node.high == 0:
        return right
    return f"({right} {outer} ({_text(node.left, steps)} {inner} (X {_text(later(node), steps)})))"
