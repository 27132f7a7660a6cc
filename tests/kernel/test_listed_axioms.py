"""The list of axioms in proofs/ has every theorem, and no axioms but those of Coq's real numbers."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from conftest import ROOT

REAL_NUMBERS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}


def axioms() -> Any:
    """Returns the program that writes the list and compares it."""
    spec = spec_from_file_location("axioms", ROOT / "proofs" / "axioms.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_theorem_is_listed() -> None:
    """Each theorem and corollary of a theory is in the list once; `make check` has Coq print their axioms."""
    program = axioms()
    stated = program.stated()
    assert len(stated) == len({*stated}) > 80
    assert {*stated} == program.listed().keys()
    for theorem in ("Sound.check_sound", "Case.pufferfish_theorem", "Decisions.check_logic_sound"):
        assert theorem in stated
    assert frozenset().union(*program.listed().values()) == REAL_NUMBERS
