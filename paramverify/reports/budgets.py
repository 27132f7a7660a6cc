"""Least budgets in words and as JSON data.

Of ratios, over distances, over sets of outputs, and enclosed ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from paramverify import printable
from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.constants import working_precision
from paramverify.algebra.domains import in_words
from paramverify.algebra.rationals import at_least, at_most, decimal_text, raised, rounded
from paramverify.algebra.real_roots import RealRoot
from paramverify.algebra.reals import Real, show_polynomial
from paramverify.bounds import AnyBounds, ClosureLimit, Place
from paramverify.claims import Origin
from paramverify.errors import SizeError
from paramverify.evidence import number_words
from paramverify.evidence.enclosed_witnesses import ends
from paramverify.evidence.witnesses import Evaluated, ExactSetWitness
from paramverify.models.enclosed_models import EnclosedModel
from paramverify.models.model import Model
from paramverify.models.programs.noise_densities import number as density_number
from paramverify.portfolio.obligations import undoubted
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import json_documents, sentences
from paramverify.synthesis.borders import Border
from paramverify.synthesis.case_budget import DistanceBudget, root
from paramverify.synthesis.least_enclosed import EnclosedBounds, LeastTarget, least_enclosed
from paramverify.synthesis.multiples import Multiple, is_proved, times
from paramverify.synthesis.quotients import RatioBounds
from paramverify.synthesis.set_curve import SetCurve
from paramverify.synthesis.set_needs import SetBounds


def border_lines(found: Border | None) -> list[str]:
    """Returns in words what other ranges say of a least bound; nothing where the case has no ranges."""
    if found is None:
        return []
    if found.larger:
        first, *rest = found.larger.witness.lines()
        told = f"  larger inputs need more, such as {found.larger.over}: {first}"
        return [told, *(f"    {line}" for line in rest)]
    enough = f"{found.bound} is enough for {', '.join(found.same)}, too; " if found.same else ""
    if not found.smaller:
        return [f"  {enough}{found.uncovered}"]
    smaller = f"the worst pair lies on the border of these inputs: less is enough for {found.smaller}"
    return [f"  {smaller}; {enough}{found.uncovered}"]


def border_document(found: Border | None) -> dict[str, Any]:
    """Returns the same as JSON data."""
    if found is None:
        return {}
    if found.larger:
        return json_documents.larger(found.larger)
    same = {"bound": found.bound, "same_for": list(found.same)} if found.same else {}
    smaller = {"less_for": found.smaller} if found.smaller else {}
    return {"border": {**smaller, **same, "uncovered": found.uncovered}}


def ratio_document(model: Model, found: RatioBounds) -> dict[str, Any]:
    """Returns a largest ratio as JSON data, with witnesses and what was proved of the upper end."""
    witness: dict[str, Any] = {
        "parameters": {name: _coordinate(root) for name, root in found.place.items()},
        "secrets": list(found.secrets),
        "observations": list(found.origin.observations),
    }
    if ends := _ends(model, found.place):
        witness["meaning"] = ends
    proved = proved_upper(found)
    return {
        **least_document(found),
        **epsilon_document(found.epsilon, found.infinite),
        "attained": found.attained,
        **outputs_document(found.outputs),
        "proved_upper": None if proved is None else str(proved),
        "witness": witness if found.witness is None else found.witness.answer(),
        "approached": [w.answer() for w in found.approached],
    }


def proved_upper(found: RatioBounds) -> Fraction | None:
    """Returns a number that is proved to be exceeded nowhere, for all claims."""
    bound = found.proof.bound if found.proof else None
    return bound.enclosure()[1] if isinstance(bound, Real) else bound


def ratio_lines(model: Model, found: RatioBounds) -> list[str]:
    """Returns a largest ratio in words."""
    outcome = number_words.sequence(found.origin.observations)
    toward = tends(model, read_by(model, found.place, found.origin))
    if found.infinite and not model.lengths:
        head = f"no budget: the ratio grows without limit with longer sequences, such as {outcome}"
    elif found.infinite and not found.attained and found.outputs and toward:
        grows = f"it grows without limit {toward}"
        head = f"no single number bounds the ratio for all {among(model)}: {grows}; {outcome}"
    elif found.infinite:
        head = f"no budget: {outcome} can be infinitely more likely"
    elif found.high is not None:
        head = f"tight budget: ratio {exact_text(found)}, epsilon {found.epsilon.told()}; {outcome}"
    else:
        head = f"the ratio is {exact_text(found)} (no upper bound was proved); {outcome}"
    return [head, f"  under {found.origin.left!r} against {found.origin.right!r}; {reached(model, found)}"]


def reached(model: Model, found: AnyBounds, of_sets: bool = False) -> str:
    """Returns in words whether a prior reaches a least bound, and where."""
    place = where_needed(model, found, of_sets)
    at = f" {place}" if place else ""
    if not found.outputs:
        return f"{NEAR}{at}"
    if found.attained is None and found.infinite and not model.lengths:
        return f"approached by longer and longer sequences{at}"
    if found.attained is None:
        what = "sum" if found.name == "divergence" else found.name
        known = found.value is not None or (found.infinite and not of_sets)
        near = "approached" if known else f"the largest {what} found is"
        return f"{f'{near}{at}; ' if at else ''}whether it is reached is not decided"
    if found.attained:
        return f"reached{at}"
    limit = tends(model, read_by(model, found.place, found.origin))
    return f"approached, not reached{f', {limit}' if limit else ''}"


def where_needed(model: Model, found: AnyBounds, of_sets: bool = False) -> str:
    """Returns the place of a least bound in words; a set of outputs is there only if the bound is reached."""
    apart = of_sets and not found.attained
    return where(model, read_by(model, found.place, found.origin), None if apart else found.witness)


NEAR = "approached by outputs, reached by none,"


def outputs_document(reached: bool) -> dict[str, bool]:
    """Returns as JSON data that outputs only come near to a ratio which a point has as a limit."""
    return {} if reached else {"attained_by_outputs": False}


def number(found: AnyBounds) -> tuple[str | dict[str, Any] | None, str]:
    """Returns the number of a budget as JSON data, None where it is not exact, and in words."""
    value = found.value
    if found.infinite:
        return "infinity", "infinity"
    if isinstance(value, Real):
        return number_words.real(value), raised_number(value)
    if isinstance(value, RealRoot) and value.is_rational:
        with suppress(ValueError):  # of more digits than Python writes
            exact = str(value.lower)
            return exact, exact if exact.isdigit() else f"{exact} ({rounded(value.lower)})"
        raise SizeError("the budget is a number of over 4300 digits, which is not printed")
    if isinstance(value, RealRoot):
        polynomial = show_polynomial(value.factor, "x")
        bounds = {"lower": str(value.lower), "upper": str(value.upper)}
        told = f"≈ {at_most(value.precise().upper, 12)} (a root of {polynomial})"
        return {"minimal_polynomial": polynomial, **bounds}, told
    return None, str(found)


ALONE = (
    12  # digits of a least bound that is rounded up: with fewer, one just below e would look larger than e
)


def raised_number(value: Real) -> str:
    """Returns a least bound in words; a decimal that stands alone is rounded up, as it may be copied."""
    told = number_words.number(value)
    alone = len(number_words.exactly(value)) > number_words.LONGEST and told.startswith("≈")
    return f"≈ {at_most(value.enclosure()[1], ALONE)}" if alone else told


def least_document(found: AnyBounds, name: str = "ratio") -> dict[str, Any]:
    """Returns a least bound, or both ends of it, as JSON data."""
    exact, _ = number(found)
    if exact is not None:
        return {name: exact}
    upper = number_words.exact(found.high) if found.high is not None else "unknown"
    return {f"{name}_lower": number_words.exact(found.low), f"{name}_upper": upper}


def epsilon_document(found: Epsilon, infinite: bool = False) -> dict[str, Any]:
    """Returns ε as JSON data: a number, or an upper bound with both bounds beside it."""
    if infinite:
        return {"epsilon": "infinity"}
    bounds = {} if found.sharp else {"epsilon_bounds": found.bounds()}
    return {"epsilon": found.number(), **bounds}


def exact_text(found: RatioBounds) -> str:
    """Returns a ratio as text."""
    return number(found)[1]


def read_by(model: Model, place: Place, origin: Origin) -> Place:
    """Returns a place without the variables for numbers of other outputs."""
    named = [entry for name in origin.observations for entry in model.hmm.spreads.get(name, ())]
    away = {*model.domain.ring.outputs} - {spread.variable for _, spread in named}
    return {name: value for name, value in place.items() if name not in away}


def where(model: Model, place: Place, witness: Evaluated | ExactSetWitness | None = None) -> str:
    """Returns a place of the closure in words, such as `at p = 1/2`, or `as eps → oo` where `x_eps` is 0."""
    told = [_coordinate_text(n, root) for n, root in place.items() if not _end_of(model, n, root)]
    told += [f"{n} = {v}" for n, v in witness.meant.items()] if witness else []
    at = [f"at {', '.join(told)}"] if told else []
    ends = _ends(model, place)
    return " ".join(at + ([f"as {_arrows(ends)}"] if ends else []))


def tends(model: Model, place: Place) -> str:
    """Returns a place as a limit in words, such as `as alpha → 0`, or `as eps → oo` where `x_eps` is 0."""
    told = [_coordinate_text(n, root, " →") for n, root in place.items() if not _end_of(model, n, root)]
    ends = _ends(model, place)
    told += [_arrows(ends)] if ends else []
    return f"as {', '.join(told)}" if told else ""


def _ends(model: Model, place: Place) -> dict[str, str]:
    """Returns the parameters of the domain (0, ∞) that tend to one of its ends at a place."""
    ends = (_end_of(model, name, root) for name, root in place.items())
    return {end[0]: end[1] for end in ends if end}


def _end_of(model: Model, name: str, root: RealRoot) -> tuple[str, str] | None:
    meant = next((u for u in model.domain.ring.unbounded if u.variable == name), None)
    if meant is None or not root.is_rational or root.lower not in (0, 1):
        return None
    return meant.name, meant.at(root.lower)


def _arrows(ends: dict[str, str]) -> str:
    return ", ".join(f"{name} → {end}" for name, end in ends.items())


def among(model: Model) -> str:
    """Returns the names of the parameters."""
    named = {u.variable: u.name for u in model.domain.ring.unbounded}
    away = model.domain.ring.outputs
    return ", ".join(named.get(name, name) for name in model.domain.ring.parameters if name not in away)


def _coordinate_text(name: str, root: RealRoot, sign: str = " =") -> str:
    if root.is_rational:
        return f"{name}{sign} {root.lower}"
    return f"{name}{sign if sign == ' →' else ' ≈'} {_middle(root):.6g}"


def _coordinate(root: RealRoot) -> str | dict[str, str]:
    if root.is_rational:
        return str(root.lower)
    small = root.refined(Fraction(1, 10**12))
    polynomial = show_polynomial(root.factor, "x")
    return {"root_of": polynomial, "lower": str(small.lower), "upper": str(small.upper)}


def _middle(root: RealRoot) -> float:
    return float(root)


def growing(found: RatioBounds) -> tuple[Evaluated, ...]:
    """Returns the witnesses of the lower bound: one that reaches it, or those that come nearer and nearer."""
    return (found.witness,) if found.witness is not None else found.approached


ONE = "where both are 1"
SMALLER = "Whether a smaller multiple of the bound is enough is not decided"
UNDECIDED = "; whether a smaller multiple of it is enough was not decided"


def line(model: Model, bound: str, found: RatioBounds, known: Multiple | None = None) -> str:
    """Returns in words how near the largest ratio comes to the bound of the case, which is given in words.

    Where a multiple of the bound is `known` to be enough, no smaller bound is proposed.
    """
    told = _relative_words(model, found)
    if known:
        told, _, _ = told.partition(f". {SMALLER}")
        told += "; it is not tight" if known.enough < 1 else ""
    return f"relative to the case's {bound}: {told}"


def enough(bound: str, among: str, found: RatioBounds) -> list[str]:
    """Returns in words that the bound of the case, which is given in words, was proved; else nothing."""
    if not _enough(found):
        return []
    tight = _tight(found)
    least = ", and no smaller multiple of it is" if tight else UNDECIDED if tight is None else ""
    return [f"{bound} is enough for all {among}{least}"]


def multiple(bound: str, among: str, found: Multiple) -> str:
    """Returns in words which multiple of the bound of the case, which is given in words, was proved."""
    name, _, epsilon = bound.partition(" = ")
    what = "it" if found.enough == 1 else epsilon
    rest = f", and no smaller multiple of {what} is" if found.least else ""
    if not found.least:
        rest = UNDECIDED
    if not found.least and found.fails:
        rest = f", but {times(found.fails, epsilon)} is not"
    return f"{name} = {found.of(epsilon)} is enough for all {among}{rest}"


def relative_document(model: Model, found: RatioBounds) -> dict[str, Any]:
    """Returns the same as JSON data.

    `enough` is true where the bound was proved, false where it does not hold, and null where neither is
    known. `tight` is true where the bound was shown to be tight, false where a smaller multiple of it is
    proved or it does not hold, and null where neither is known. `bound_there` is the bound at the `place`
    where the ratio comes near it.
    """
    shown = least_document(found) | {"attained": found.attained}
    shown |= {"enough": _enough(found), "tight": _tight(found)}
    shown |= outputs_document(found.outputs)
    if found.beside is None:
        return shown
    near = found.beside
    there = "infinity" if near.grows else None if near.limit is None else number_words.real(near.limit)
    return shown | {"place": tends(model, read_by(model, near.place, found.origin)), "bound_there": there}


def _enough(found: RatioBounds) -> bool | None:
    if found.infinite or found.low > 1:
        return False
    return True if is_proved(found) else None


def _tight(found: RatioBounds) -> bool | None:
    if found.beside is not None:
        return found.beside.tight
    return False if found.infinite or found.low > 1 or (found.high is not None and found.high < 1) else None


def _relative_words(model: Model, found: RatioBounds) -> str:
    if found.infinite:
        return "the ratio exceeds the bound without limit"
    if found.beside is not None:
        return _one(model, found, found.beside)
    if found.value is None:
        return f"the largest ratio is {exact_text(found)} times the bound"
    exact = found.low == found.high
    size = rounded(found.low, 12) if exact else f"≈ {decimal_text(found.low, 12)}"
    return f"the largest ratio is {size} times the bound"


def _one(model: Model, found: RatioBounds, near: ClosureLimit) -> str:
    """Returns in words what it says of the bound that the ratio comes as near to it as one likes."""
    inside = near.reached or (found.attained and near.place == found.place)
    place = read_by(model, near.place, found.origin)
    at = tends(model, place)
    if inside or not found.outputs:
        at = where(model, place, found.witness)
    if near.tight:
        size = "grows without limit" if near.limit is None else f"is {number_words.number(near.limit)}"
        reached = "reached" if inside else "approached" if found.outputs else NEAR.removesuffix(",")
        over = {True: "", False: ", not reached,", None: " (whether it is reached is not decided)"}
        rest = "" if inside or not found.outputs else over[found.attained]
        return f"the bound is tight: {reached}{rest}{f' {at}' if at else ''}, where the bound {size}"
    comes = f"the ratio {'is' if inside else 'comes near'} the bound{' only' if near.only else ''}"
    if near.is_one:
        return f"{comes}{f' {at}' if at else ''}, {ONE}. {SMALLER}"
    return f"the ratio comes arbitrarily close to the bound{f', {at}' if at else ''}"


SHOWN = 12  # distances that are listed in words


def distance_lines(model: Model, found: DistanceBudget) -> list[str]:
    """Returns the budget in words, with what decides it."""
    best = found.largest.found
    outcome = number_words.sequence(best.origin.observations)
    far = found.largest.distance
    if found.infinite:
        head, *_ = ratio_lines(model, best)
        head = head if far else f"no budget: inputs at distance 0 are distinguishable by {outcome}"
    elif found.is_exact:
        epsilon = found.epsilon.told()
        head = f"tight budget: ratio {_power(found)}, epsilon {epsilon} * distance; {outcome}"
    else:
        epsilon = found.epsilon.told()
        unproved = "" if found.epsilon.high is not None else " (no upper bound was proved)"
        head = f"the least epsilon is {epsilon}{unproved}, times distance; {outcome}"
    where = f"  under {best.origin.left!r} against {best.origin.right!r}, at the distance {far}"
    told = [f"distance {p.distance}: ratio {exact_text(p.found)}" for p in found.parts[:SHOWN]]
    more = [f"  and {len(found.parts) - SHOWN} more"] if len(found.parts) > SHOWN else []
    return [head, f"{where}; {reached(model, best)}", *(f"  {line}" for line in told), *more]


def _power(found: DistanceBudget) -> str:
    """Returns the ratio as a power of the distance: `2**distance`, or `3**(distance/2)`."""
    far, largest = found.largest.distance, found.largest.found
    rational = largest.low if largest.low == largest.high else None
    base = per_unit(rational, far)
    if base is not None:
        plain = str(base)
        return f"{plain if plain.isdigit() else f'({plain})'}**distance"
    if isinstance(largest.value, Real):
        ratio = largest.value.describe()
    else:
        ratio = str(rational) if rational is not None else exact_text(largest)
    plain = ratio if ratio.isdigit() else f"({ratio})"
    return f"{plain}**distance" if far == 1 else f"{plain}**(distance/{_divisor(far)})"


def _divisor(far: Fraction) -> str:
    return str(far) if far.denominator == 1 else f"({far})"


def per_unit(ratio: Fraction | None, distance: Fraction) -> Fraction | None:
    """Returns the ratio for one unit of distance where it is rational."""
    if ratio is None or not distance:
        return None
    return root(ratio**distance.denominator, distance.numerator)


def distance_document(found: DistanceBudget) -> dict[str, Any]:
    """Returns the budget as JSON data: what decides it, and the largest ratio at each distance."""
    largest = found.largest
    exact = largest.found.low if largest.found.low == largest.found.high else None
    unit = per_unit(exact, largest.distance) if found.is_exact and not found.infinite else None
    listed = []
    for part in found.parts:
        near = growing(part.found)
        entry = {
            "distance": str(part.distance),
            **least_document(part.found),
            "attained": part.found.attained,
            **outputs_document(part.found.outputs),
        }
        listed.append(entry | ({"witness": near[-1].answer()} if near else {}))
    return {
        "distance": str(largest.distance),
        "ratio_per_distance": str(unit) if unit is not None else None,
        "epsilon_per_distance": found.epsilon.number() if found.is_exact and not found.infinite else None,
        "epsilon_per_distance_bounds": ["infinity"] * 2 if found.infinite else found.epsilon.bounds(),
        "distances": listed,
    }


BEYOND = "a set has a probability beyond delta where the other one is 0 or arbitrarily close to 0"


def set_budget_lines(
    case: PrivacyCase, model: Model, found: SetBounds, given: Mapping[str, str], key: str = "delta"
) -> list[str]:
    """Returns what was found, for the bound that was `given`; `key` is what delta is in [privacy]."""
    priors = sentences.priors(model.domain, case)
    left, right = (f"'{printable.name(secret)}'" for secret in found.secrets)
    return [
        f"{_head(found, key)}{_with(given)} {priors}",
        f"  sets of outputs{_long(found)} under {left} against {right}; {reached(model, found, True)}",
        *(f"  {line}" for line in _witness(found)),
    ]


def _with(given: Mapping[str, str]) -> str:
    return f"; with {' and '.join(f'{name} = {value}' for name, value in given.items())}" if given else ""


def _head(found: SetBounds, key: str) -> str:
    what = key if found.name == "delta" else found.name
    told = number(found)[1]
    if found.infinite:
        return f"no epsilon is enough: {BEYOND}"
    if found.high is None:
        return f"the least {what} is {told}; no upper bound was proved"
    more = f", epsilon {_set_epsilon(found).told()}" if what == "ratio" else ""
    return f"least {what} {told}{more}"


def _long(found: SetBounds) -> str:
    return "" if found.length == 1 else f" of length {found.length}"


def _witness(found: SetBounds) -> list[str]:
    """Returns the set of outputs at a rational point."""
    witness = found.witness
    if witness is None or not witness.outputs:
        return []
    at = witness.place
    left, right = (f"Pr(S | {printable.name(secret)})" for secret in (witness.left, witness.right))
    return [
        f"{f'With {at}: ' if at else ''}S = {number_words.outputs(witness.outputs)}",
        f"{left} {number_words.equals(witness.probabilities[0])}",
        f"{right} {number_words.equals(witness.probabilities[1])}",
        f"{number_words.gap(left, number_words.factor(witness.bound), right)} "
        f"{number_words.equals(witness.beyond)}",
    ]


def _set_epsilon(found: SetBounds) -> Epsilon:
    """Returns the logarithm of a ratio, or of its upper bound."""
    assert found.high is not None
    return Epsilon.of(found.value if isinstance(found.value, Real) else found.high)


def set_budget_document(model: Model, found: SetBounds, given: dict[str, str]) -> dict[str, Any]:
    """Returns the same as JSON data."""
    witness = found.witness.answer() if found.witness else {}
    witness = {name: value for name, value in witness.items() if name not in ("delta", "exceeds")}
    known = least_document(found, found.name)
    if found.name == "ratio":
        unknown = "infinity" if found.infinite else "unknown"
        known["epsilon"] = unknown if found.high is None else _set_epsilon(found).number()
    return {
        **{f"{name}_given": value for name, value in given.items()},
        **known,
        "attained": found.attained,
        "secrets": list(found.secrets),
        "length": found.length,
        "where": where_needed(model, found, of_sets=True),
        **({"proved": number_words.exact(found.proof)} if found.proof is not None else {}),
        **({"witness": witness} if witness else {}),
    }


def curve_lines(
    case: PrivacyCase, model: Model, found: SetCurve, at: Mapping[str, Fraction] | None
) -> list[str]:
    """Returns the points of a curve in words."""
    where = f"at {in_words(at)}" if at else sentences.priors(model.domain, case)
    between = "linear in the ratio e^epsilon between these corners"
    if not found.linear:
        gap = at_most(found.gap, 3)
        between = f"convex in the ratio; lines between these points are at most {gap} too high"
    lines = [f"least delta {where}, {between}:"]
    for point in found.points:
        told = _short(point.delta) if point.exact else f"at most {at_most(point.delta, 9)}"
        epsilon = Epsilon.of(point.ratio).told(6)
        bound = f"ratio {_short(point.ratio)}, epsilon {epsilon}"
        lines.append(f"  {bound}: delta {told}")
    if not found.ends:
        lines.append(f"  for larger ratios: delta at most {at_most(found.points[-1].delta, 9)}")
    if found.errors:
        what = "trade-off function" if found.linear else "upper bound of the trade-off function"
        lines.append(f"{what}, linear between these corners (alpha, least beta):")
        lines += [f"  ({_short(alpha)}, {_short(beta)})" for alpha, beta in found.errors]
    return lines


def _short(value: Fraction) -> str:
    """Returns a rational, and a decimal where it is long."""
    told = number_words.exact(value)
    return told if len(told) <= number_words.LONGEST else raised(value)


def curve_document(found: SetCurve) -> dict[str, Any]:
    """Returns the points of a curve as JSON data."""
    points = [
        {
            "ratio": number_words.exact(point.ratio),
            "epsilon": point.epsilon,
            "delta": number_words.exact(point.delta),
            "exact": point.exact,
        }
        for point in found.points
    ]
    errors = [{"alpha": number_words.exact(a), "beta": number_words.exact(b)} for a, b in found.errors]
    lines = [{"left": number_words.exact(p), "right": number_words.exact(q)} for p, q in found.lines]
    return {
        "curve": points,
        "linear": found.linear,
        "gap": number_words.exact(found.gap),
        "ends": found.ends,
        "lower_lines": lines,
        "trade_off": errors,
    }


NO_EVIDENCE = "a least bound of enclosed probabilities has no evidence, because `check` cannot replay it"
DIGITS = 12
LOG_BITS = 160


def find(model: EnclosedModel, session: Session, precision: Fraction, wanted: LeastTarget) -> EnclosedBounds:
    """Returns the least bound of a case whose probabilities are enclosed.

    Raises:
        LimitError: the model is in doubt, or nothing was found within a limit.
    """
    undoubted(session, model)
    return least_enclosed(session, model, wanted, precision)


def enclosed_lines(
    case: PrivacyCase,
    model: EnclosedModel,
    found: EnclosedBounds,
    given: Mapping[str, str],
    key: str = "delta",
) -> list[str]:
    """Returns what was found in words; `given` and `key` are as above."""
    where = sentences.priors(model.domain, case)
    left, right = (f"'{printable.name(s)}'" for s in found.secrets)
    what = key if found.name == "delta" else found.name
    with_given = f"{_with(given)} {where}"
    if found.infinite:
        head = (
            f"no {'budget' if not given else 'epsilon is enough'}{with_given}: some outputs are impossible "
        )
        head += "on the other side"
    elif found.high is None:
        head = f"the least {what} is at least {at_least(found.low, DIGITS)}; no upper bound was proved"
    else:
        head = f"least {what} {found}{_enclosed_epsilon(found)}{with_given}"
    names = number_words.enclosed_outputs(found.origin.observations)
    return [
        head,
        f"  {names} under {left} against {right}; enclosed with {found.proof} bits",
        *(f"Note: {note}." for note in model.notes),
    ]


def _logarithms(found: EnclosedBounds) -> tuple[Fraction, Fraction | None]:
    """Returns numbers below and above the logarithm of the ratio."""
    with working_precision(LOG_BITS):
        low = ends(density_number(max(found.low, Fraction(1))).log())[0]
        high = None if found.high is None else ends(density_number(max(found.high, Fraction(1))).log())[1]
    return max(low, Fraction(0)), high


def _enclosed_epsilon(found: EnclosedBounds) -> str:
    if found.name == "delta":
        return ""
    low, high = _logarithms(found)
    assert high is not None
    return f", epsilon between {at_least(low, DIGITS)} and {at_most(high, DIGITS)}"


def enclosed_document(
    case: PrivacyCase, model: EnclosedModel, found: EnclosedBounds, given: Mapping[str, str]
) -> dict[str, Any]:
    """Returns the same as JSON data; `given` are the bounds for which it was asked."""
    what = found.name
    told: dict[str, Any] = {f"{name}_given": value for name, value in given.items()}
    if found.infinite:
        told[what] = "infinity"
    else:
        upper = "unknown" if found.high is None else at_most(found.high, 30)
        told |= {f"{what}_lower": at_least(found.low, 30), f"{what}_upper": upper}
    if what == "ratio" and not found.infinite:
        low, high = _logarithms(found)
        told |= {
            "epsilon_lower": at_least(low, 30),
            "epsilon_upper": "unknown" if high is None else at_most(high, 30),
        }
    return told | {
        "attained": True,
        "secrets": list(found.secrets),
        "outputs": [[name] for name in found.origin.observations],
        "bits": found.proof,
        **json_documents.inputs(case),
        "notes": list(model.notes),
    }
