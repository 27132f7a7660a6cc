"""Labels of outputs: what a case calls them, so that no two are taken for one, and none for a number."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from fractions import Fraction

from paramverify import printable
from paramverify.errors import CaseError
from paramverify.models.names import nearest
from paramverify.tables import Table, is_decimal

MAX_LENGTH = 100


def read_labels(table: Table, outputs: Sequence[str]) -> tuple[str, ...]:
    """Reads `labels`: what each of these outputs is called. Without the key they keep their names.

    Raises:
        CaseError: an output without a label, a label without an output, or labels that may be confused.
    """
    if "labels" not in table:
        return tuple(outputs)
    with table.within("labels") as given:
        for name in given:
            if name not in outputs:
                raise CaseError(f"there is no output {name!r}{nearest(name, list(outputs))}", key=name)
        missing = [name for name in outputs if name not in given]
        if missing:
            raise CaseError(f'the output {missing[0]} has no label: write {missing[0]} = "..."')
        labels = tuple(_label(given, name) for name in outputs)
        for name, label in zip(outputs, labels, strict=True):
            if label in outputs and label != name:
                raise CaseError(f"the label {label!r} is the name of another output", key=name)
        check_labels(labels)
        return labels


def _label(given: Table, name: str) -> str:
    label = given.get(name)
    if not isinstance(label, str) or is_decimal(label):
        raise CaseError('a label in quotes is needed here, such as "yes"', key=name)
    return label


def check_labels(labels: Iterable[str]) -> None:
    """Checks that labels can be told apart, from each other and from numbers, by whoever reads them.

    Raises:
        CaseError: two that are spelt alike or look alike, one that is like a number, or one that is not seen.
    """
    known: dict[str, str] = {}
    for label in labels:
        seen = printable.line(label) == label == label.strip()
        if not seen or not 1 <= len(label) <= MAX_LENGTH:
            reason = f"a label has 1 to {MAX_LENGTH} characters that are seen, and no blank at an end"
            raise CaseError(f"{reason}; not {label!a:.200}")
        if is_like_number(label):
            reason = f"the label {label!r} may be taken for a number"
            raise CaseError(f'{reason}; write, for example, "n{label}"')
        look = " ".join(unicodedata.normalize("NFKC", label).split())
        if look in known:
            twice = f"the label {label!r} occurs twice"
            alike = f"the labels {known[look]!a} and {label!a} look alike"
            raise CaseError(twice if known[look] == label else alike)
        known[look] = label


def is_like_number(text: str) -> bool:
    """Tells whether a text may be taken for a number: what any of Python's readers takes for one."""
    plain = unicodedata.normalize("NFKC", text)
    readers = (Fraction, float, lambda word: int(word, 0))
    for read in (*readers, complex) if any(map(str.isdigit, plain)) else readers:  # "j" is a number to Python
        try:
            read(plain)
        except (ValueError, ArithmeticError):
            continue
        return True
    return False
