"""A comparison from its files to its summary: what is read, planned, and told of attempts that were made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from paramverify.backends import Ability, discover
from paramverify.comparison.comparison_results import Record, ResultsFile, identity, read_results
from paramverify.comparison.comparison_runs import CompareOptions, Planned, complete, plan
from paramverify.comparison.comparison_subjects import Skipped, Subjects, read_subjects
from paramverify.comparison.comparison_summary import ComparisonSummary
from paramverify.encodings.choice import names as encodings_known
from paramverify.errors import InputError
from paramverify.models.settings import Settings


@dataclass(frozen=True)
class Comparison:
    """What was read and planned; `told` are the results of other tools."""

    choice: CompareOptions
    subjects: Subjects
    attempts: Sequence[Planned]
    skipped: Sequence[Skipped]
    told: Sequence[Record]

    @staticmethod
    def of(
        cases: Iterable[str],
        choice: CompareOptions,
        encodings: Sequence[str] = (),
        others: Iterable[Path] = (),
        limited: Callable[[Path], AbstractContextManager[object]] = lambda path: nullcontext(),
        settings: Settings | None = None,
    ) -> Comparison:
        """Reads cases, scripts and the results of other tools, and plans the attempts.

        Without names in the choice all installed backends take part; what is missing is told. See
        `read_subjects` for `limited` and `settings`.

        Raises:
            InputError: a mistake in a file, an unknown name, or nothing that these backends can run.
            LimitError: the time for reading did not suffice for any file.
        """
        for name in encodings:
            if name not in encodings_known():
                raise InputError(f"unknown encoding {name!r}; choose from {', '.join(encodings_known())}")
        missing: list[Skipped] = []
        if not choice.backends:
            able = [b for b in discover().values() if Ability.CLAIMS in b.abilities]
            absent = [b for b in able if b.version() is None]
            choice = replace(choice, backends=tuple(b.name for b in able if b not in absent))
            missing = [Skipped(b.name, f"not installed; to get it: {b.install}") for b in absent]
        subjects = read_subjects(cases, encodings, limited, settings)
        attempts, skipped = plan(subjects, choice)
        if not attempts:
            raise InputError("none of these backends can run any of these files")
        told: list[Record] = []
        for path in others:
            more, parts = read_results(
                path, subjects.subjects, choice.seconds, choice.memory, choice.backends, before=told
            )
            told, skipped = [*told, *more], [*skipped, *parts]
        return Comparison(choice, subjects, attempts, [*skipped, *missing], told)

    def done(self, results: ResultsFile) -> int:
        """Returns how many of the attempts have results."""
        return sum(identity(planned.record) in results.records for planned in self.attempts)

    def summary(self, records: Sequence[Record]) -> ComparisonSummary:
        """Returns what the results of all attempts say, beside those of other tools."""
        choice = self.choice
        return ComparisonSummary.of(
            [*records, *self.told], self.subjects, self.skipped, choice.seconds, raw=choice.raw
        )

    def so_far(self, results: ResultsFile) -> ComparisonSummary | None:
        """Returns what the results say of claims of which every attempt was made; None if there is none."""
        kept, choice = complete(self.attempts, results.records), self.choice
        if not kept:
            return None
        return ComparisonSummary.of(
            kept, self.subjects, self.skipped, choice.seconds, raw=choice.raw, complete=False
        )
