"""The files of a theorem: one that people read and Coq checks, and how to have it checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import UnsupportedError
from paramverify.models.inequality import Inequality
from paramverify.models.measures import Approximate, Metric
from paramverify.models.model import Model
from paramverify.models.settings import with_settings
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports.theorems import inequalities
from paramverify.reports.theorems.domains import TheoremDomain
from paramverify.reports.theorems.inequalities import claim_theorem
from paramverify.reports.theorems.stated import StatedTheorem, case_lines
from paramverify.reports.theorems.statements import check_is_covered, statement_of
from paramverify.reports.theorems.words import comment, named
from paramverify.tables import toml_data

Json = Mapping[str, Any]

FOR_MORE = Options(evidence=2.0)
PROJECT = "-Q theories Paramverify\n"
MAKEFILE = """\
# Builds the theories, and has Coq check case.v.
all: theories/Makefile.coq
	$(MAKE) -C theories -f Makefile.coq
	coqc -Q theories Paramverify case.v

theories/Makefile.coq: Makefile
	cd theories && coq_makefile -Q . Paramverify {theories} -o Makefile.coq
"""
REQUIRE = "From Paramverify Require Import Theorems."
REQUIRED = re.compile(r"From\s+Paramverify\s+Require\s+(?:Import\s|Export\s)?([\w\s]+)\.")
HEADER = """\
(** {title}{digest}

    Coq checks this file by `make` in its folder. Where the theories are built already, in a folder T:

      coqc -Q T Paramverify case.v

    What is proved is the theorem [private] at the end{always}{over}:
    {told}.
{empty}    The definitions below say what the case is. Read them: they must be what you mean.
    Their words are defined in the theories.
    {words}

    The numbers of [evidence] need not be read. Coq derives polynomial claims from the definitions, and looks
    for a proof of each of them there. With wrong numbers Coq proves nothing false: it rejects the file, or
    it did not need them.

    Trusted are Coq and the axioms of its real numbers. The last line of the file has Coq print them.
    No solver is trusted. The folder theories is as good as who sent it: take it from a release of your own
    if you have doubts. {trusted} *)
"""
EMPTY = """\
    But {reason}.
    So the theorem is true, and it says nothing about this case.
"""
DEFINED = """\
paramverify is trusted for nothing but this: that the definitions
    are those of the case file."""
MODELLED = """\
paramverify is trusted for this: that the model below is that of
    the case file. It computed the model. The case is not told in its own words, for this reason:
    {reason}."""


@dataclass(frozen=True)
class Theorem:
    """A file for Coq; `as_model` is the reason why it tells a model of the case, if it does."""

    text: str
    as_model: str


def required(case: PrivacyCase) -> str:
    """Returns the line of the theorem about a case that loads the theories."""
    return inequalities.REQUIRE if isinstance(case.model, Inequality) else REQUIRE


def theorem_files(text: str, theories: Path) -> dict[str, str]:
    """Returns the files with which Coq checks a theorem, by their names, with the theories it needs."""
    needed: dict[str, str] = {}
    pending = [text]
    while pending:
        for names in REQUIRED.findall(pending.pop()):
            for name in set(names.split()) - needed.keys():
                needed[name] = (theories / f"{name}.v").read_text(encoding="utf-8")
                pending.append(needed[name])
    makefile = MAKEFILE.format(theories=" ".join(f"{name}.v" for name in sorted(needed)))
    copies = {f"theories/{name}.v": needed[name] for name in sorted(needed)}
    return {"case.v": text, "Makefile": makefile, "_CoqProject": PROJECT, **copies}


def theorem_of(case: PrivacyCase, document: Json, options: Options = FOR_MORE) -> Theorem:
    """Returns a file for Coq with the theorem that a case is private, or that its own claim is true.

    `document` is the evidence for it. The options are for what Coq must know besides of denominators.

    Raises:
        UnsupportedError: the theories do not cover the case, or a proof rests on a solver.
    """
    if isinstance(case.model, Inequality):
        return Theorem(claim_theorem(case, case.model, document, options), "")
    model = check_is_covered(case.model)
    data = with_settings(toml_data(case.text), case.settings)
    place = TheoremDomain.of(model.domain)
    if "claims" not in document:
        raise UnsupportedError("its evidence has no claims")
    found = statement_of(case, data, model, place, document)
    ratio, delta = _bounds(model)
    evidence = place.evidence(document["claims"] if delta is None else [])
    plus = ""
    bounds = []
    if ratio is not None:
        bounds.append(f"Definition ratio : expression := ({place.words.quotient(ratio)})%case.")
    if delta is not None:
        plus = f",\n    plus {_shown(delta, place)}"
        bounds.append(f"Definition delta : expression := ({place.words.quotient(delta)})%case.")
        evidence += ["", *place.sums(document["claims"])]
    parts = [
        HEADER.format(
            title=f"{comment(case.title)}\n\n    " if case.title else "",
            digest=case_lines(case.digest, case.settings),
            always=", for all values of the parameters" if place.free else "",
            over=f",\n    {comment(_over(case))}" if case.over else "",
            told=found.told.format(times=ratio and _shown(ratio, place), plus=plus),
            empty=EMPTY.format(reason=_empty(model)) if _empty(model) else "",
            words=found.words,
            trusted=MODELLED.format(reason=found.as_model) if found.as_model else DEFINED,
        ),
        REQUIRE,
        "",
        *(["(* The parameters. *)", *place.definitions, ""] if place.definitions else []),
        *found.definitions,
        "",
        f"(* How much more likely: {comment(case.budget)}. *)",
        *bounds,
        "",
        "(* Proofs of polynomial claims, as numbers. *)",
        *evidence,
        "",
        *_theorem(found, model, place),
        "",
        "Print Assumptions private.",
    ]
    return Theorem("\n".join(parts) + "\n", found.as_model)


def _empty(model: Model) -> str:
    """Returns why nothing is compared; "" where something is."""
    sides = [(pair.pi, pair.tau) for pair in model.pairs]
    same = all(one.weights == other.weights and one.mass == other.mass for one, other in sides)
    return model.nothing_compared or ("the two secrets of each pair are the same" if same else "")


def _over(case: PrivacyCase) -> str:
    """Returns the inputs that the theorem is about."""
    return (
        f"for all neighbouring {case.over}"
        if case.neighbours
        else f"for the prior of the case over {case.over}"
    )


def _shown(bound: RationalFunction, place: TheoremDomain) -> str:
    """Returns a bound as people write it."""
    constant = place.domain.constant
    top, bottom = str(bound.numerator), str(bound.denominator)
    if bottom == "1":
        text = top
    else:
        text = f"({top})/" if " " in top else f"{top}/"
        text += f"({bottom})" if " " in bottom or "*" in bottom else bottom
    if constant is not None:
        text = re.sub(rf"\b{GENERATOR}\b", f"exp({constant.exponent})", text)
    return comment(text)


def _bounds(model: Model) -> tuple[RationalFunction | None, RationalFunction | None]:
    """Returns the ratio of a case, and its delta if it has one; no ratio where it depends on a distance."""
    if isinstance(model.measure, Metric):
        return None, None
    if isinstance(model.measure, Approximate):
        return model.measure.ratio, model.measure.delta
    return model.measure.at(None).ratio, None


def _theorem(found: StatedTheorem, model: Model, place: TheoremDomain) -> list[str]:
    ratio, delta = ("" if f is None else place.reals.quotient(f) for f in _bounds(model))
    claim = found.claim.format(point=place.point, ratio=ratio, delta=delta)
    names = named([f"domain{k}" for k in range(len(place.hypotheses))], frozenset(place.free)).values()
    free = f"forall {' '.join(place.free)} : R,\n  " if place.free else ""
    premises = "".join(f"({text})%R ->\n  " for text in place.hypotheses)
    return [
        f"Theorem private : {free}{premises}({claim})%R.",
        "Proof.",
        *([f"  intros {' '.join([*place.free, *names])}."] if names else []),
        f"  refine ({found.uses} _ {place.values}%R _).",
        "  - vm_cast_no_check (eq_refl true).",
        "  - by_domain.",
        "Qed.",
    ]
