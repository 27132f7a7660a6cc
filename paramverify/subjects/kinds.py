"""The subjects of this package: which files they read, and where their answers are.

Nothing heavy is imported here, because each command asks every subject whether a file is its own.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from paramverify.errors import CaseError, InputError, located
from paramverify.files import read_file
from paramverify.plugins import owner
from paramverify.portfolio.session import Options
from paramverify.subjects.questions import (
    Budget,
    Explain,
    Hand,
    Prove,
    Question,
    Sample,
    Show,
    Synthesize,
    Verify,
)
from paramverify.subjects.results import Result
from paramverify.subjects.subject import Answer, Answers, CaseFile, NotAsked, Subject, Watch
from paramverify.tables import MAX_BYTES, document_data

if TYPE_CHECKING:
    from paramverify.automata.automaton import AutomatonFile
    from paramverify.automata.stream_cases import StreamCase
    from paramverify.interactive.system_cases import InteractiveCase
    from paramverify.logic.logic_cases import LogicCase
    from paramverify.privacy.cases import PrivacyCase

_STREAM = re.compile(rb"\bstream\b|\bautomaton\b|\bfile\b")  # one is in every case about streams
_NO_SOLVER = dict.fromkeys(("backends", "strategy", "confirm"), "no solver is asked")
_BOUNDS = ("delta-for", "epsilon-for", "curve")


def _no_theorem(about: str, command: str = "verify") -> NotAsked:
    mend = f"`paramverify {command} {{file}} --evidence FILE` writes evidence, which `check` replays"
    return NotAsked(f"there are no theorems about {about}", mend)


def _later(module: str, name: str) -> Answer:
    """Returns the answer that a module of this package has, which is imported when it is asked for."""

    def answer(file: CaseFile, asked: Any, options: Options, watch: Watch) -> Result:
        found: Result = getattr(import_module(f"paramverify.subjects.{module}"), name)(
            file, asked, options, watch
        )
        return found

    return answer


_NOT_OF_STREAMS = dict.fromkeys(
    ("length", "epsilon"), "it is for automata, and for cases about streams with Laplace noise"
)
_NOT_OF_SYSTEMS = dict.fromkeys(("points", "every"), "it is for interactive systems")


class AutomatonSubject(Subject):
    """The file of an automaton over streams."""

    name, title, place = "automaton", "an automaton", 10

    def reads(self, file: CaseFile) -> bool:
        """Tells it by the ending."""
        return file.path.suffix == ".dipa"

    def read(self, file: CaseFile) -> AutomatonFile:
        """Reads the automaton."""
        from paramverify.automata.automaton import AutomatonFile, read_automaton

        return AutomatonFile(file.path.name, read_automaton(file.path))

    def answers(self) -> Answers:
        """Returns the answers of automata."""
        return {
            Verify: _later("stream_answers", "verify_automaton"),
            Budget: _later("stream_answers", "budget"),
            Show: _later("stream_answers", "show"),
            Explain: NotAsked("an automaton is read by verify, budget and show"),
            **_NOT_FOR_STREAMS,
            Synthesize: NotAsked(
                "an automaton has no parameters: `paramverify verify` decides it for every epsilon"
            ),
        }

    def declined(self, question: type[Question]) -> Mapping[str, str]:
        """Returns what is for cases alone."""
        settings = {"D": "its verdict is for every epsilon"}
        if question is Budget:
            names = ("precision", "plot", "at", *_BOUNDS, *_NO_SOLVER, "cluster")
            return dict.fromkeys(names, "it is for other cases") | settings
        return {
            **_NO_SOLVER,
            **settings,
            "encoding": "it has no formula for Z3",
            "cluster": "it is decided here",
        }


_NOT_FOR_STREAMS: Answers = {
    Synthesize: NotAsked(
        "the verdict about streams is for every value of the parameter: `paramverify verify` decides it"
    ),
    Sample: NotAsked("streams of every length are not sampled"),
    Prove: _no_theorem("automata over streams"),
    Hand: NotAsked("a page is about a case with [mechanism] or [claim], a system, or formulas"),
}


class StreamSubject(Subject):
    """A case about streams: an automaton with a budget, or a program over a stream with Laplace noise."""

    name, title, place = "stream", "about streams", 50
    tables: ClassVar[Sequence[str]] = ("mechanism", "automaton", "neighbours", "privacy")

    def reads(self, file: CaseFile) -> bool:
        """Tells it by the tables, and by the program; most files are not looked into for it."""
        if "automaton" in file.tables:
            return True
        if "mechanism" not in file.tables or not _STREAM.search(_bytes(file)):
            return False
        from paramverify.automata.stream_cases import about_streams

        with file.as_file():
            return about_streams(file.path)

    def read(self, file: CaseFile) -> StreamCase:
        """Reads the case.

        Raises:
            InputError: a mistake, or values for parameters: the verdict is for all of them.
        """
        from paramverify.automata.stream_cases import load
        from paramverify.models.settings import with_settings

        case = load(file.path)
        if file.settings and file.document:
            with_settings(file.document.data, file.settings)  # a name that is not known is another mistake
            for name, text in file.settings.items():
                if name != case.parameter:
                    mend = f'write {name} = "{text}" into its [parameters]'
                    raise InputError(f"a case about streams takes no -D: {mend}", key="-D")
            raise InputError(f"the verdict is for every {case.parameter} > 0: leave -D out", key="-D")
        return case

    def answers(self) -> Answers:
        """Returns the answers about streams."""
        return {
            Verify: _later("stream_answers", "verify_case"),
            Budget: _later("stream_answers", "budget"),
            Show: _later("stream_answers", "show"),
            Explain: _later("stream_answers", "explain"),
            **_NOT_FOR_STREAMS,
        }

    def declined(self, question: type[Question]) -> Mapping[str, str]:
        """Returns what is for other cases alone."""
        declined = {**AutomatonSubject().declined(question), "budgets": "the case has its own budget"}
        del declined["D"]  # its reader says which names it knows
        return declined


class ScriptSubject(Subject):
    """An SMT-LIB script about reals."""

    name, title, place = "script", "an SMT-LIB script", 20

    def reads(self, file: CaseFile) -> bool:
        """Tells it by the ending."""
        return file.path.suffix == ".smt2"

    def read(self, file: CaseFile) -> Any:
        """Reads the script."""
        from paramverify.formats.smtlib_scripts import read_script

        return read_script(file.path)

    def answers(self) -> Answers:
        """Returns the answers of scripts."""
        mend = "`verify`, `check`, `export` and `compare` take scripts"
        asked: tuple[type[Question], ...] = (Budget, Explain, Show, Synthesize, Sample, Hand)
        return {
            Verify: _later("script_answers", "verify"),
            **dict.fromkeys(asked, NotAsked(mend)),
            Prove: _no_theorem("scripts of solvers"),
        }

    def declined(self, question: type[Question]) -> Mapping[str, str]:
        """Returns what is for cases alone."""
        return {
            "budgets": "a script has no privacy budget",
            "encoding": "its formula is there already",
            "cluster": "its questions are decided here",
            "D": "it has no definitions",
        }


class InteractiveSubject(Subject):
    """An interactive system."""

    name, title, place = "interactive", "an interactive system", 30
    steps = "states, families"
    tables: ClassVar[Sequence[str]] = ("system", "privacy", "unwinding")

    def reads(self, file: CaseFile) -> bool:
        """Tells it by its table."""
        return "system" in file.tables

    def read(self, file: CaseFile) -> InteractiveCase:
        """Reads the system; a bound may be missing."""
        from paramverify.interactive.system_cases import load

        return load(file.path, bounded=False, settings=file.settings)

    def answers(self) -> Answers:
        """Returns the answers about interactive systems."""
        only = NotAsked("it is about cases with [mechanism] or [claim]")
        return {
            Verify: _later("system_answers", "verify"),
            Budget: _later("system_answers", "budget"),
            Explain: _later("system_answers", "explain"),
            Show: _later("system_answers", "show"),
            Synthesize: only,
            Sample: NotAsked("sampling is for cases with [mechanism]"),
            Prove: _no_theorem("interactive systems", "interactive"),
        }

    def declined(self, question: type[Question]) -> Mapping[str, str]:
        """Returns what is for other cases alone."""
        if question is Verify:
            return {
                "budgets": "it is for cases with [mechanism]",
                "encoding": "it has no formula for Z3",
                "cluster": "it is decided here",
            }
        only = "it is for cases with [mechanism] and [privacy]"
        return {**dict.fromkeys((*_BOUNDS, "at", "plot"), only), **_NOT_OF_STREAMS}


class LogicSubject(Subject):
    """A chain or a decision process with formulas of dpCTL*."""

    name, title, place = "logic", "a chain with formulas", 40
    steps, of_claims = "formulas", True
    tables: ClassVar[Sequence[str]] = ("model", "states", "neighbours", "formulas")
    own_bounds = "formulas have their budgets inside: give formulas={name: text}"

    def reads(self, file: CaseFile) -> bool:
        """Tells it by its tables, by the ending of a PRISM file, or by formulas that are stated beside it."""
        if file.more is not None or file.path.suffix in (".prism", ".pm", ".nm"):
            return True
        tables = file.tables
        return "mechanism" not in tables and bool({"model", "states", "formulas"} & tables.keys())

    def read(self, file: CaseFile) -> LogicCase:
        """Reads the model and the formulas."""
        from paramverify.logic.logic_cases import LogicOptions, load

        return load(file.path, file.more or LogicOptions(settings=file.settings))

    def answers(self) -> Answers:
        """Returns the answers about formulas."""
        return {
            Verify: _later("formula_answers", "verify"),
            Budget: _later("formula_answers", "budget"),
            Explain: _later("formula_answers", "explain"),
            Show: NotAsked("its probabilities are those of the chain in the file"),
            Synthesize: NotAsked("it is about cases with [mechanism] or [claim]"),
            Sample: NotAsked("sampling is for cases with [mechanism]"),
            Prove: _no_theorem("chains with formulas", "logic"),
        }

    def declined(self, question: type[Question]) -> Mapping[str, str]:
        """Returns what is for other cases alone."""
        if question is Verify:
            return {
                **_NOT_OF_SYSTEMS,
                "budgets": "its formulas have budgets inside",
                "encoding": "it has its own formulas",
                "cluster": "it is decided here",
            }
        only = "it is for cases with [mechanism]"
        return {"cluster": "it is decided here", "at": only, "precision": only, **_NOT_OF_STREAMS}


class CompositionSubject(Subject):
    """Releases that are to be composed."""

    name, title, place = "composition", "a list of releases to be composed", 60

    def reads(self, file: CaseFile) -> bool:
        """Tells it by its table."""
        return "component" in file.tables and not {"mechanism", "claim"} & file.tables.keys()

    def read(self, file: CaseFile) -> Any:
        """Reads nothing: `compose` has a reader of its own."""
        raise InputError("these are releases to be composed: use `paramverify compose`", key="component")

    def answers(self) -> Answers:
        """Returns that `compose` has the answers."""
        why = NotAsked("these are releases to be composed: use `paramverify compose`")
        asked: tuple[type[Question], ...] = (Verify, Budget, Explain, Show, Synthesize, Sample, Hand)
        return {**dict.fromkeys(asked, why), Prove: _no_theorem("compositions", "compose")}


class Privacy(Subject):
    """A mechanism with a prior or with neighbours; a program is one, too. What nothing else reads is one."""

    name, title, place = "privacy", "a case with [mechanism]", 90
    tables: ClassVar[Sequence[str]] = (
        "prior",
        "mechanism",
        "secrets",
        "neighbours",
        "privacy",
        "quantify",
        "design",
        "define",
    )

    def reads(self, file: CaseFile) -> bool:
        """Takes whatever no other subject reads; its reader says what is missing."""
        return True

    def read(self, file: CaseFile) -> PrivacyCase:
        """Reads the case."""
        from paramverify.privacy.cases import load

        return load(file.path, settings=file.settings)

    def answers(self) -> Answers:
        """Returns the answers about privacy."""
        return {
            Verify: _later("case_answers", "verify"),
            Budget: _later("case_bounds", "budget"),
            Explain: _later("case_answers", "explain"),
            Show: _later("case_answers", "show"),
            Synthesize: _later("case_values", "synthesize"),
        }

    def declined(self, question: type[Question]) -> Mapping[str, str]:
        """Returns what is for streams and systems alone."""
        return {Budget: _NOT_OF_STREAMS, Verify: _NOT_OF_SYSTEMS}.get(question, {})


class Claims(Privacy):
    """An inequality about a parameter domain, without a mechanism."""

    name, title, place, of_claims = "claim", "a claim", 80, True
    tables: ClassVar[Sequence[str]] = ("define", "claim", "quantify", "design")
    own_bounds = 'a claim has no budget: give claim={"holds": "..."}'

    def reads(self, file: CaseFile) -> bool:
        """Tells it by its table."""
        tables = file.tables
        return "mechanism" not in tables and "claim" in tables

    def answers(self) -> Answers:
        """Returns those about cases, but for budgets and samples."""
        from paramverify.models.definitions import NO_BUDGET

        return {
            **super().answers(),
            Budget: NotAsked(NO_BUDGET),
            Sample: NotAsked("a claim has no mechanism to sample"),
        }


class WrittenAsCase(Privacy):
    """Files of a form of their own, each of which is written as the text of a case file.

    This is the easy base for a subject of another package: it has `name`, `title`, `place`, `reads` and
    `case`, and all questions are answered about the case. Evidence is about its text.
    """

    place: ClassVar[int] = Subject.place

    @abstractmethod
    def case(self, file: CaseFile) -> str:
        """Returns the text of the case file that says what a file says.

        Raises:
            InputError: a mistake in the file.
        """

    def as_case(self, file: CaseFile) -> CaseFile:
        """Returns the case, under the path of the file."""
        path = str(file.path)
        with located(file=path), file.as_file():
            text: object = self.case(file)
        told = owner(type(self).__module__)
        if not isinstance(text, str):
            kind = type(text).__name__
            raise InputError(f"{told}: case() must return the text of a case, not {kind}", file=path)
        try:
            content = text.encode()
            document_data(text)
        except UnicodeEncodeError as error:
            raise InputError(f"{told}: case() must return text that UTF-8 has: {error}", file=path) from None
        except CaseError as error:
            error.file = f"the case that it wrote for {path}"
            raise InputError(f"{told}: {error}", file=path) from None
        return replace(file, text=content, written=True)


def _bytes(file: CaseFile) -> bytes:
    """Returns the bytes of a file that its tables were read from."""
    with file.as_file():
        return read_file(Path(file.path), MAX_BYTES, "a case file")


BUILT_IN: tuple[Subject, ...] = (
    AutomatonSubject(),
    ScriptSubject(),
    InteractiveSubject(),
    LogicSubject(),
    StreamSubject(),
    CompositionSubject(),
    Claims(),
    Privacy(),
)
