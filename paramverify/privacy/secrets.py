"""What a case compares: neighbouring inputs, or secrets under the attacker's prior.

The prior is conditioned on each secret and carried through the queries, to weights of the inputs of the
mechanism.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from paramverify import printable
from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import (
    Arrays,
    Expression,
    Index,
    IndexMistake,
    bound,
    entry,
    in_reach,
    named_in,
    unknown_name,
)
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    constant_value,
    is_constant,
    rational,
    value_at,
    variables,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.errors import CaseError, Each, ExpressionError, gathered, located
from paramverify.models.context import Checks, Obligation, is_somewhere_positive
from paramverify.models.enclosed_models import EnclosedTable
from paramverify.models.hmm import HMM, MAX_TIMES, repeated
from paramverify.models.mechanisms import (
    Input,
    InputsChecked,
    Mechanism,
    are_rows_checked,
    known_input,
    read_mechanism,
    show_input,
)
from paramverify.models.mechanisms.hmm import Explicit, read_row
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.names import check_compared_labels
from paramverify.models.neighbourhoods import (
    Neighbourhood,
    in_words,
    left_out,
    near_by_default,
    one_way,
    unformed,
    with_distances,
)
from paramverify.models.noise import Noise
from paramverify.models.priors import (
    DISTRIBUTIONS,
    Condition,
    InitialDistribution,
    Prior,
    SecretPair,
    read_prior,
)
from paramverify.models.programs.static_analysis import possible_values
from paramverify.models.relations import shape_of
from paramverify.models.windows import Whole
from paramverify.privacy.keys import NAMES_OF_STARTS, STARTS
from paramverify.privacy.standing import standing
from paramverify.spelling import nearest
from paramverify.tables import Table, as_expression, check_name, is_decimal

# --- impossible -------------------------------------------------------------------------------------

EXCLUDED = "are excluded, because"


def possible(pairs: Sequence[SecretPair], domain: Domain) -> tuple[list[Obligation], list[str]]:
    """Refuses secrets that are impossible everywhere; returns what is in doubt, and what is excluded.

    Each obligation must be refuted: it holds if its secret has probability zero at every point of the domain.

    Raises:
        CaseError: a secret has probability zero at every point.
    """
    doubtful: list[Obligation] = []
    notes: list[str] = []
    signs: dict[int, Sign | None] = {}  # many pairs share their distributions
    for pair in pairs:
        for name, start in ((pair.left, pair.pi), (pair.right, pair.tau)):
            if id(start) not in signs:
                signs[id(start)] = sign_on(start.mass, domain)
            sign = signs[id(start)]
            if sign is Sign.POSITIVE:
                continue
            never = f"the secret {name!r} has probability zero for every prior"
            somewhere = is_somewhere_positive(start.mass, domain)
            if somewhere is False:
                raise CaseError(never, key="secrets")
            if somewhere is None:
                doubtful.append(Obligation(Claim(-start.mass, domain), never))
            notes.extend(_excluded(name, start.mass, domain))
    return doubtful, notes


def _excluded(name: str, mass: Polynomial, domain: Domain) -> Iterator[str]:
    """Yields where a secret has probability zero, in words, if it has so anywhere."""
    zeros = [
        _zeros(factor)
        for factor, _ in mass.factor()[1]
        if sign_on(factor, domain) not in (Sign.POSITIVE, Sign.NEGATIVE) and not _ruled_out(factor, domain)
    ]
    if zeros:
        yield (
            f"priors with {' or '.join(zeros)} {EXCLUDED} {name!r} has probability zero "
            "there and cannot be compared"
        )


def _ruled_out(factor: Polynomial, domain: Domain) -> bool:
    """Tells whether a constraint says that a factor is nowhere zero: it has it inside, or is below it.

    A constraint is f > 0 or f ≥ 0. Where g ± k·f > 0 for the factor ±g and some k > 0, g is not zero.
    """
    for constraint in domain.constraints:
        f = constraint.polynomial
        if is_constant(f):
            continue
        if constraint.strict and not f % factor:
            return True
        k = abs(Fraction(str(factor.leading_coefficient())) / Fraction(str(f.leading_coefficient())))
        enough = (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO) if constraint.strict else (Sign.POSITIVE,)
        if any(sign_on(g - f * rational(k), domain) in enough for g in (factor, -factor)):
            return True
    return False


def _zeros(factor: Polynomial) -> str:
    """Returns where an irreducible polynomial vanishes, in words: `p = 1`, or `p + q - 1 = 0`."""
    names = variables(factor)
    if len(names) == 1 and factor.total_degree() == 1:
        slope = constant_value(factor.derivative(names[0]))
        at_zero = value_at(factor, {name: Fraction(0) for name in map(str, factor.context().names())})
        return f"{names[0]} = {-at_zero / slope}"
    return f"{factor} = 0"


# --- indexed secrets --------------------------------------------------------------------------------

Pair = tuple[str, str]


def every_index(table: Table, wanted: Sequence[Pair]) -> tuple[dict[str, str], list[Pair]]:
    """Returns the texts of all copies of secrets that have an index, by their names, and the pairs of copies.

    The two secrets of a pair have the same index; a secret without an index is paired with each copy.

    Raises:
        ExpressionError: an index that is none, or one for which there is no entry.
        CaseError: two secrets of a pair with different indices.
    """
    arrays = in_reach()
    copies: dict[str, str] = {}
    places: dict[str, list[Index]] = {}
    for name, text in table.data.items():
        over = _over(text, arrays) if name != "pairs" and arrays.sizes and isinstance(text, str) else None
        if over is None:
            continue
        places[name] = list(arrays.places(over))
        table.told.add(name)  # it is no condition by itself
        for place in places[name]:
            with located(key=name):
                copies[entry(name, place)] = _written(text, Arrays(arrays.sizes, bound(place)))
    pairs: dict[Pair, None] = {}
    for left, right in wanted:
        if left in places and right in places and places[left] != places[right]:
            reason = f"{left} has {len(places[left])} indices and {right} has others: each needs a partner"
            mend = (
                f"name the pairs, such as {entry(left, places[left][0])} and {entry(right, places[right][0])}"
            )
            raise CaseError(reason, key=f"pairs[{wanted.index((left, right))}]", mend=mend)
        for place in places.get(left) or places.get(right) or [()]:
            copy = (entry(n, place) if n in places else n for n in (left, right))
            pairs[next(copy), next(copy)] = None
    return copies, list(pairs)


def base_name(name: str) -> str:
    """Returns the name of the secret of which one is a copy."""
    return name.partition("[")[0]


def _over(text: str, arrays: Arrays) -> str | None:
    """Returns the first array that a secret names with a running index, if any."""
    try:
        found = named_in(ast.parse(_line(text), mode="eval"), arrays.sizes, bare=False)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None  # told where it is read
    return found[0] if found else None


def _line(text: str) -> str:
    return text.strip().replace("\n", " ").replace("\t", " ")


def _written(text: str, arrays: Arrays) -> str:
    """Returns a secret with the numbers of its indices."""
    line = _line(text)
    found = line
    tree = ast.parse(line, mode="eval")
    for node in sorted(_subscripts(tree.body, arrays), key=lambda n: -n.col_offset):
        assert isinstance(node.value, ast.Name)
        try:
            name = entry(node.value.id, arrays.place(node))
        except IndexMistake as mistake:
            raise ExpressionError(mistake.reason, line, mistake.column) from None
        found = found[: node.col_offset] + name + found[node.end_col_offset :]
    return found


def _subscripts(tree: ast.AST, arrays: Arrays) -> Iterator[ast.Subscript]:
    """Yields the entries with a running index, without those inside of functions that run by themselves."""
    if isinstance(tree, ast.Subscript) and named_in(tree, arrays.sizes, bare=False):
        yield tree
    elif named_in(tree, arrays.sizes, bare=False):
        for inner in ast.iter_child_nodes(tree):
            yield from _subscripts(inner, arrays)


# --- what a case compares: neighbouring inputs, or secrets under the attacker's prior ---------------


@dataclass(frozen=True, eq=False)
class ComparedPairs:
    """The pairs that are compared, by what they are told apart, and what was read to form them.

    With a prior that is conditioned on secrets, `inputs` has the weights of the inputs of the mechanism
    under each secret.
    `stands_for` are neighbours that are too many to form, for which one pair stands. With several `times`
    the outputs of `hmm` are counts of those of the mechanism. A prior whose assignments are not listed is in
    `whole`, too.
    """

    mechanism: Mechanism
    hmm: HMM | EnclosedTable
    pairs: Sequence[SecretPair]
    prior: Prior | None = None
    inputs: Mapping[str, Mapping[Input, RationalFunction]] = field(default_factory=dict)
    stands_for: Neighbourhood | None = None
    notes: tuple[str, ...] = ()
    times: int = 1
    whole: Whole | None = None


def read_comparison(top: Table, checks: Checks, has_files: bool = True) -> ComparedPairs | None:
    """Reads `[mechanism]`, and `[neighbours]` or `[prior]` and `[secrets]`.

    Without its files the mechanism is not read. The checks keep the mistakes; after one it returns nothing.

    Raises:
        InputError: a mistake after which nothing else can be read. LimitError: too many inputs or pairs.
    """
    each = checks.mistakes
    mechanism: Mechanism | None = None
    checked, times = True, 1
    with each, top.within("mechanism") as made:
        times = made.integer("times", 1, MAX_TIMES) if "times" in made else 1
        if has_files:
            mechanism, checked = read_mechanism(made, checks), are_rows_checked(made.text("kind"))
    found: ComparedPairs | None = None
    with each:
        if "neighbours" in top:
            names = (*checks.ring.parameters, *(u.name for u in checks.ring.unbounded))
            found = _neighbours(top, mechanism, names) if mechanism else None
        elif isinstance(mechanism, Explicit) and not mechanism.queries:
            found = ComparedPairs(mechanism, mechanism.model, _explicit_pairs(top, mechanism, checks))
        elif mechanism or not _has_explicit_priors(top):
            found = _secret_pairs(top, mechanism, checks)
    if found and not checked and not each.found and isinstance(found.hmm, HMM):
        with located(key="mechanism"):
            found.hmm.check_steps(checks)
    with each:
        found = _repeated(found, times) if found and times > 1 else found
    return None if each.found else found


def _repeated(found: ComparedPairs, times: int) -> ComparedPairs:
    """Returns the same comparison of the counts of several outputs."""
    with located(key="mechanism"):
        if found.stands_for:
            reason = (
                "these neighbours are too many to form, and the pair that stands for all is for one output"
            )
            raise CaseError(reason, key="times")
        if isinstance(found.hmm, EnclosedTable):
            reason = "counts of outputs need formulas, which gauss and discrete_gaussian do not have"
            raise CaseError(reason, key="times", mend="write a loop in the program")
        note = f"the mechanism answers {times} times about one input; outputs are listed with their counts"
        return replace(found, hmm=repeated(found.hmm, times), times=times, notes=(*found.notes, note))


def _has_explicit_priors(top: Table) -> bool:
    """Tells whether `[prior]` may be written state by state, where the mechanism could not be read."""
    made = top.data.get("mechanism")
    return isinstance(made, dict) and made.get("kind") == "hmm" and "start" not in made


def _neighbours(top: Table, mechanism: Mechanism, names: Collection[str]) -> ComparedPairs:
    if "prior" in top or "secrets" in top:
        raise CaseError("give either [neighbours], or [prior] and [secrets]", key="neighbours")
    if mechanism.queries:
        if isinstance(mechanism, ProgramMechanism):
            name = mechanism.places[0].name
            values = (
                f'{name} = {{ values = "0..1" }}, or {name} = {{ length = 3, values = "0..1" }} for an array'
            )
            reason = f"with [neighbours] an input has a set of values: write {values}"
            raise CaseError(reason, key="mechanism.inputs")
        raise CaseError("[neighbours] needs the number of queries, not expressions", key="mechanism")
    with top.within("neighbours") as table:
        many = unformed(mechanism, table) or standing(mechanism, table, top.data)
        near = near_by_default(table, mechanism)
        if many:
            table.close()
            return _worst(mechanism, many, near)
        hmm, pairs = mechanism.neighbours(table)
        shape = shape_of(mechanism, mechanism.answers)
        notes = (
            *one_way(table, shape, pairs, mechanism.answers),
            *left_out(table, pairs, mechanism.answers),
            *near,
        )
        pairs = with_distances(table, shape, pairs, names)
        table.close()
        if not pairs:
            raise CaseError("there are no neighbouring inputs")
        return ComparedPairs(mechanism, hmm, pairs, notes=(*notes, *in_words(table, pairs)))


def _worst(mechanism: Mechanism, around: Neighbourhood, notes: tuple[str, ...]) -> ComparedPairs:
    """Returns the pair of neighbours that stands for all."""
    left, right = around.worst_pair()
    hmm, pairs = around.compare(left, right)
    note = (
        f"{show_input(left)} against {show_input(right)} has the largest ratio of all neighbours "
        f"({around.pairs:,} ordered pairs), and stands for them"
    )
    return ComparedPairs(mechanism, hmm, pairs, stands_for=around, notes=(note, *notes))


def _secret_pairs(top: Table, mechanism: Mechanism | None, checks: Checks) -> ComparedPairs | None:
    """Conditions the prior on each secret, and carries it through the queries.

    Without a mechanism, or after a mistake, the tables are read and nothing is formed.
    """
    each = checks.mistakes
    if mechanism:
        with each:
            _need_queries(top, mechanism)
    prior: Prior | None = None
    with each, top.within("prior") as belief:
        prior = read_prior(belief, checks)
    wanted: list[tuple[str, str]] = []
    copies: dict[str, str] = {}
    conditioned: dict[str, Condition] = {}
    with each:
        table = top.table("secrets")
        with located(key="secrets"):
            with each:
                copies, wanted = every_index(table, _pairs(table, each))
            if prior:
                conditioned = _conditioned(prior, table, (copies, wanted), each)
            _close_secrets(table, each)
    if mechanism is None or each.found:
        return None
    assert prior is not None  # else there was a mistake
    with located(key="mechanism"):
        weights, named = _weights(prior, conditioned, mechanism, top)
    if prior and isinstance(mechanism, InputsChecked):
        mechanism.check([possible_values(query, prior.values) for query in mechanism.queries])
    inputs = list(dict.fromkeys(given for answers in weights.values() for given in answers))
    hmm, starts = mechanism.build(inputs)
    start = dict(zip(inputs, starts, strict=True))
    priors = {name: _mixture(answers, start, checks) for name, answers in weights.items()}
    pairs = [SecretPair(a, b, priors[a], priors[b]) for a, b in wanted]
    whole: Whole | None = None
    if prior.weights is None:
        secrets = {name: condition.evidence for name, condition in conditioned.items()}
        queries = prior.counted([("", query) for query in mechanism.queries])
        begins = {answers: start[given] for answers, given in named.items()}
        whole = Whole(prior.network, secrets, tuple(queries), begins)
    return ComparedPairs(mechanism, hmm, pairs, prior, weights, whole=whole)


def _need_queries(top: Table, mechanism: Mechanism) -> None:
    """Checks that the case says what the mechanism is applied to, and what is compared."""
    if mechanism.queries:
        return
    if "prior" not in top and "secrets" not in top:
        reason = "[neighbours] is missing, so no inputs are compared: write"
        raise CaseError(f'{reason} differ = "each" in it, or give [prior] and [secrets]', key="neighbours")
    if isinstance(mechanism, ProgramMechanism):
        name = mechanism.places[0].name
        reason = f'with [prior] an input is an expression over its variables: write {name} = "a + b"'
        raise CaseError(f"{reason}, or give [neighbours] instead", key="mechanism.inputs")
    raise CaseError("the query expressions are missing: what is it applied to?", key="mechanism")


def _conditioned(
    prior: Prior, table: Table, asked: tuple[Mapping[str, str], Sequence[tuple[str, str]]], each: Each
) -> dict[str, Condition]:
    """Returns the prior under each secret that a pair names; some are copies for one index."""
    copies, wanted = asked
    found: dict[str, Condition] = {}
    for name in dict.fromkeys(name for pair in wanted for name in pair):
        with each:
            if name in copies:
                with located(key=base_name(name)):
                    found[name] = prior.where(as_expression(copies[name]))
                continue
            if name not in table:
                others = [other for other in table.data if other != "pairs"]
                near = nearest(name, others)
                known = ", ".join(map(printable.name, others))
                mend = f"did you mean {near!r}?" if near else ""
                place = next(k for k, pair in enumerate(wanted) if name in pair)
                reason = f"{name!r} is not one of the secrets: {known}"
                raise CaseError(reason, key=f"pairs[{place}]", mend=mend)
            secret = table.expression(name)
            with located(key=name):
                found[name] = prior.where(secret)
    return found


def _explicit_pairs(top: Table, mechanism: Explicit, checks: Checks) -> list[SecretPair]:
    """Reads `[prior.NAME]`: initial distributions written out state by state."""
    priors: dict[str, InitialDistribution] = {}
    with top.within("prior", STARTS) as table:
        for name in table:
            row = table.get(name)
            if not isinstance(row, dict) or row.keys() & set(DISTRIBUTIONS) - set(mechanism.model.states):
                reason = "start is missing: give it an expression over [prior] that names the initial state"
                raise CaseError(f"{reason}, or give each state a probability in [prior.{name}]", key=name)
            with table.within(name) as entries:
                row = read_row(entries, mechanism.model.states, checks)
                checks.distribution(row, "this distribution")
                numbered = {mechanism.model.states.index(s): p for s, p in row.items()}
                priors[name] = InitialDistribution.of(numbered, checks)
    table = top.table("secrets", NAMES_OF_STARTS)
    with located(key="secrets"):
        wanted = _pairs(table, checks.mistakes)
        table.close()
        for name in (name for pair in wanted for name in pair):
            if name not in priors:
                raise CaseError(f"{name!r} is not one of {', '.join(priors)}", key="pairs")
    return [SecretPair(a, b, priors[a], priors[b]) for a, b in wanted]


def _pairs(table: Table, each: Each) -> list[tuple[str, str]]:
    """Returns the pairs of names, without those that are none, which are mistakes."""
    pairs = table.need("pairs")
    if not isinstance(pairs, list) or not pairs:
        raise CaseError("a list of pairs of secrets is needed here", key="pairs")
    found: list[tuple[str, str]] = []
    for k, pair in enumerate(pairs):
        with each, located(key=f"pairs[{k}]"):
            found.append(_pair(pair))
    return found


def _pair(pair: object) -> tuple[str, str]:
    names = isinstance(pair, list) and all(isinstance(name, str) and not is_decimal(name) for name in pair)
    if not (isinstance(pair, list) and names and len(pair) == 2):
        raise CaseError("a pair of two names is needed here")
    if pair[0] == pair[1]:
        raise CaseError("a secret cannot be compared with itself")
    return pair[0], pair[1]


def _close_secrets(table: Table, each: Each) -> None:
    """Checks that every secret, also one that no pair uses, is at least an expression."""
    for name in table:
        if name != "pairs" and name not in table.told:
            with each:
                check_name(name)
                table.expression(name)


def _weights(
    prior: Prior, conditioned: Mapping[str, Condition], mechanism: Mechanism, top: Table
) -> tuple[dict[str, dict[Input, RationalFunction]], dict[Input, Input]]:
    """Returns the weight of each input under each secret, and the input of each combination of answers."""
    made = top.data["mechanism"]
    keys = [_key_of(query.text, made) for query in mechanism.queries]
    with gathered() as each:
        for query, key in zip(mechanism.queries, keys, strict=True):
            with each, located(key=key):
                check_compared_labels(query, prior.values)
                for name, node in query.names().items():
                    if name not in prior.names:
                        raise unknown_name(query, node, name, prior.names)
    answers = prior.answers(conditioned, list(zip(keys, mechanism.queries, strict=True)))
    _check_range(mechanism, dict.fromkeys(given for own in answers.values() for given in own), top)
    named: dict[Input, Input] = {}
    found: dict[str, dict[Input, RationalFunction]] = {}
    for name, own in answers.items():
        found[name] = {}
        for given, weight in own.items():
            if given not in named:
                named[given] = known_input(given, mechanism.answers)
            place = named[given]
            found[name][place] = found[name][place] + weight if place in found[name] else weight
    return found, named


def _key_of(text: str, data: object) -> str:
    """Returns the key of the value that has this text, "" if none has."""
    entries: Iterable[tuple[str, object]] = ()
    if isinstance(data, Mapping):
        entries = data.items()
    elif isinstance(data, list):
        entries = ((f"[{k}]", entry) for k, entry in enumerate(data))
    for name, value in entries:
        if isinstance(value, (str, int)) and str(value) == text and name != "source":
            return name
        inner = _key_of(text, value)
        if inner:
            return f"{name}{'' if inner.startswith('[') else '.'}{inner}"
    return ""


def _check_range(mechanism: Mechanism, answers: Iterable[Input], top: Table) -> None:
    """Checks that the noise is for all whole numbers that a query can be.

    Raises:
        CaseError: it is for smaller ones, with the range that is needed.
    """
    noise = getattr(mechanism, "noise", None)
    if not isinstance(noise, Noise):
        return
    largest: dict[Expression, Fraction] = {}
    for given in answers:
        for query, value in zip(mechanism.queries, given, strict=True):
            if isinstance(value, Fraction) and value.denominator == 1:
                largest[query] = max(value, largest.get(query, value))
    for query, value in largest.items():
        if value > noise.range:
            told = f"{query.text} can be {value}"
            if "range" in top.data["mechanism"]["noise"]:
                mend = f"write range = {max(largest.values())}"
                raise CaseError(f"the range is {noise.range}, but {told}", key="noise.range", mend=mend)
            raise CaseError(f"the noise is for 0..{noise.range}, but {told}", key="noise")


def _mixture(
    answers: Mapping[Input, RationalFunction], start: Mapping[Input, InitialDistribution], checks: Checks
) -> InitialDistribution:
    """Returns the initial distribution that mixes those of the inputs with the given weights."""
    mixed: dict[int, RationalFunction] = {}
    for given, weight in answers.items():
        inner = start[given]
        for state, share in inner.weights.items():
            part = weight * RationalFunction.of(share, inner.mass)
            mixed[state] = mixed[state] + part if state in mixed else part
    return InitialDistribution.of(mixed, checks)
