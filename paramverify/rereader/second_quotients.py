"""Max divergence, compared sequence by sequence: standard library only.

For a direction (left, right) of a secret pair and a sequence w, the claim f ≥ 0 of the case and the
difference t = bound·Pr(w|right) − Pr(w|left) agree in this sense: f = k·s·t, with a number k > 0 of the
claim, and a function s > 0 of the parameters that all sequences of one length of one pair share (masses and
denominators). So at points of the domain the values of f are those of s·t up to a positive number. That is
what is compared. What s hides is not: where all t of a pair are multiples of one function, or where there is
only one point, their signs are all that is compared. Besides:

- where the case is said to hold, t ≥ 0 at the points, and a claim of the evidence agrees with each t;
- each sequence that the evidence names beside a claim is one of the case, and its t agrees with that claim;
- a witness has the probabilities and the bound that the second reader finds;
- a certificate about every length holds a model with these secrets, this bound and these probabilities.
"""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from functools import partial

from ..kernel.evidence_polynomials import number
from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_comparison import MAX_COMPARED, Found, Functional, PointwiseComparison
from .second_evidence import CONE, StatedWitness, origins, point_of
from .second_matching import (
    Matching,
    differences,
    origin,
    possible,
    probabilities,
    scaled,
)
from .second_numbers import Finer
from .second_windows import keep_bound


class Quotients(Functional):
    """The quotient of the probabilities of each sequence."""

    unknown = 1

    def __init__(self) -> None:
        self.matching = Matching((), (), False)
        self.count = 0

    def check_case(self, look: PointwiseComparison) -> None:
        self._no_delta(look)
        if look.reader.one_sided == ("side_condition" in look.evidence.document):
            raise Rejected("the evidence has another side condition")

    @staticmethod
    def _no_delta(look: PointwiseComparison) -> None:
        if "delta" not in look.reader.data.get("privacy", {}):
            return
        points = look.points()
        if look.evidence.witness is not None:
            points.append((look.evidence.witness.point, look.bases[0]))
        if any(look.reader.delta(*point) for point in points):
            raise Rejected("the case has a delta, and this evidence is about outputs one by one")

    def start(self, look: PointwiseComparison, found: Found) -> None:
        evidence = look.evidence
        look.check_domains(map(evidence.domain_of, evidence.named))
        if evidence.windows is None:
            claims = evidence.signs
            values = [tuple(look.value(c["polynomial"], *at) for at in found.points) for c in claims]
            complete = evidence.is_map or evidence.holds
            self.matching = Matching(values, list(map(origins, claims)), complete)

    def compare(self, look: PointwiseComparison, found: Found, pair: tuple[str, str], length: int) -> None:
        evidence = look.evidence
        if evidence.windows is not None:
            return
        holds = evidence.holds and not evidence.is_map
        items = dict(differences(found.masses, *pair, length, look.reader.one_sided))
        self.count += len(items)
        for item, row in items.items():
            if holds and any(t is not None and t < 0 for t in row):
                raise Rejected(f"the bound is broken by {origin(item)}")
        self.matching.group(items)

    def close(self, look: PointwiseComparison, found: Found) -> str:
        evidence, windows = look.evidence, look.evidence.windows
        if windows is not None:
            return keep_bound(look.reader, found.masses, found.pairs, found.points, windows)
        self.matching.close(found.pairs)
        if evidence.holds and not evidence.is_map and look.reader.lengths == [1]:
            self._breaks(look, found)
        what = f"{self.count} comparisons of probabilities"
        if len(found.points) == 1:
            return f"{what} have the signs of the claims at a point, and their values are not compared"
        said = f"{what} at {found.where} agree with the claims up to a positive factor for each pair"
        if loose := {frozenset(pair) for pair in self.matching.loose}:
            return f"{said} (for {counted(len(loose), 'pair')} this compares signs only)"
        return f"{said}{found.missed}"

    @staticmethod
    def _breaks(look: PointwiseComparison, found: Found) -> None:
        reader = look.reader
        if not reader.probe_breaks():
            return
        masses = reader.masses(*found.points[0], [1])
        left_out = reader.breaks.left_out if reader.breaks else set()
        for left, right in found.pairs:
            for item, (t,) in differences([masses], left, right, 1, reader.one_sided):
                if t is not None and t < 0 and item[2][0] not in left_out:
                    raise Rejected(f"the bound is broken where the evidence names no output: {origin(item)}")

    # --- witnesses --------------------------------------------------------------------------------

    def witness(self, look: PointwiseComparison, stated: StatedWitness, base: Fraction, own: bool) -> None:
        word, (left, right) = stated.word, stated.secrets
        assert word is not None
        point, found = look.at_witness(stated, base, word)
        p, q = found.of(left, word), found.of(right, word)
        if not look.reader.one_sided and not (p and q):
            raise Rejected("the sequence of the witness is ignored: it is possible on one side only")
        distance = found.distances.get((left, right))
        if stated.get("distance") != (None if distance is None else str(distance)):
            raise Rejected("the evidence has another distance of the inputs")
        if not own:
            look.check_numbers([p, q], stated.get("probabilities"), base, stated)
            return
        bound = found.bound(left, right)
        told = [*stated.get("probabilities"), stated.get("bound")]
        look.check_numbers([p, q, bound], told, base, stated)
        if p <= bound * q:
            raise Rejected("the witness is within the bound")
        self._beside(look, stated, base)
        if look.value(stated.get("claim")["polynomial"], point, base) >= 0:
            raise Rejected("the evidence has another claim for the witness")

    @staticmethod
    def _beside(look: PointwiseComparison, stated: StatedWitness, base: Fraction) -> None:
        """Compares the probabilities of sets beside places of densities, where they are exact."""
        told = stated.get("within")
        if told is None or any(isinstance(p, dict) and "exact" not in p for p in told["probabilities"]):
            return
        reader = deepcopy(look.reader)
        reader.steps = {name: number(told["steps"][name]) for name in reader.steps}
        reader.name_outputs(list(dict.fromkeys(told["observations"])), complete=False)
        word = tuple(told["observations"])
        try:
            found = reader.masses(stated.point, base, [len(word)], set(stated.secrets), word)
        except Finer:
            raise Rejected("a set beside the place of a density has no exact probability") from None
        own = [found.of(name, word) for name in stated.secrets]
        if own != [look.exact(given, base) for given in told["probabilities"]]:
            raise Rejected("a set beside the place of a density has other probabilities")
        if own[0] <= found.bound(*stated.secrets) * own[1]:
            raise Rejected("a set beside the place of a density is within the bound")


class CertificateComparison(PointwiseComparison):
    """Compares a certificate about every length, which has a model: its names, bound and probabilities."""

    def compare(self) -> str:
        self.functional.check_case(self)
        reader, engine = self.reader, self.evidence.engine
        model, loop = engine["model"], engine["rule"] == "loop"
        self.check_parameters()
        self.check_domain()
        # The model of a loop is that of the case at one point.
        points = [(point_of(engine["point"]), self.bases[0])] if loop else self.points()
        if not reader.has(*points[0]):
            raise Rejected("the loop is at a point outside the domain")
        size, length = len(model["observations"]), 1
        while size ** (length + 1) <= 400 and length < 6:
            length += 1
        lengths = list(range(1, length + 1))
        for point, base in points:
            found = reader.masses(point, base, lengths)
            own = reader.pairs(point, base)
            if len(own) * found.size > MAX_COMPARED:
                raise UnreadCase("there are too many pairs and sequences")
            compared, names = ({frozenset(p[:2]) for p in pairs} for pairs in (own, model["pairs"]))
            if not (names <= compared if loop else names == compared):
                raise Rejected("other secrets are compared")
            value = partial(self.value, point=point, base=base)
            top, bottom = map(value, model["ratio"])
            if {top} != {bound * bottom for bound in found.bounds.values()} or bottom <= 0:
                raise Rejected("the evidence has another bound")
            for secret, other, words in probabilities(model, value, lengths):
                theirs, against = found.words[secret], found.words[other]
                if words is None or theirs is None:
                    if words is not theirs:
                        raise Rejected(
                            f"the secret {secret!r} is impossible in the case or in the model alone"
                        )
                    continue
                if not reader.one_sided and against is not None:
                    theirs = possible(theirs, against)
                    words = scaled(words, theirs)
                words = scaled(words, theirs) if reader.of_streams else words
                if possible(words) != possible(theirs):
                    raise Rejected(f"the sequences under {secret!r} have other probabilities")
        return f"the probabilities up to length {length} agree at {counted(len(points), 'point')}"


def comparison_of(kind: str) -> type[PointwiseComparison]:
    """Returns how evidence of a kind about quotients is compared."""
    return CertificateComparison if kind == CONE else PointwiseComparison
