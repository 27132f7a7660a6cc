"""Proves or refutes privacy of discrete mechanisms for every prior of a parameter domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paramverify.api import (
        BudgetReport,
        Case,
        CheckReport,
        CompareReport,
        ComposeReport,
        Counterexample,
        DivergenceWitness,
        EnclosedWitness,
        ExactNumber,
        ExportReport,
        Kind,
        Mechanism,
        Report,
        SampleReport,
        SetWitness,
        ShowReport,
        StreamBudgetReport,
        SynthesisReport,
        VerifyReport,
        Witness,
        adopt,
        budget,
        check,
        compare,
        compose,
        export,
        load,
        loads,
        mechanism,
        sample,
        show,
        synthesize,
        verify,
    )
    from paramverify.language import (
        binomial,
        choice,
        clamp,
        discrete_gaussian,
        exp,
        exponential,
        flip,
        gauss,
        geometric,
        laplace,
        one_sided_geometric,
        output,
        stop,
        uniform,
    )

__version__ = "0.1.0"

__all__ = [
    "BudgetReport",
    "Case",
    "CheckReport",
    "CompareReport",
    "ComposeReport",
    "Counterexample",
    "DivergenceWitness",
    "EnclosedWitness",
    "ExactNumber",
    "ExportReport",
    "Kind",
    "Mechanism",
    "Report",
    "SampleReport",
    "SetWitness",
    "ShowReport",
    "StreamBudgetReport",
    "SynthesisReport",
    "VerifyReport",
    "Witness",
    "adopt",
    "binomial",
    "budget",
    "check",
    "choice",
    "clamp",
    "compare",
    "compose",
    "discrete_gaussian",
    "exp",
    "exponential",
    "export",
    "flip",
    "gauss",
    "geometric",
    "laplace",
    "load",
    "loads",
    "mechanism",
    "one_sided_geometric",
    "output",
    "sample",
    "show",
    "stop",
    "synthesize",
    "uniform",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Returns a name of `__all__`, imported when it is asked for: the kernel shares nothing with it."""
    if name not in __all__:
        raise AttributeError(f"module 'paramverify' has no attribute {name!r}")
    from paramverify import language

    if hasattr(language, name):
        return getattr(language, name)
    from paramverify import api

    return getattr(api, name)


def __dir__() -> list[str]:
    """Returns the names that there are, so that a prompt completes them."""
    return sorted({*globals(), *__all__})
