"""Running a program on all its random choices at once, with the mechanisms that it calls, and its control
states.

A set of runs with the same values is one `ProgramState`. Statements turn states into states; after each one,
what nothing reads any more is forgotten, noise that is gone is summed or integrated out, and states that
cannot be told apart become one. n noisy queries against one threshold so cost n steps, and not 2^n.

Mechanisms that a program calls: what they give for arguments, and how likely, with their own fresh noise.

A call is a draw whose outcomes and weights depend on the arguments alone. A program that is called runs by
itself, on these arguments; nothing of its variables or its noise is left after it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import (
    DefectError,
    FinerError,
    InputError,
    ProgramError,
    SizeError,
    UnsupportedError,
    located,
)
from paramverify.models.context import Checks
from paramverify.models.programs.expression_values import Answers, Assigner, Evaluator
from paramverify.models.programs.noise_enclosures import FunctionBases, FunctionTable, Share, share_of
from paramverify.models.programs.noise_terms import (
    Coefficient,
    Terms,
    plus_terms,
    product_of_terms,
    terms_text,
)
from paramverify.models.programs.noisy_numbers import ProgramDrawing, Split
from paramverify.models.programs.output_cells import Row, check_sums, rows_of, with_noise, without_noise
from paramverify.models.programs.program_syntax import (
    Apply,
    Ask,
    Assign,
    Call,
    CalledProgram,
    CalledRow,
    Constant,
    For,
    If,
    Jump,
    Literal,
    Node,
    Output,
    Place,
    Program,
    Return,
    Statement,
    Variable,
    While,
)
from paramverify.models.programs.run_states import (
    UNIT_KEY,
    Agreeing,
    Input,
    Measure,
    Outputs,
    OutputsSoFar,
    Plain,
    ProgramState,
    Put,
    Told,
    Value,
    common,
    forgotten,
    linears,
    merged,
    settled,
    value_key,
    written,
)
from paramverify.models.programs.static_analysis import (
    NOTHING,
    WHOLE,
    After,
    Live,
    assigned_in,
    before,
    check_names,
    check_sharing,
    substituted,
)

V = TypeVar("V")


@contextmanager
def asked_at(program: Program, node: Ask) -> Iterator[None]:
    """Gives mistakes of a call their place: its own, or that in the program that is called."""
    try:
        yield
    except ProgramError as error:
        if error.text != program.text:
            error.retell(f"{error.reason}; {node.name} is called at line {node.place.line}")
        raise
    except FinerError:
        raise
    except InputError as error:
        raise ProgramError(error.reason, program.text, *node.place) from None


def named_arguments(callee: CalledProgram, node: Ask, given: tuple[V, ...]) -> dict[str, V]:
    """Returns the inputs of a program by their names.

    Raises:
        InputError: there are more or fewer.
    """
    if len(given) != len(callee.inputs):
        wanted = ", ".join(callee.inputs)
        count = f"{len(callee.inputs)} argument{'s' * (len(callee.inputs) != 1)}"
        raise InputError(f"{node.name} needs {count}: {node.name}({wanted})")
    return dict(zip(callee.inputs, given, strict=True))


def entries_of(name: str, given: tuple[V, ...], count: int) -> list[V]:
    """Returns the answers that arguments give to a mechanism of the library; a list stands for its entries.

    Raises:
        InputError: these are more or fewer.
    """
    entries = [e for value in given for e in (value if isinstance(value, tuple) else (value,))]
    if len(entries) != count:
        raise InputError(f"{name} takes {count} value{'s' * (count != 1)}, but gets {len(entries)}")
    return entries


def constant_of(name: str, entry: object) -> Constant:
    """Returns an answer that a mechanism of the library gets; True and False are 1 and 0.

    Raises:
        InputError: it is no number and no label.
    """
    if isinstance(entry, (bool, Fraction)):
        return Fraction(entry)
    if isinstance(entry, str):
        return entry
    what = "a list inside of a list" if isinstance(entry, tuple) else "an expression in parameters"
    raise InputError(f"{what} cannot be an argument of {name}, which takes numbers and labels")


def result_of(program: Program, name: str, outputs: Outputs) -> Plain:
    """Returns what a call gives where the program that is called tells this.

    A program with `output(...)` gives the list of all that it told; others give what they return.

    Raises:
        ProgramError: it returns nothing.
    """
    plain = tuple(map(_plain, outputs))
    if program.tells:
        return plain
    if not plain:
        reason = f"a run of {name} ends without a value; end it with return ..."
        raise ProgramError(reason, program.text, 1, 0)
    return plain[0]


def _plain(value: Put) -> Plain:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    assert isinstance(value, (Fraction, str, bool))  # runs with noise in an output are refused before
    return value


Finished = Mapping[Told, Terms]  # the weights of what runs have told at their end


@dataclass(frozen=True, eq=False)
class Asking:
    """Calls of mechanisms by one program; `run` runs a program that is called, with variables at its start.

    `known` is what was called before with the same arguments, here or by another program.
    """

    program: Program
    evaluator: Evaluator
    run: Callable[[Evaluator, Mapping[str, Value], dict[Hashable, Answers]], Finished]
    known: dict[Hashable, Answers] = field(default_factory=dict)

    def __call__(self, node: Ask, given: tuple[Value, ...]) -> Answers:
        """Returns what a mechanism gives for these arguments, with the weights.

        Raises:
            ProgramError: it does not take them, or does something itself that is not covered.
        """
        callee = self.program.calls[node.name]
        what = (callee.key, value_key(given))
        if what not in self.known:
            with asked_at(self.program, node):
                if isinstance(callee, CalledProgram):
                    self.known[what] = self._of_program(callee, node, given)
                else:
                    self.known[what] = _of_row(callee, given, self.evaluator.drawing)
        return self.known[what]

    def _of_program(self, callee: CalledProgram, node: Ask, given: tuple[Value, ...]) -> Answers:
        names = named_arguments(callee, node, given)
        program = callee.program
        drawing = replace(self.evaluator.drawing, text=program.text)
        evaluator = replace(self.evaluator, program=program, drawing=drawing)
        with located(key=callee.key, anchored=True):
            check_names(program, evaluator.parameters)
            check_sharing(program, names)
            finished = self.run(evaluator, names, self.known)
            total: Terms = {}
            for terms in finished.values():
                total = plus_terms(total, terms)
            if terms_text(total) != terms_text({UNIT_KEY: drawing.bases.calculus.one}):
                raise DefectError(f"the probabilities of the runs of {node.name} do not sum to 1")
            found: dict[Hashable, tuple[Value, Terms]] = {}
            for (produced, _), terms in finished.items():
                value = result_of(program, node.name, produced.outputs)
                before = found.get(value_key(value))
                found[value_key(value)] = value, plus_terms(before[1], terms) if before else terms
        return [(value, terms) for value, terms in found.values() if terms]


def _of_row(callee: CalledRow, given: tuple[Value, ...], drawing: ProgramDrawing) -> Answers:
    entries = entries_of(callee.name, given, callee.count)
    row = callee.row(tuple(constant_of(callee.name, entry) for entry in entries))
    ring = drawing.checks.ring
    return [(value, {UNIT_KEY: Coefficient.of(ring, share)}) for value, share in row if share.numerator]


MAX_STATES = 200_000  # states at one time
MAX_TURNS = 1_000  # turns of a while loop
MAX_CALLS = 100_000  # calls of functions
FRAME, RESULT = "#caller", "#result"


@dataclass
class Left:
    """The states that leave a block, by the way in which they do."""

    end: list[ProgramState] = field(default_factory=list)
    breaks: list[ProgramState] = field(default_factory=list)
    continues: list[ProgramState] = field(default_factory=list)
    returns: list[ProgramState] = field(default_factory=list)  # of a function, with the value as `#result`


@dataclass(eq=False)
class ProgramRun:
    """One run of a program, over all random choices, and over all inputs that are asked for."""

    program: Program
    evaluator: Evaluator
    inputs: Sequence[Input]
    finished: dict[Told, Terms] = field(default_factory=dict)
    answers: dict[Hashable, Answers] = field(default_factory=dict)  # of mechanisms that were called
    numeric: list[ProgramState] = field(default_factory=list)  # runs that ended with numbers that carry noise
    released_at: Place | None = None  # the last output of such a number
    in_function: int = 0
    calls: int = 0

    def start(self, values: Mapping[str, Value]) -> None:
        """Runs the program.

        Raises:
            ProgramError: it does something that is not covered, with the place.
        """
        asking = Asking(self.program, self.evaluator, _finished, self.answers)
        self.evaluator = replace(self.evaluator, inputs=tuple(values), ask=asking)
        bases = self.evaluator.drawing.bases
        one = Measure(bases, {UNIT_KEY: bases.calculus.one})
        told = OutputsSoFar(), Agreeing.every(self.inputs)
        try:
            left = self.block(self.program.body, [ProgramState(values, {told: one.unit}, one, {})], After())
        except RecursionError:
            reason = "the program, or an expression in parameters that it builds, is nested too deeply"
            raise self.error(reason, Place(1, 0)) from None
        for state in left.end:
            self.finish(state)
        for state in (*left.breaks, *left.continues):
            raise DefectError(f"a loop is left where there is none: {state.values}")

    def finish(self, state: ProgramState) -> None:
        """Adds runs that have ended to the probability of their output."""
        state = settled(replace(state, values={}), NOTHING)
        if state.measure.is_empty:
            return
        if state.released:
            self.numeric.append(state)
            return
        for told, weight in state.runs.items():
            total = product_of_terms(weight, state.measure.scalar)
            self.finished[told] = plus_terms(self.finished[told], total) if told in self.finished else total

    def found(self) -> list[list[tuple[Outputs, RationalFunction]]]:
        """Returns for each input each output with its probability; equal functions are one object.

        Raises:
            FinerError: a power of eps stands beside exp(-eps), and the ring has no variable for it.
        """
        functions: dict[int, RationalFunction] = {}
        equal: dict[str, RationalFunction] = {}

        def function(terms: Terms) -> RationalFunction:
            if id(terms) not in functions:
                value = self.evaluator.drawing.bases.function(terms)
                functions[id(terms)] = equal.setdefault(str(value), value)
            return functions[id(terms)]

        return [[(outputs, function(terms)) for outputs, terms in row if terms] for row in self.rows()]

    def rows(self) -> list[Row]:
        """Returns for each input each output with its weight."""
        one = Measure(self.evaluator.drawing.bases, {})
        try:
            return rows_of([*without_noise(self.finished, one), *with_noise(self.numeric)], len(self.inputs))
        except UnsupportedError as error:
            raise self.error(error.reason, self.released_at or Place(1, 0)) from None

    def block(self, statements: Sequence[Statement], states: list[ProgramState], after: After) -> Left:
        """Runs a block; what is read after it is known, so that the rest can be forgotten."""
        live = before(statements, after)
        left = Left()
        for k, statement in enumerate(statements):
            if not states:
                break
            rest = replace(after, end=live[k + 1])
            try:
                found = self.statement(statement, states, rest)
                states = self.merged(found.end, live[k + 1])
            except UnsupportedError as error:
                raise self.error(error.reason, statement.place) from None
            left.breaks += found.breaks
            left.continues += found.continues
            left.returns += found.returns
        left.end = states
        left.breaks = self.merged(left.breaks, after.on_break)
        left.continues = self.merged(left.continues, after.on_continue)
        return left

    def merged(self, states: list[ProgramState], live: Live) -> list[ProgramState]:
        """Returns the states in canonical form, with equal ones as one."""
        found = merged([settled(s, live) for s in states])
        if sum(len(s.runs) for s in found) > MAX_STATES:
            raise SizeError(
                f"the program has more than {MAX_STATES:,} states at one time; see whether "
                "variables can take fewer values"
            )
        return found

    def statement(self, statement: Statement, states: list[ProgramState], after: After) -> Left:
        """Runs one statement."""
        match statement:
            case Assign(_, (), Call() as call, _):
                return Left([r for s in states for r in self.called(statement, call, s, after)])
            case Assign():
                return Left([r for s in states for r in self.assigner.assigned(statement, s)])
            case Output(value, place):
                return Left([r for s in states for r in self.put(value, s, place)])
            case If(test, then, otherwise):
                splits = [self.tested(statement, test, s) for s in states]
                parts = (
                    (then, [s for yes, _ in splits for s in yes]),
                    (otherwise, [s for _, no in splits for s in no]),
                )
                return _together([self.block(body, inside, after) for body, inside in parts])
            case For():
                return self.loop(statement, states, after)
            case While():
                return self.turns(statement, states, after)
            case Jump("break", _):
                return Left(breaks=states)
            case Jump("continue", _):
                return Left(continues=states)
            case Jump():
                self.stop(states)
                return Left()
            case Return(value, place):
                return self.returned(value, states, place)

    def tested(self, statement: If | While, test: Node, state: ProgramState) -> Split:
        """Returns the runs in which the test of a statement is true, and those in which it is false."""
        return self.evaluator.test(test, state)

    def stop(self, states: list[ProgramState]) -> None:
        for state in states:
            self.finish(state)

    def returned(self, value: Node, states: list[ProgramState], place: Place) -> Left:
        if not self.in_function:
            for s in states:
                for ended in self.put(value, s, place):
                    self.finish(ended)
            return Left()
        found = [
            replace(after, values={**after.values, RESULT: result})
            for s in states
            for after, result in self.evaluator.values(value, s)
        ]
        return Left(returns=found)

    def error(self, reason: str, place: Place) -> ProgramError:
        """Returns an error that points at a place."""
        return self.evaluator.error(reason, place)

    @property
    def assigner(self) -> Assigner:
        """Assignments of this program."""
        return Assigner(self.evaluator)

    def put(self, value: Node, state: ProgramState, place: Place) -> list[ProgramState]:
        found = []
        for after, result in self.evaluator.values(value, state):
            for last, plain in self.evaluator.released(value, result, after):
                if len(last.released) > len(after.released):
                    self.released_at = place
                found.append(replace(last, runs=written(last.runs, plain)))
        return found

    def called(self, statement: Assign, call: Call, state: ProgramState, after: After) -> list[ProgramState]:
        """Runs a function; the caller's variables wait in one of its own, and come back with the result."""
        function = self.program.functions[call.name]
        self.calls += 1
        if self.calls > MAX_CALLS:
            raise SizeError(f"the program makes more than {MAX_CALLS:,} calls of functions")
        if len(call.arguments) != len(function.parameters):
            count = len(function.parameters)
            needed = f"{count} argument{'s' * (count != 1)}"
            raise self.error(
                f"{call.name} needs {needed}, as in its definition at line {function.place.line}", call.place
            )
        found = []
        for ready, given in self.evaluator.all(call.arguments, state):
            wanted = frozenset(c for c in after.end if c[0] not in statement.names) | {(FRAME, WHOLE)}
            kept = forgotten(ready.values, wanted)
            names = tuple(kept)
            frame = tuple(kept[n] for n in names)
            inside = replace(
                ready, values={**dict(zip(function.parameters, given, strict=True)), FRAME: frame}
            )
            self.in_function += 1
            alive = frozenset({(FRAME, WHOLE)})
            left = self.block(function.body, [inside], After(end=alive, on_return=alive))
            self.in_function -= 1
            if left.end:
                raise self.error(
                    f"some runs of {call.name} end without return; add return ... as its last line",
                    function.place,
                )
            for s in self.merged(left.returns, alive | {(RESULT, WHOLE)}):
                caller = s.values[FRAME]
                assert isinstance(caller, tuple)
                values = {
                    **dict(zip(names, caller, strict=True)),
                    **self.assigner.unpacked(statement, s.values[RESULT]),
                }
                found.append(replace(s, values=values))
        return found

    def loop(self, statement: For, states: list[ProgramState], after: After) -> Left:
        """Runs a for loop, its turns written out, for all states with the same values at once."""
        groups: dict[Hashable, tuple[tuple[Value, ...], list[ProgramState]]] = {}
        for s in states:
            for ready, value in self.evaluator.values(statement.values, s):
                if not isinstance(value, tuple):
                    reason = "a loop must run over a list or a range; write for k in range(n)"
                    raise self.error(reason, statement.values.place)
                plain = _is_plain(value)
                what = value_key(value) if plain else ("noisy", len(value), value_key(value))
                if not plain:
                    ready = replace(ready, values={**ready.values, self.temporary(statement): value})
                groups.setdefault(what, (value, []))[1].append(ready)
        return _together(
            [self.written_out(statement, value, inside, after) for value, inside in groups.values()]
        )

    def temporary(self, statement: For) -> str:
        return f"#{statement.place.line}:{statement.place.column}"

    def written_out(
        self, statement: For, values: tuple[Value, ...], states: list[ProgramState], after: After
    ) -> Left:
        plain = _is_plain(values)
        turns = [self.turn(statement, k, value if plain else None) for k, value in enumerate(values)]
        lives = [after.end]
        for turn in reversed(turns):
            inner = replace(after, end=lives[-1], on_break=after.end, on_continue=lives[-1])
            lives.append(before(turn, inner)[0])
        lives.reverse()
        left = Left()
        for k, turn in enumerate(turns):
            inner = replace(after, end=lives[k + 1], on_break=after.end, on_continue=lives[k + 1])
            found = self.block(turn, self.merged(states, lives[k]), inner)
            states = [*found.end, *found.continues]
            left.end += found.breaks
            left.returns += found.returns
            if not states:
                break
        left.end += states
        return left

    def turn(self, statement: For, k: int, value: Value | None) -> tuple[Statement, ...]:
        """Returns one turn of a loop as a block of its own; None is the k-th value of the loop's own list."""
        place = statement.place
        if isinstance(value, (Fraction, str, bool)):
            name = statement.names[0]
            literal = Literal(value, place)
            fixed = name not in assigned_in(statement.body)
            body = substituted(statement.body, {name: literal}) if fixed else statement.body
            return (Assign(statement.names, (), literal, place), *body)
        entry = Apply(
            "index", (Variable(self.temporary(statement), place), Literal(Fraction(k), place)), place
        )
        return (Assign(statement.names, (), entry, place), *statement.body)

    def turns(self, statement: While, states: list[ProgramState], after: After) -> Left:
        """Runs a while loop until no run is left in it."""
        live = before([statement], after)[0]
        left = Left()
        inner = replace(after, end=live, on_break=after.end, on_continue=live)
        for _ in range(MAX_TURNS):
            splits = [self.tested(statement, statement.test, s) for s in states]
            left.end += [s for _, no in splits for s in no]
            going = [s for yes, _ in splits for s in yes]
            if not going:
                return left
            found = self.block(statement.body, going, inner)
            states = self.merged([*found.end, *found.continues], live)
            left.end += found.breaks
            left.returns += found.returns
        reason = (
            f"some runs are still in this loop after {MAX_TURNS:,} turns, so it needs a bound: "
            "write for k in range(n), or one_sided_geometric(a), which counts trials until a "
            "success"
        )
        raise self.error(reason, statement.place)


def _finished(evaluator: Evaluator, names: Mapping[str, Value], answers: dict[Hashable, Answers]) -> Finished:
    """Runs a program that another one calls."""
    run = ProgramRun(evaluator.program, evaluator, ((),), answers=answers)
    run.start(names)
    if run.numeric:
        reason = (
            "a mechanism that is called must not output a noisy number; write clamp(value, lo, "
            "hi), or compare it"
        )
        raise run.error(reason, run.released_at or Place(1, 0))
    return run.finished


def _is_plain(values: Sequence[Value]) -> bool:
    return all(isinstance(v, (Fraction, str, bool)) for v in values)


def _together(parts: Sequence[Left]) -> Left:
    total = Left()
    for part in parts:
        total.end += part.end
        total.breaks += part.breaks
        total.continues += part.continues
        total.returns += part.returns
    return total


def outputs_of(
    program: Program, names: Mapping[str, Value], inputs: Sequence[Input], checks: Checks
) -> list[list[tuple[Outputs, RationalFunction]]]:
    """Returns for each input each output with its probability, exact.

    `names` are the variables at the start; `Unread(k)` in them is the k-th value of an input. What several
    inputs have in common runs once. On each input the probabilities sum to 1, identically in the parameters.

    Raises:
        FinerError: a probability has a power of eps beside exp(-eps), and the ring has no variable for it.
        ProgramError: the program does something that is not covered, with the place.
        SizeError: too many states, or pieces of one function.
    """
    evaluator = Evaluator.of(program, checks)
    check_names(program, evaluator.parameters)
    check_sharing(program, names)
    run = ProgramRun(program, evaluator, tuple(inputs))
    run.start(names)
    return check_sums(run.found(), checks.ring)


def enclosed_outputs_of(
    program: Program, names: Mapping[str, Value], inputs: Sequence[Input], checks: Checks
) -> tuple[list[list[tuple[Outputs, Share]]], FunctionTable]:
    """Returns for each input each output with its probability, as a number that `noise_enclosures` encloses.

    See `outputs_of`; the program draws noise without closed forms.
    """
    evaluator = Evaluator.of(program, checks)
    bases = evaluator.drawing.bases
    assert isinstance(bases, FunctionBases)
    check_names(program, evaluator.parameters)
    check_sharing(program, names)
    run = ProgramRun(program, evaluator, tuple(inputs))
    run.start(names)
    rows: list[dict[OutputsSoFar, Terms]] = [{} for _ in inputs]
    for (outputs, agreeing), terms in run.finished.items():
        for k in agreeing.members:
            rows[k][outputs] = plus_terms(rows[k][outputs], terms) if outputs in rows[k] else terms
    return [[(w.outputs, share_of(terms)) for w, terms in row.items() if terms] for row in rows], bases.table


@dataclass(frozen=True, order=True)
class Control:
    """A control state: the line that comes next, 0 at the end, and the variables that are still read there.

    `noisy` are those of them that depend on noise; `noise` is how many noises are alive. Inputs are left out,
    and so are the variables of loops, which are written out.
    """

    line: int
    live: tuple[str, ...] = ()
    noisy: tuple[str, ...] = ()
    noise: int = 0


@dataclass(frozen=True, order=True)
class ControlEdge:
    """A step that some run takes; `label` is the outcome of a test, the output, or nothing."""

    start: Control
    end: Control
    label: str


END = Control(0)


@dataclass(eq=False)
class _Watched(ProgramRun):
    """A run that keeps the steps between control states; the trace of a state is where it comes from."""

    shown: Callable[[Outputs], str] = str
    names: frozenset[str] = frozenset()  # of the inputs
    edges: dict[ControlEdge, None] = field(default_factory=dict)

    def merged(self, states: list[ProgramState], live: Live) -> list[ProgramState]:
        ready = [s for s in (settled(s, live) for s in states) if not s.measure.is_empty]
        traces: dict[Hashable, dict[object, None]] = {}
        for s in ready:
            traces.setdefault(common(s), {}).update(dict.fromkeys(s.trace))
        return [replace(s, trace=tuple(traces[common(s)])) for s in merged(ready)]

    def block(self, statements: Sequence[Statement], states: list[ProgramState], after: After) -> Left:
        return super().block(statements, self.merged(states, before(statements, after)[0]), after)

    def statement(self, statement: Statement, states: list[ProgramState], after: After) -> Left:
        turns = isinstance(statement, (For, While))  # each turn is a step of its own
        inside = isinstance(statement, If) and statement.part
        entered = states if turns or inside else [self._at(statement.place, s) for s in states]
        return super().statement(statement, entered, after)

    def _at(self, place: Place, state: ProgramState) -> ProgramState:
        known = {n: v for n, v in state.values.items() if n.isidentifier() and n not in self.names}
        noisy = tuple(sorted(name for name, value in known.items() if linears(value)))
        here = Control(place.line, tuple(sorted(known)), noisy, len(state.measure.whole))
        self._to(here, state)
        return replace(state, trace=((here, ""),))

    def _to(self, here: Control, state: ProgramState) -> None:
        for entry in state.trace:
            assert isinstance(entry, tuple)
            start, label = entry
            self.edges[ControlEdge(start, here, label)] = None

    def tested(self, statement: If | While, test: Node, state: ProgramState) -> Split:
        if isinstance(statement, While):
            if isinstance(test, Literal):
                return super().tested(statement, test, state)  # `while True` is no step
            state = self._at(statement.place, state)
        yes, no = super().tested(statement, test, state)
        if isinstance(statement, If) and statement.part:
            return yes, no  # the statement around it has the outcome
        return [_labelled(s, "true") for s in yes], [_labelled(s, "false") for s in no]

    def put(self, value: Node, state: ProgramState, place: Place) -> list[ProgramState]:
        found = super().put(value, state, place)
        return [_labelled(s, f"output {self.shown(s.outputs[-1:])}") for s in found]

    def finish(self, state: ProgramState) -> None:
        self._to(END, state)


def _labelled(state: ProgramState, label: str) -> ProgramState:
    return replace(state, trace=tuple((entry[0], label) for entry in state.trace if isinstance(entry, tuple)))


def control_graph(
    program: Program,
    names: Mapping[str, Value],
    inputs: Sequence[Input],
    shown: Callable[[Outputs], str],
    *,
    checks: Checks,
) -> list[ControlEdge]:
    """Returns the steps between control states that runs on these inputs take; see `outputs_of`."""
    evaluator = Evaluator.of(program, checks)
    run = _Watched(program, evaluator, tuple(inputs), shown=shown, names=frozenset(names))
    run.start(names)
    return sorted(run.edges)
