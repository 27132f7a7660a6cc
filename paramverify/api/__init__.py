"""What programs get from `import paramverify`: cases of all kinds, decorated functions, reports, numbers."""

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.api.adopting import adopt, mechanism
from paramverify.api.cases import Case, budget, check, export, load, loads, sample, show, synthesize, verify
from paramverify.api.comparing import compare
from paramverify.api.composing import compose
from paramverify.api.decorated import Mechanism
from paramverify.api.reading import Kind
from paramverify.api.results import (
    BudgetReport,
    CheckReport,
    CompareReport,
    ComposeReport,
    ExportReport,
    Report,
    SampleReport,
    ShowReport,
    StreamBudgetReport,
    SynthesisReport,
    VerifyReport,
)
from paramverify.evidence.told_witnesses import (
    Counterexample,
    DivergenceWitness,
    EnclosedWitness,
    SetWitness,
    Witness,
)

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
    "budget",
    "check",
    "compare",
    "compose",
    "export",
    "load",
    "loads",
    "mechanism",
    "sample",
    "show",
    "synthesize",
    "verify",
]
