"""Case files: what the user believes, what must stay secret, and what is released.

A case file is TOML. It says everything that the user must say and nothing that can be derived: the attacker's
prior and the secrets, the mechanism, the budget. `load` reads it into a `PrivacyCase` with its `Model`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from paramverify.algebra.expressions import arrays_in, defining, reaching
from paramverify.algebra.polynomials import RationalFunction, meanings
from paramverify.divergences import Measure
from paramverify.divergences.registry import foreign, names
from paramverify.errors import BesideError, CaseError, Each, FinerError, gathered, located
from paramverify.expectations import read_expect
from paramverify.models.context import Checks, check_domain
from paramverify.models.definitions import (
    Functions,
    Inequality,
    RationalComparison,
    read_files,
    read_named,
    unknown_table,
)
from paramverify.models.mechanisms import Input, Mechanism
from paramverify.models.mechanisms._streams import StreamMechanism
from paramverify.models.model import AnyModel, Withheld
from paramverify.models.names import explained
from paramverify.models.neighbourhoods import NAME
from paramverify.models.parameters import (
    Design,
    read_design,
    read_domain,
    unbounded_names,
    without_interval,
)
from paramverify.models.priors import Prior
from paramverify.models.programs.stream_loops import VERIFY
from paramverify.models.settings import NONE, Settings, set_outside, settled, told
from paramverify.models.windows import Whole
from paramverify.privacy import origins, privacy_table
from paramverify.privacy.case_models import model_of, read_mechanism_files, used_in
from paramverify.privacy.idle import warnings_of
from paramverify.privacy.inputs import inputs_told, sequences_told
from paramverify.privacy.keys import CLAIMED, shape_of_case
from paramverify.privacy.secrets import ComparedPairs, read_comparison
from paramverify.tables import Table, TomlDocument, read_document

PRIVACY = ("prior", "mechanism", "secrets", "neighbours", "privacy")
NOWHERE: Mapping[str, Fraction] = MappingProxyType({})
TABLES = ["parameters", *PRIVACY, "automaton", "quantify", "design", "define", "claim", "expect"]


@dataclass(frozen=True, eq=False)
class PrivacyCase:
    """A case file that was read: its model, what that was made of, and the words around it.

    `document` is the file with what was set, also numbers for parameters of the domain (0, ∞). Its `digest`
    ties evidence to it; where the case names other files, it is that of all their digests. `expect` is the
    file's own expectation, `budget` its budget or claim in words. `free` are the parameters on which a
    condition is asked for, where `[quantify]` names the others.
    `design` are the parameters that are to be chosen. `settings` are values that come from `-D` and
    not from the file; the digest is that of both.

    A case about privacy has its `mechanism`, of a `kind`. It compares `neighbours`, or secrets under a prior.
    Where a prior is conditioned on secrets, `prior` is that prior, and `inputs` are the weights of the inputs
    of the mechanism under each secret; `whole` is the prior as a network where it is large. It answers so
    many `times` about one input.

    Where epsilon does not fit beside the other exponents, the model is `Withheld`, and `sides` are two cases
    with ratios just below and just above e^epsilon, each with this bound of its own as `stand_in`.
    """

    document: TomlDocument = field(repr=False)
    budget: str
    model: AnyModel
    title: str = ""
    source: str = ""
    expect: Mapping[str, Any] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    design: Design | None = None
    mechanism: Mechanism | None = None
    kind: str = ""
    neighbours: bool = False
    prior: Prior | None = None
    inputs: Mapping[str, Mapping[Input, RationalFunction]] = field(default_factory=dict)
    times: int = 1
    whole: Whole | None = None
    settings: Settings = field(default_factory=dict)
    sides: tuple[PrivacyCase, ...] = field(default=(), repr=False)
    stand_in: str = ""

    @property
    def path(self) -> str:
        """The name of the file."""
        return self.document.path

    @property
    def digest(self) -> str:
        """The SHA-256 digest of the file, of what was set and of the files that it names."""
        return self.document.digest

    @property
    def text(self) -> str:
        """The text of the file, for the lines of mistakes; "" where it was made."""
        return self.document.text

    @property
    def data(self) -> Mapping[str, Any]:
        """What was read, with what was set."""
        return self.document.data

    @property
    def inputs_listed(self) -> str:
        """The inputs that the case lists, such as `q in {0..4}^2`; see `inputs_told`."""
        pairs = getattr(self.model, "pairs", ())
        compared = {name for pair in pairs for name in (pair.left, pair.right)}
        return inputs_told(self.mechanism, self.prior, self.neighbours, compared, self.model.lengths)

    @property
    def over(self) -> str:
        """What answers are about: the inputs that the case lists, and sequences of more outputs than one.

        If it lists pairs of neighbours, it is about these only.
        """
        listed = self.inputs_listed
        if self.lists_pairs:
            count = len(self.model.pairs)
            listed = f"the {f'{count} listed pairs' if count > 1 else 'listed pair'} of {listed}"
        return " and ".join(filter(None, (listed, self._sequences)))

    @property
    def lists_pairs(self) -> bool:
        """Whether neighbours are listed one by one, so that other inputs may have none."""
        return self.neighbours and "pairs" in self.data["neighbours"]

    @property
    def _sequences(self) -> str:
        return sequences_told(self.mechanism, self.neighbours, self.model.lengths) if self.mechanism else ""

    def compared(self, free: bool) -> str:
        """Returns what is compared, in words, with the inputs: neighbours, or secrets under each prior.

        If no parameter is `free`, there is only one prior.
        """
        if self.neighbours:
            return self.over if self.lists_pairs else f"all neighbouring {self.over}"
        listed = f" over {self.inputs_listed}" if self.inputs_listed else ""
        prior = f"{'every' if free else 'the'} prior of the case{listed}"
        return " and ".join(filter(None, (prior, self._sequences)))


def load(
    path: str | PathLike[str], at: Mapping[str, Fraction] = NOWHERE, settings: Settings = NONE
) -> PrivacyCase:
    """Reads a case file.

    `settings` are values or intervals of definitions and parameters, which take the place of the file's.
    `at` may give numbers to parameters of the domain (0, ∞). They are numbers of the case then: `eps = 1` is
    no rational point of `x_eps = exp(-eps)`. What else it names is not looked at.

    Raises:
        InputError: any mistake in the file, with file, key and reason.
        LimitError: a model larger than the bounds of this package.
    """
    return read_case(read_document(Path(path)), at, settings=settings)


def read_case(
    document: TomlDocument, at: Mapping[str, Fraction] = NOWHERE, *, settings: Settings = NONE
) -> PrivacyCase:
    """Reads a case file that is in memory, or data that was made like one; see `load`."""
    data = document.data
    with document.errors(), set_outside(settings), explained(data):
        for name in at.keys() & settings.keys():
            raise CaseError(f"{name} has two values: one by -D, and one of the point", key="-D")
        if settings and {"system", "states"} & data.keys() and "mechanism" not in data:
            settings = NONE  # another reader's case, which is told below
        origins.check(data, settings)
        stated = settled(document, settings)
        stated = stated.saying(_at(stated.data, at))
        if "system" in data:
            raise CaseError("this is an interactive system: use `paramverify interactive`", key="system")
        if "automaton" in data:
            raise CaseError(f"this is an automaton over streams: {VERIFY}", key="automaton")
        if "component" in data:
            raise CaseError("these are releases to be composed: use `paramverify compose`", key="component")
        if ("model" in data or "states" in data) and "mechanism" not in data:
            raise CaseError("this is a chain with formulas: use `paramverify logic`", key="model")
        try:
            return _formed(stated, settings)
        except BesideError as error:
            if privacy_table.DISTANCE.search(str(stated.data["privacy"]["epsilon"])):
                raise
            sides = tuple(_side(stated, settings, ratio) for ratio in error.sides)
            return replace(sides[0], model=cast(AnyModel, Withheld(error)), stand_in="", sides=sides)


def _formed(document: TomlDocument, settings: Settings) -> PrivacyCase:
    """Reads a case, again if expressions need finer powers of exp than could be seen before."""
    finer: dict[str, list[Fraction]] = {}
    while True:
        try:
            read = _CaseReader(document, finer).case()
            return _with_notes(read, settings, document.data)
        except FinerError as error:
            if error.exponent in finer.setdefault(error.name, []):
                raise
            finer[error.name].append(error.exponent)


def _side(document: TomlDocument, settings: Settings, ratio: str) -> PrivacyCase:
    """Reads a case with a ratio in place of its epsilon, which it has still in words."""
    data = document.data
    privacy = {name: value for name, value in data["privacy"].items() if name != "epsilon"}
    epsilon = data["privacy"]["epsilon"]
    bound = f"{ratio} + 0*({epsilon})" if isinstance(epsilon, str) else ratio  # the same names are used
    side = _formed(document.saying({**data, "privacy": {**privacy, "ratio": bound}}), settings)
    words = side.budget.replace(f"ratio = {bound}", f"epsilon = {epsilon}", 1)
    own = replace(side.document, data=data)
    return replace(side, document=own, budget=words, stand_in=f"ratio = {ratio}")


def _with_notes(case: PrivacyCase, settings: Settings, data: Mapping[str, Any]) -> PrivacyCase:
    """Returns the case with what was set, which its verdict tells first, and what nothing depends on."""
    idle = warnings_of(case.model, case.mechanism, case.prior, data)
    keys = [name for name in names() if name in data.get("privacy", {})]
    plugins = [f"the divergence {key} is that of {package}" for key in keys if (package := foreign(key))]
    notes = (*told(settings), *case.model.notes, *idle, *plugins)
    return replace(case, model=replace(case.model, notes=notes), settings=settings or case.settings)


def _at(data: Mapping[str, Any], at: Mapping[str, Fraction]) -> Mapping[str, Any]:
    """Returns the data with numbers for parameters of the domain (0, ∞)."""
    given = {name: at[name] for name in unbounded_names(Table(data)) if name in at}
    for name, value in given.items():
        if value <= 0:
            raise CaseError(f"the value {value} is not in (0, oo)", key=name)
    texts = {name: str(value) for name, value in given.items()}
    return {**data, "parameters": {**data["parameters"], **texts}} if texts else data


class _CaseReader:
    """Reads the tables of one case in the order in which they build on each other."""

    def __init__(self, document: TomlDocument, finer: Mapping[str, Sequence[Fraction]]) -> None:
        self.document = document
        self.top = Table(document.data, shape_of_case(document.data))
        self.finer = finer  # exponents of exp that no expression of the case shows

    def case(self) -> PrivacyCase:
        title = self.top.text("title", "")
        source = self.top.text("source", "")
        claimed = self.top.section is CLAIMED
        with gathered() as each:
            with each:
                expect = read_expect(self.top, claimed)
            with each:
                read = self.claim() if claimed else self.privacy()
        return replace(read, title=title, source=source, expect=expect)

    def claim(self) -> PrivacyCase:
        """Reads a case of an inequality of its own: `[define]` and `[claim]`."""
        with gathered() as each:
            for name in PRIVACY:
                if name in self.top.data:
                    raise CaseError("give either [claim], or [mechanism] and [privacy]", key=name)
            define = self.top.table("define") if "define" in self.top else Table({})
            if "claim" not in self.top:
                raise CaseError('[define] needs a [claim], such as holds = "f <= 1/2"', key="define")
            claim = self.top.table("claim")
            files = read_files(define, Path(self.document.path).parent)
            digest = self.document.digest
            if files:
                parts = [digest, *(file.digest for file in files.values())]
                digest = hashlib.sha256(" ".join(parts).encode()).hexdigest()
            domain = read_domain(self.top, used_in(self.top, self.finer), files, each)
            checks = Checks(domain, mistakes=each)
            functions = Functions(checks)
            functions.read(define, files)
            comparisons: tuple[RationalComparison, ...] = ()
            with each, located(key="claim"):
                comparisons = tuple(functions.comparisons(claim))
                claim.close()
            free, design = self.free(checks), self.design(checks)
            self.close(each)
            each.tell()
        model = Inequality(
            checks.domain,
            comparisons,
            definitions=functions.functions,
            text=" and ".join(dict.fromkeys(c.text for c in comparisons)),
            obligations=tuple(checks.obligations),
            notes=(
                *without_interval(files, self.top.data.get("parameters", {})),
                *meanings(domain.ring.unbounded),
            ),
            maybe_empty=check_domain(checks.domain),
        )
        document = replace(self.document, digest=digest)
        return PrivacyCase(document, budget=model.text, model=model, free=free, design=design)

    def privacy(self) -> PrivacyCase:
        """Reads a case about privacy: `[mechanism]`, what is compared, and `[privacy]`; with `[define]`."""
        with reaching(arrays_in(self.top.data.get("prior"))):
            return self.about_privacy()

    def about_privacy(self) -> PrivacyCase:
        """Reads it where its arrays are known."""
        definitions = read_named(self.top)
        with defining(definitions), gathered() as each:
            privacy: Table | None = None
            with each:
                privacy = self.top.table("privacy")
            defined = [named.expression for named in definitions.named.values()]
            used = used_in(self.top, self.finer, privacy, defined)
            domain = read_domain(self.top, used, {}, each)
            checks = Checks(domain, mistakes=each, definitions=definitions)
            free, design = self.free(checks), self.design(checks)
            digest: str | None = None
            with each:
                folder = Path(self.document.path).parent
                digest = read_mechanism_files(self.top, folder, self.document.digest, checks)
            compared = read_comparison(self.top, checks, has_files=digest is not None)
            bound: tuple[Measure, str, tuple[int, ...], bool] | None = None
            with each, located(key="privacy"):
                bound = self.bound(privacy, compared, checks) if privacy else None
            self.close(each)
            each.tell()
            assert compared is not None  # else there was a mistake
            assert bound is not None
            assert digest is not None
            return self.told(checks, digest, compared, bound, (free, design))

    def bound(
        self, privacy: Table, compared: ComparedPairs | None, checks: Checks
    ) -> tuple[Measure, str, tuple[int, ...], bool]:
        """Reads `[privacy]`: the measure with its bound, the bound in words, the lengths, and `one_sided`.

        Without what is compared it looks for mistakes only.
        """
        tables = (self.top.data.get(name) for name in ("parameters", "neighbours"))
        privacy_table.check_distance(
            privacy, [name for table in tables if isinstance(table, dict) for name in table]
        )
        neighbours = self.top.data.get("neighbours")
        pairs = compared.pairs if compared else ()
        distances = {p.distance for p in pairs if p.distance is not None}
        if not compared and isinstance(neighbours, dict) and NAME in neighbours:
            distances = {Fraction(1)}
        measure: Measure | None = None
        lengths: tuple[int, ...] = (1,)
        with gathered() as each:
            with each:
                measure, budget = privacy_table.read_measure(privacy, checks, distances)
            with each:
                lengths = privacy_table.read_lengths(privacy.get("length"))
                if compared and isinstance(compared.mechanism, StreamMechanism):
                    privacy_table.check_stream(privacy)
                if distances and not lengths:
                    reason = 'with distances the lengths are numbers: write, for example, length = "1..5"'
                    raise CaseError(reason, key="length")
            with each:
                one_sided = privacy_table.read_one_sided(privacy)
                if one_sided and compared and compared.stands_for:
                    reason = "one pair stands for all neighbours here, which needs all sequences"
                    raise CaseError(reason, key="one_sided")
            with each:
                if measure and compared:
                    privacy_table.check(measure, privacy, compared, lengths)
            with each:
                privacy.close()
        assert measure is not None  # else there was a mistake
        return measure, budget, lengths, one_sided

    def told(
        self,
        checks: Checks,
        digest: str,
        compared: ComparedPairs,
        bound: tuple[Measure, str, tuple[int, ...], bool],
        chosen: tuple[tuple[str, ...], Design | None],
    ) -> PrivacyCase:
        """Returns the case of all that was read."""
        return PrivacyCase(
            replace(self.document, digest=digest),
            budget=bound[1],
            model=model_of(checks, compared, bound),
            free=chosen[0],
            design=chosen[1],
            mechanism=compared.mechanism,
            kind=self.top.table("mechanism").text("kind"),
            neighbours="neighbours" in self.top,
            prior=compared.prior,
            inputs=compared.inputs,
            times=compared.times,
            whole=compared.whole,
        )

    def close(self, each: Each) -> None:
        """Tells what no case has: tables, and keys above all tables."""
        for name, value in self.top.data.items():
            if isinstance(value, dict) and name not in TABLES:
                self.top.told.add(name)
                each.keep(unknown_table(name, TABLES))
        with each:
            self.top.close()

    def design(self, checks: Checks) -> Design | None:
        """Reads the design parameters."""
        with checks.mistakes:
            return read_design(self.top, checks.ring.unbounded)
        return None

    def free(self, checks: Checks) -> tuple[str, ...]:
        """Reads `[quantify]`: the parameters that it does not name are left free."""
        if "quantify" not in self.top:
            return ()
        with checks.mistakes, self.top.within("quantify") as table:
            variables = {u.name: u.variable for u in checks.ring.unbounded}
            names = [variables.get(name, name) for name in table.texts("forall")]
            table.close()
            for name in names:
                if name not in checks.ring.parameters:
                    raise CaseError(f"{name!r} is not a parameter", key="forall")
            free = tuple(n for n in checks.ring.parameters if n not in names)
            if not free:
                raise CaseError("no parameter is left free; leave [quantify] out", key="forall")
            return free
        return ()
