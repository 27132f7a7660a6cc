"""Random small problems of every subject: files, and the commands that are asked about them.

`random_case(seed)` is one problem. Its numbers, names and shapes are drawn; the forms are those of the
shipped cases, in small. About one in ten has a mistake: a key, a value, a word or a table that is changed or
missing.
Seeds mean the same problems as long as this module and the generators in `tests/tools` stay as they are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from mutated_cases import misspelt, mutated
from noisy_programs import noisy_program
from random_texts import CLAIMS, DATABASES, PROGRAMS, RANGED, SCRIPTS, STREAMS, WINDOWED
from stream_programs import random_finite, random_laplace

MISTAKES = 0.1
CHECKED = 0.25  # of those with evidence
EVIDENCE = "evidence.json"
CHANCES = ("1/4", "1/3", "1/2", "2/3", "3/4", "0.3", "1/5")
RATIOS = ("1", "1.5", "2", "3", "4", "6", "9")
EPSILONS = ("ln(2)", "ln(3)", "1/2", "1", "2*ln(2)", "1.3")
DOMAINS = ("(0, 1)", "[1/10, 9/10]", "(0, 1/2]", "[1/3, 2/3]", "1/4")
TRUTHS = ("[1/2, 1)", "[1/2, 3/4]", "3/4", "2/3", "(1/2, 9/10)")
CASE = "case.toml"
SOLVED = ("--strategy", "built-in")  # races between solvers would end in another way each time


@dataclass(frozen=True)
class Asked:
    """A problem: its subject, its files, and the commands that are asked."""

    subject: str
    files: dict[str, str]
    calls: list[list[str]]
    mistake: str = ""
    ample: bool = False  # whether what other ranges of inputs say is asked for


@dataclass
class Writer:
    """Draws the parts of a case."""

    rng: Random
    parameters: dict[str, str] = field(default_factory=dict)

    def of(self, *choices: str) -> str:
        """Returns one of several texts."""
        return self.rng.choice(choices)

    def given(self, name: str, domains: tuple[str, ...] = DOMAINS, chance: float = 0.5) -> str:
        """Returns a new parameter, or a number instead of it."""
        if self.rng.random() > chance or len(self.parameters) > 1:
            return self.of(*CHANCES) if domains is DOMAINS else self.of("3/4", "2/3", "4/5")
        self.parameters[name] = self.of(*domains)
        return name

    def table(self, *body: str) -> str:
        """Returns the text of a case with its parameters in front."""
        listed = "".join(f'{name} = "{domain}"\n' for name, domain in self.parameters.items())
        return (f"[parameters]\n{listed}" if listed else "") + "\n".join(body) + "\n"

    def noise(self, most: int) -> str:
        """Returns noise on 0..most."""
        if self.rng.random() < 0.15 and most < 4:
            rows = [self.row(most + 1) for _ in range(most + 1)]
            return f"{{ table = [{', '.join(rows)}] }}"
        alpha = self.of("1/2", "1/3", "1/4", self.given("a", ("(0, 1)", "[1/4, 3/4]")))
        return f'{{ truncated_geometric = "{alpha}", range = {most} }}'

    def row(self, size: int) -> str:
        """Returns a row of probabilities."""
        shares = [self.rng.randint(0 if self.rng.random() < 0.1 else 1, 5) for _ in range(size)]
        return "[" + ", ".join(f'"{share}/{sum(shares) or 1}"' for share in shares) + "]"

    def privacy(self, measure: str = "", more: str = "") -> str:
        """Returns the table [privacy]."""
        measure = measure or self.of("epsilon", "epsilon", "ratio", "ratio", "delta")
        small = self.of("1/10", "1/6", "1/4", "1/2", "0.07", "3/5", "0")
        bound = {
            "epsilon": f'epsilon = "{self.of(*EPSILONS)}"',
            "ratio": f'ratio = "{self.of(*RATIOS, *self.bounds())}"',
            "delta": f'epsilon = "{self.of(*EPSILONS)}"\ndelta = "{small}"',
            "total_variation": f'total_variation = "{small}"',
            "chi_squared": f'chi_squared = "{self.of("1/4", "1/2", "1", "2", "0.1")}"',
            "kl": f'kl = "{self.of("6/25", "1/2", "1/10", "1")}"',
            "zcdp": f'zcdp = "{self.of("1/4", "1/5", "1", "1/10", "0.6")}"',
            "renyi": f'renyi = {{ order = {self.of("2", "3", "4")}, {self.of("epsilon", "ratio")} = "2" }}',
        }[measure]
        return f"[privacy]\n{bound}{more}"

    def bounds(self) -> list[str]:
        """Returns ratios in the parameters that there are."""
        found = {"t": "t/(1 - t)", "a": "1/a", "p": "2 + p"}
        return [found[name] for name in self.parameters if name in found]

    def prior(self) -> tuple[str, str, int]:
        """Returns a prior with secrets, a query about it, and the largest answer."""
        way = self.rng.randrange(5)
        p, q = self.given("p"), self.given("q")
        if way == 0:
            secrets = self.of("n >= 1,true", "n == 2,n == 0", "n >= 1,n == 0").split(",")
            return self.secret(f'n = {{ binomial = [2, "{p}"] }}', *secrets), "n", 2
        john = f'john = {{ bernoulli = "{p}" }}\n'
        kin = f'kin = {{ bernoulli = "{q}" }}'
        if way < 3:
            below = self.of('{ 0 = "1" }', '{ 0 = "3/4", 1 = "1/4" }', f'{{ 0 = "1 - {p}", 1 = "{p}" }}')
            above = self.of('{ 1 = "1" }', '{ 0 = "1/4", 1 = "3/4" }')
            kin = f'kin = {{ given = "john", table = {{ 0 = {below}, 1 = {above} }} }}'
        both = way == 4 and self.rng.random() < 0.5
        secrets = ["john + kin >= 1", "john + kin == 0"] if both else ["john == 1", "john == 0"]
        query, most = self.rng.choice([("john + kin", 2), ("max(john, kin)", 1), ("john", 1)])
        return self.secret(john + kin, *secrets), query, most

    def secret(self, prior: str, left: str, right: str) -> str:
        """Returns the tables of a prior and of a pair of secrets."""
        return f'[prior]\n{prior}\n[secrets]\none = "{left}"\nother = "{right}"\npairs = [["one", "other"]]'

    def mechanism(self, query: str, most: int) -> str:
        """Returns a mechanism about a query."""
        way = self.rng.randrange(5 if most == 1 else 3)
        told = f'\nquery = "{query}"' if query else ""
        if way == 0 and most == 2 and query:
            rows = ", ".join(f'{k} = {{ yes = "{k + 1}/4", no = "{3 - k}/4" }}' for k in range(3))
            return f'[mechanism]\nkind = "release"{told}\ntable = {{ {rows} }}'
        if way < 3:
            words = ", ".join(f'{k} = "told {k}"' for k in range(most + 1))
            labels = f"\nlabels = {{ {words} }}" if self.rng.random() < 0.15 else ""
            return f'[mechanism]\nkind = "geometric"{told}\nnoise = {self.noise(most)}{labels}'
        truth = self.given("t", TRUTHS)
        memory = "\nmemory = true" if self.rng.random() < 0.2 else ""
        word = self.of("truth", "truth", "coin")
        return f'[mechanism]\nkind = "randomized_response"{told}\nvalues = [0, 1]\n{word} = "{truth}"{memory}'

    def neighbours(self) -> str:
        """Returns which inputs are neighbours."""
        by = self.of("", "", "\nby = 1", '\nby = "any"')
        return f'[neighbours]\ndiffer = "{self.of("each", "one")}"{by}'

    def base(self) -> list[str]:
        """Returns the tables of a case without [privacy]."""
        way = self.rng.randrange(4)
        if way == 0:
            prior, query, most = self.prior()
            return [prior, self.mechanism(query, most)]
        if way == 1:
            return [self.mechanism("", self.rng.choice([1, 2, 3])), self.neighbours()]
        if way == 2:
            return [self.noisy_max(2), '[neighbours]\ndiffer = "each"']
        return self.program(PROGRAMS)

    def program(self, programs: tuple[tuple[str, str, str], ...]) -> list[str]:
        """Returns the tables of a program."""
        inputs, source, domain = self.rng.choice(programs)
        noise = {"RATE": self.of("1/2", "1/3", "1/4"), "SCALE": self.of("1", "2", "1/2", "4/3")}
        for word, number in noise.items():
            source = source.replace(word, number)
        name = domain.partition(" = ")[0]
        if name:
            asked = domain.partition(" = ")[2]
            self.parameters[name] = self.of(asked, asked, "1/2")
        source = source.replace("COIN", self.of(*CHANCES))
        text = f'[mechanism]\nkind = "program"\nsource = """\n{source}\n"""\n[mechanism.inputs]\n{inputs}'
        return [text, self.neighbours()]

    def noisy_max(self, queries: int) -> str:
        """Returns noisy max."""
        ties = self.of("uniform", "first")
        noise = f'{{ truncated_geometric = "{self.of("1/2", "1/3")}", range = 2 }}'
        return f'[mechanism]\nkind = "noisy_max"\nqueries = {queries}\nnoise = {noise}\nties = "{ties}"'


# --- subjects -----------------------------------------------------------------------------------------


def questions(writer: Writer, *more: list[str], listed: bool = True) -> list[list[str]]:
    """Returns commands about a case of privacy: always verify, and two others that mean something for it."""
    others = [["budget", CASE, *SOLVED], ["explain", CASE], *more]
    others += [["show", CASE, "--limit", "20"]] if listed else []
    if listed and any("," in domain for domain in writer.parameters.values()):
        others += [["synthesize", CASE, *form, *SOLVED] for form in ([], ["--witness"])]
    return [["verify", CASE, *SOLVED], *writer.rng.sample(others, 2)]


def priors(rng: Random) -> Asked:
    """Secrets with a prior."""
    writer = Writer(rng)
    prior, query, most = writer.prior()
    body = [prior, writer.mechanism(query, most), writer.privacy(more=writer.of("", "", '\nlength = "1..2"'))]
    return Asked("priors", {CASE: writer.table(*body)}, questions(writer))


def neighbours(rng: Random) -> Asked:
    """Neighbours, for a mechanism of a table or a kind."""
    writer = Writer(rng)
    most = rng.choice([1, 2, 3])
    mechanism = writer.noisy_max(rng.choice([2, 3])) if rng.random() < 0.3 else writer.mechanism("", most)
    return Asked(
        "neighbours",
        {CASE: writer.table(mechanism, writer.neighbours(), writer.privacy())},
        questions(writer),
    )


def programs(rng: Random) -> Asked:
    """Programs with exact probabilities."""
    writer = Writer(rng)
    if rng.random() < 0.4:
        source = noisy_program(rng.randrange(10**6), rng.random() < 0.7).text
        inputs = 'q = { length = 2, values = "0..1" }'
        text = f'[mechanism]\nkind = "program"\nsource = """\n{source}\n"""\n[mechanism.inputs]\n{inputs}'
        return Asked(
            "programs", {CASE: writer.table(text, writer.neighbours(), writer.privacy())}, questions(writer)
        )
    body = writer.program(PROGRAMS)
    return Asked("programs", {CASE: writer.table(*body, writer.privacy())}, questions(writer))


def ranges(rng: Random) -> Asked:
    """Private programs, for larger and smaller ranges of whole numbers than the case has."""
    writer = Writer(rng)
    source = rng.choice(RANGED).replace("RATE", writer.of("1/2", "1/3", "a", "a"))
    if "(a)" in source:
        writer.parameters["a"] = writer.of("[1/4, 1/2]", "[1/2, 3/4]")
    ends = writer.of("-1..1", "0..2", "0..3", "1..2", "-2..0")
    length = "length = 2, " if "q" in source else ""
    inputs = f'{"q" if length else "n"} = {{ {length}values = "{ends}" }}'
    text = f'[mechanism]\nkind = "program"\nsource = """\n{source}\n"""\n[mechanism.inputs]\n{inputs}'
    bound = writer.of('ratio = "4"', 'ratio = "16"', 'ratio = "2"', 'epsilon = "2"', 'epsilon = "ln(9)"')
    delta = writer.of("", "", '\ndelta = "1/4"')
    calls = [["verify", CASE, *SOLVED]] + ([] if delta else [["budget", CASE, *SOLVED]])
    case = writer.table(text, writer.neighbours(), f"[privacy]\n{bound}{delta}")
    return Asked("ranges", {CASE: case}, calls, ample=True)


def gaussian(rng: Random) -> Asked:
    """Programs with Gaussian noise, whose probabilities are enclosed."""
    writer = Writer(rng)
    noisy = tuple(
        (inputs, source.replace("geometric(RATE)", "gauss(SCALE)").replace("laplace", "gauss"), "")
        for inputs, source, _ in PROGRAMS
        if source.startswith(("T = ", "best = "))
    )
    whole = ('n = { values = "0..2" }', "z = n + discrete_gaussian(SCALE)\nreturn clamp(z, 0, 2)", "")
    body = writer.program((*noisy, whole))
    calls = [["verify", CASE], ["explain", CASE]]
    ways = (["--delta-for", writer.of("1", "1/2")], ["--epsilon-for", writer.of("1/100", "1/10")])
    calls.append(["budget", CASE, *rng.choice(ways), "--precision", "1e-3"])
    return Asked("gaussian noise", {CASE: writer.table(*body, writer.privacy("delta"))}, calls)


def sets(rng: Random) -> Asked:
    """Sets of outputs: epsilon with delta."""
    writer = Writer(rng)
    text = writer.table(*writer.base(), writer.privacy("delta"))
    ways = (
        ["--delta-for", writer.of(*EPSILONS)],
        ["--epsilon-for", writer.of("1/10", "1/6")],
        ["--curve"],
    )
    return Asked("sets", {CASE: text}, questions(writer, *(["budget", CASE, *way, *SOLVED] for way in ways)))


def divergences(rng: Random) -> Asked:
    """Divergences of all outputs together."""
    writer = Writer(rng)
    measure = rng.choice(["total_variation", "chi_squared", "kl", "zcdp", "renyi"])
    body = [*writer.base(), writer.privacy(measure)]
    calls = [["verify", CASE], ["budget", CASE, "--precision", "1e-4"], ["explain", CASE]]
    calls += [["synthesize", CASE]] if rng.random() < 0.2 else []
    return Asked(f"divergences: {measure}", {CASE: writer.table(*body)}, calls)


def metric(rng: Random) -> Asked:
    """Bounds that grow with the distance of the inputs."""
    writer = Writer(rng)
    distance = '[neighbours]\ndistance = "abs(x - y)"'
    if rng.random() < 0.5:
        alpha = writer.of("1/2", "1/3", writer.given("a", ("(0, 1)",)))
        noise = f'{{ truncated_geometric = "{alpha}", range = {rng.choice([1, 2, 3])} }}'
        mechanism = f'[mechanism]\nkind = "geometric"\nnoise = {noise}'
        bound = writer.of(
            'epsilon = "ln(2) * distance"', 'ratio = "(5/2)**distance"', 'ratio = "3**distance"'
        )
        bound = 'ratio = "(1/a)**distance"' if alpha == "a" else bound
    else:
        writer.parameters["eps"] = writer.of("(0, oo)", "1/2")
        step, far = writer.of("sum(abs(x[i] - y[i])),2", "count(x[i] != y[i]),1").split(",")
        source = f"for x in q:\n    output(clamp(x + geometric(exp(-eps)), 0, {far}))"
        inputs = f'q = {{ length = 2, values = "0..{far}" }}'
        mechanism = (
            f'[mechanism]\nkind = "program"\nsource = """\n{source}\n"""\n[mechanism.inputs]\n{inputs}'
        )
        distance = f'[neighbours]\ndistance = "{step}"'
        bound = writer.of('epsilon = "eps * distance"', 'epsilon = "eps * distance / 2"')
    text = writer.table(mechanism, distance, f"[privacy]\n{bound}")
    return Asked("metric privacy", {CASE: text}, questions(writer))


def lengths(rng: Random) -> Asked:
    """Sequences of several lengths, and of every one."""
    writer = Writer(rng)
    length = f"\nlength = {writer.of(chr(34) + 'all' + chr(34), '2', chr(34) + '1..3' + chr(34))}"
    way = rng.randrange(3)
    if way == 0:
        prior, query, _ = writer.prior()
        body = [prior, writer.mechanism(query, 2), writer.privacy(writer.of("ratio", "epsilon"), length)]
    elif way == 1:
        writer.parameters["p"] = writer.of("[3/10, 1/2]", "[1/4, 1/2]", "2/5")
        day = writer.of("", "day = 2\n")
        steps = "".join(
            f'[mechanism.transitions.{s}]\n{s} = "1 - p"\n{o} = "p"\n'
            for s, o in (("ill", "well"), ("well", "ill"))
        )
        body = [
            '[mechanism]\nkind = "time_series"\nstates = ["ill", "well"]',
            f'truth = "{writer.of("3/4", "2/3")}"',
            f'{day}initial = {{ ill = "1/2", well = "1/2" }}\n{steps}[neighbours]\ndiffer = "one"',
            f'[privacy]\nratio = "{writer.of("3", "6", "9")}"{length}',
        ]
    else:
        noises = (f'{{ truncated_geometric = "{writer.of("1/2", "1/4")}", range = 1 }}' for _ in range(2))
        body = [
            '[mechanism]\nkind = "above_threshold"\nthreshold = 1',
            "threshold_noise = {}\nquery_noise = {}".format(*noises),
            '[neighbours]\ndiffer = "each"',
            writer.privacy("epsilon", length),
        ]
    return Asked("lengths", {CASE: writer.table(*body)}, questions(writer))


def windows(rng: Random) -> Asked:
    """Rows of people who infect each other, where a proof looks at windows."""
    writer = Writer(rng)
    text = WINDOWED.replace("COUNT", writer.of("5", "7", "12")).replace("BOUND", writer.of("4", "5", "2"))
    ends = {"STAY": writer.of("9/10", "4/5"), "PAIR": writer.of("i", "1", "2")}
    for word, end in ends.items():
        text = text.replace(word, end)
    return Asked("windows", {CASE: text}, [["verify", CASE, *SOLVED], ["explain", CASE]])


def claims(rng: Random) -> Asked:
    """Inequalities."""
    writer = Writer(rng)
    if rng.random() < 0.5:
        text = rng.choice(CLAIMS)
    else:
        terms = [f"{rng.randint(-3, 4)}*x**{rng.randint(0, 3)}*y**{rng.randint(0, 2)}" for _ in range(3)]
        word, bound = writer.of(">=", ">", "<="), writer.of("0", "1/4", "-1", "-3")
        domain = writer.of("[0, 1]", "(0, 1)", "[-1, 1]", "[1/2, 2]")
        within = writer.of("", 'constraints = ["x + y <= 1"]\n', 'constraints = ["x**2 + y**2 <= 1"]\n')
        claim = f'[claim]\nholds = "{" + ".join(terms)} {word} {bound}"\n'
        text = f'[parameters]\nx = "{domain}"\ny = "[0, 1]"\n{within}{claim}'
    calls = [["verify", CASE, *SOLVED], ["explain", CASE]]
    calls += [rng.choice([["synthesize", CASE, "--witness", *SOLVED], ["export", CASE, "--to", "smtlib2"]])]
    return Asked("claims", {CASE: text}, calls)


def interactive(rng: Random) -> Asked:
    """Interactive systems."""
    writer = Writer(rng)
    text = rng.choice(DATABASES).replace("NOISE", writer.of("1/2", "1/3"))
    text = text.replace("BOUND", writer.of("ln(2)", "2*ln(2)", "4*ln(2)", "ln(9)"))
    text = text.replace("SLOTS", writer.of("0", "1", "1", "2")).replace("FIRST", writer.of(*DOMAINS))
    text = text.replace("RATIO", writer.of("1/(1-p)", "2", "3"))
    calls = [["interactive", CASE, *SOLVED], rng.choice([["budget", CASE, *SOLVED], ["explain", CASE]])]
    return Asked("interactive", {CASE: text}, calls)


def formulas(rng: Random) -> Asked:
    """Formulas of dpCTL* about chains and decision processes."""
    writer = Writer(rng)
    coin = writer.given("c", ("(0, 1)", "[1/4, 3/4]"), 0.3)
    mdp = rng.random() < 0.4

    def step(high: str, low: str) -> str:
        return f'{{ yes = "{high}", no = "{low}" }}'

    def steps(left: bool) -> str:
        rows = [(f"(1 + {coin})/2", f"(1 - {coin})/2"), ("4/5", "1/5")]
        rows = rows if left else [(low, high) for high, low in rows]
        return f"{{ L = {step(*rows[0])}, H = {step(*rows[1])} }}" if mdp else step(*rows[0])

    share = writer.of("", "1/2", "1/3")
    if share:
        on = f'{{ yes = "{share}", no = "1 - {share}" }}'
        again = f", to = {{ L = {on}, H = {on} }}" if mdp else f", to = {on}"
    else:
        again = ""
    paths = ("X out1", "F out1", "true U[0, 2] out0", "G out1", "X X out1", "! X out0", "F[0, 3] out0")
    bounds = [
        f"D{{{writer.of(*EPSILONS)}, {writer.of('0', '1/10', '1/2')}}}[ {writer.of(*paths)} ]" for _ in "ab"
    ]
    budget = rng.random() < 0.5
    joined = (" & " if budget else writer.of(" & ", " | ")).join(bounds)
    other = writer.of(
        f"P >= 1/4 [ {writer.of(*paths)} ]", bounds[0], f"!({bounds[1]})", f"D{{0, 0}}[ F({bounds[0]}) ]"
    )
    body = [
        f'[model]\nkind = "{"mdp" if mdp else "chain"}"\ninitial = ["plus", "minus"]\n[states]',
        f"plus = {{ to = {steps(True)} }}\nminus = {{ to = {steps(False)} }}",
        f'yes = {{ labels = ["out1"]{again} }}\nno = {{ labels = ["out0"] }}',
        '[neighbours]\npairs = [["plus", "minus"]]',
        f'[formulas]\none = "{joined}"\nother = "{bounds[0] if budget else other}"',
    ]
    ways = (["--delta-for", "ln(2)"], ["--epsilon-for", "1/10"])
    more = ["logic", CASE, *rng.choice(ways)] if budget else ["explain", CASE]
    calls = [["logic", CASE, *SOLVED], more]
    return Asked("decision processes" if mdp else "chains", {CASE: writer.table(*body)}, calls)


def automata(rng: Random) -> Asked:
    """Automata over streams."""
    writer = Writer(rng)
    rate, other = writer.of("1/2", "1/4", "1"), writer.of("1/4", "1/2", "1/8")
    after = writer.of("goto q3", "goto q2", "t := insample; output x; goto q2", "goto q1")
    ends = writer.of("insample'", "oabove", "oabove", "insample")
    second = writer.of(", 1/2, 0", ", 1/4, 1") if ends == "insample'" else ""
    after = after if after.startswith("goto") else "goto q2"
    test = writer.of("if (insample < t) then {} elseif (insample >= t) then {}")
    step = test.format("output obelow; goto q2", f"output {ends}; {after}")
    noise = writer.of("", "", "noise geometric\n")
    start = f"(q1:non-input, {rate}, {writer.of('0', '0', '1')}): t := insample; output ostart; goto q2\n"
    text = f"{noise}{start}(q2, {other}, {writer.of('0', '0', '-1')}{second}): {step}\n"
    name = "stream.dipa"
    calls = [
        ["verify", name],
        ["budget", name, *rng.choice([[], ["--length", "1..2"]])],
        ["show", name, "--graph"],
    ]
    calls.append(["verify", name, "--budgets", writer.of("1", "1/2", "2")])
    if rng.random() < 0.3:
        case = '[parameters]\neps = "(0, oo)"\n[automaton]\nfile = "stream.dipa"\n'
        case += '[neighbours]\ndiffer = "each"\n'
        case += f'[privacy]\nepsilon = "{writer.of("eps", "2*eps", "eps/2")}"\nlength = "all"\n'
        files = {name: text, CASE: case}
        return Asked("automata", files, [["verify", CASE], ["budget", CASE], ["explain", CASE]])
    return Asked("automata", {name: text}, calls)


def streams(rng: Random) -> Asked:
    """Programs over streams."""
    writer = Writer(rng)
    way = rng.randrange(3)
    source = (random_laplace, random_finite, lambda rng: rng.choice(STREAMS))[way](rng)
    if "eps" in source:
        writer.parameters["eps"] = "(0, oo)"
    bound = f'epsilon = "{writer.of("eps", "2*eps", "eps/2", "4*eps")}"' if "eps" in source else 'ratio = "4"'
    text = f'[mechanism]\nkind = "program"\nsource = """\n{source}\n"""'
    neighbours = f'[neighbours]\ndiffer = "{writer.of("each", "one")}"'
    length = '"all"' if "laplace" in source else writer.of('"all"', "2")
    case = writer.table(text, neighbours, f"[privacy]\n{bound}\nlength = {length}")
    return Asked("streams", {CASE: case}, [["verify", CASE], ["budget", CASE], ["explain", CASE]])


def scripts(rng: Random) -> Asked:
    """SMT-LIB scripts."""
    text = rng.choice(SCRIPTS)
    for word in ("A", "B", "C"):
        text = text.replace(f"@{word}", str(rng.randint(0, 4)))
    text = text.replace("@R", rng.choice(["<", "<=", ">", ">=", "="]))
    return Asked("scripts", {"script.smt2": text}, [["verify", "script.smt2", *SOLVED]])


def compositions(rng: Random) -> Asked:
    """Many releases."""
    writer = Writer(rng)
    kinds = (
        f"randomized_response:truth={writer.of('3/4', '2/3')},times={rng.randint(1, 5)}",
        f"laplace:scale={writer.of('2', '5', '20')},times={rng.randint(1, 3)}",
        f"gaussian:sigma={writer.of('2', '3', '10')},times={rng.randint(1, 4)}",
        f"discrete_laplace:alpha={writer.of('1/2', '2/3')}",
        f"randomized_response:epsilon=1,subsample={writer.of('1/2', '1/10')}",
    )
    parts = rng.sample(kinds, rng.choice([1, 1, 2]))
    files: dict[str, str] = {}
    if rng.random() < 0.3:
        mechanism = writer.mechanism("", 1)
        files[CASE] = writer.table(mechanism, '[neighbours]\ndiffer = "each"', writer.privacy("ratio"))
        parts.append(":".join([CASE, *(f"{name}=3/5" for name in writer.parameters), "2"][:2]))
    elif rng.random() < 0.3:
        kind, _, values = parts.pop(0).partition(":")
        lines = (
            f"{k} = {v if k == 'times' else chr(34) + v + chr(34)}"
            for k, v in (w.split("=") for w in values.split(","))
        )
        files["releases.toml"] = "\n".join([f'[[component]]\nkind = "{kind}"', *lines]) + "\n"
        parts.append("releases.toml")
    way = rng.choice((["--delta-for", "1"], ["--delta-for", "ln(3)"], ["--epsilon-for", "1e-2"], ["--curve"]))
    return Asked("compositions", files, [["compose", *parts, *way, "--precision", "1e-2"]])


SUBJECTS: tuple[Callable[[Random], Asked], ...] = (
    *(priors, priors, neighbours, programs, programs, sets, sets, divergences, divergences, divergences),
    *(metric, lengths, lengths, claims, claims, interactive, formulas, formulas, automata, streams),
    *(streams, scripts, compositions, gaussian, windows, ranges, ranges),
)


def random_case(seed: int) -> Asked:
    """Returns the problem of a seed."""
    rng = Random(seed)
    asked = SUBJECTS[seed % len(SUBJECTS)](rng)
    if asked.calls[0][0] in ("verify", "interactive", "logic") and rng.random() < CHECKED:
        first, *others = asked.calls
        check = ["check", EVIDENCE, "--case", first[1]]
        asked = replace(asked, calls=[[*first, "--evidence", EVIDENCE], check, *others])
    return mistaken(asked, rng) if asked.files and rng.random() < MISTAKES else asked


def mistaken(asked: Asked, rng: Random) -> Asked:
    """Returns a problem with a mistake in one of its files."""
    name = rng.choice(sorted(asked.files))
    text = asked.files[name]
    kind = rng.choice(("data", "data", "word", "line", "twice"))
    if kind == "data" and Path(name).suffix == ".toml":
        changed = mutated(tomllib.loads(text), rng).text()
    else:
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        words = re.findall(r"\w+", lines[at])
        if kind == "line" or not words:
            del lines[at]
        elif kind == "twice":
            lines.insert(at, lines[at])
        else:
            word = rng.choice(words)
            lines[at] = lines[at].replace(word, misspelt(word, rng), 1)
        changed = "\n".join(lines)
    return replace(asked, files={**asked.files, name: changed}, mistake=kind)
