"""Hard cases from random 3-SAT formulas: private for one length iff the formula is unsatisfiable.

Deciding Pufferfish privacy of a hidden Markov model for sequences of one length is NP-hard ([F], by a
reduction from SAT). The reduction here is our own, with the budget ln 4.

The one that is printed in the full version of [F], section 10.1, does not work with its own budget ln 4.
Where k of m clauses are true, the ratio of an assignment is (8k + 5(m - k))/(2k + 5(m - k)). That is 4 if
k = m, and less if not. So every instance is private for ln 4. The proof there asks whether the largest
difference is 0, but privacy asks whether it is above 0. With the bound 4 - 1/m the printed one is right: for
k < m the ratio is at most (8m - 3)/(2m + 3) = 4 - 15/(2m + 3), which is below 4 - 1/m. `printed_text`
writes it for any bound. It has 12mn + 4m states, ours (m + 1)n + 1, and its sequences are twice as long.

Let f be a formula in conjunctive normal form with n variables and m clauses of three different variables
each. Observations 1 and 0 are values of one variable after the other, so a sequence of length n is an
assignment. The model has three parts, chains of n states each that move on by one state every time:

- R emits 1 and 0 with probability 1/2 each: every assignment has probability 2^-n;
- U_j, for the clause j, emits for the variables of the clause what falsifies their literals, and otherwise
  1 and 0 with probability 1/2: an assignment has probability 8·2^-n if it falsifies the clause, else 0;
- D emits x: x...x has probability 1.

Left (group A) starts in R with probability 1/2 and in D with 1/2. Right (group B) starts in R with μ, in each
U_j with μ/m, and in D with 1 - 2μ, where μ = m/(8m + 64) < 1/8. Let k be the number of clauses that an
assignment falsifies:

    2^n·Pr(assignment | left)  = 1/2
    2^n·Pr(assignment | right) = μ·(1 + 8k/m)

- Pr(· | left) ≤ 4·Pr(· | right) iff 1/2 ≤ 4μ·(1 + 8k/m) = (m + 8k)/(2m + 16) iff k ≥ 1.
- Pr(· | right) ≤ 4·Pr(· | left) always: μ·(1 + 8k/m) ≤ 9μ < 2.
- x...x has 1/2 ≤ 4·(1 - 2μ) and 1 - 2μ ≤ 4·1/2. All other sequences are impossible on both sides.

So a violation is an assignment with k = 0, one that satisfies f.

    python benchmarks/hard_sat.py [SEED]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random

from paramverify.encodings.cone import cone_claims
from paramverify.encodings.sequences import sequence_claims
from paramverify.models.model import Model
from paramverify.privacy.cases import load

Clause = tuple[int, ...]  # literals: 3 is the third variable, -3 its negation

VALUES = ("1", "0")


def random_formula(random: Random, variables: int, clauses: int) -> list[Clause]:
    """Returns clauses of three different variables each, with random signs."""
    return [
        tuple(v * random.choice((1, -1)) for v in sorted(random.sample(range(1, variables + 1), 3)))
        for _ in range(clauses)
    ]


def satisfiable(formula: Sequence[Clause]) -> bool:
    """Tells whether some assignment satisfies all clauses, by Z3's SAT solver."""
    import z3

    solver = z3.Solver()
    for clause in formula:
        solver.add(z3.Or([z3.Bool(str(x)) if x > 0 else z3.Not(z3.Bool(str(-x))) for x in clause]))
    return bool(solver.check() == z3.sat)


def satisfies(formula: Sequence[Clause], observations: Sequence[str]) -> bool:
    """Tells whether the assignment that a sequence of observations is satisfies all clauses."""
    true = {k + 1 if value == "1" else -k - 1 for k, value in enumerate(observations)}
    return all(any(literal in true for literal in clause) for clause in formula)


def case_text(formula: Sequence[Clause], variables: int) -> str:
    """Returns the case file: private for sequences of length `variables` iff there is no solution."""
    count = len(formula)
    share = Fraction(count, 8 * count + 64)
    chains: dict[str, list[dict[str, str]]] = {"r": [{"1": "1/2", "0": "1/2"}] * variables}
    for j, clause in enumerate(formula):
        wrong = {abs(literal): "0" if literal > 0 else "1" for literal in clause}
        rows = [{wrong[v]: "1"} if v in wrong else {"1": "1/2", "0": "1/2"} for v in range(1, variables + 1)]
        chains[f"u{j}"] = rows
    states = [f"{name}_{k}" for name, rows in chains.items() for k in range(len(rows))] + ["d"]
    lines = [
        f'title = "3-SAT with {variables} variables and {count} clauses: private iff unsatisfiable"',
        'source = "a reduction from SAT, as in Liu, Wang, Zhang, VMCAI 2022, full version, section 10.1"',
        "",
        "[mechanism]",
        'kind = "hmm"',
        f"states = {_list(states)}",
        'observations = ["1", "0", "x"]',
        "",
        "[mechanism.emissions]",
    ]
    for name, rows in chains.items():
        lines += [f"{name}_{k} = {_row(row)}" for k, row in enumerate(rows)]
    lines += ['d = { x = "1" }', "", "[mechanism.transitions]"]
    for name, rows in chains.items():
        # A chain ends in its last state; only sequences of length n are compared.
        lines += [f'{name}_{k} = {{ {name}_{min(k + 1, len(rows) - 1)} = "1" }}' for k in range(len(rows))]
    right = {"r_0": share, **{f"u{j}_0": share / count for j in range(count)}, "d": 1 - 2 * share}
    lines += [
        'd = { d = "1" }',
        "",
        "[prior.left]",
        'r_0 = "1/2"',
        'd = "1/2"',
        "",
        "[prior.right]",
        *(f'{name} = "{weight}"' for name, weight in right.items()),
        "",
        "[secrets]",
        'pairs = [["left", "right"]]',
        "",
        "[privacy]",
        'ratio = "4"',
        f"length = {variables}",
        "",
        "[expect]",
        f'status = "{"violated" if satisfiable(formula) else "holds"}"',
        "",
    ]
    return "\n".join(lines)


def printed_text(formula: Sequence[Clause], variables: int, ratio: Fraction) -> str:
    """Returns the case file of the reduction as printed in [F], section 10.1, with this bound.

    Groups A and B have, for each clause i and variable j, the states Aij, TAij, FAij (the clause is true
    already) and A'ij, T'Aij, F'Aij (not yet). The prime is written p here.
    """
    emissions: list[str] = []
    moves: list[str] = []
    end = variables + 1
    for group, true in (("A", "4/5"), ("B", "1/5")):
        false = str(1 - Fraction(true))
        for i, clause in enumerate(formula, 1):
            for prime in ("", "p"):
                for j in range(1, end):
                    here = f"{group}{prime}{i}_{j}"
                    emissions += [f'{here} = {{ X{j} = "1" }}']
                    moves += [f'{here} = {{ T{here} = "1/2", F{here} = "1/2" }}']
                    for value, literal in (("T", j), ("F", -j)):
                        kept = "" if literal in clause else prime
                        emissions += [f'{value}{here} = {{ {value}{j} = "1" }}']
                        moves += [f'{value}{here} = {{ {group}{kept}{i}_{j + 1} = "1" }}']
                last = f"{group}{prime}{i}_{end}"
                shares = ("1/2", "1/2") if prime else (true, false)
                emissions += [f'{last} = {{ top = "{shares[0]}", bottom = "{shares[1]}" }}']
                moves += [f'{last} = {{ {last} = "1" }}']
    states = [line.partition(" =")[0] for line in emissions]
    observations = [f"{name}{j}" for j in range(1, end) for name in "XTF"] + ["top", "bottom"]
    share = Fraction(1, len(formula))
    lines = [
        "[mechanism]",
        'kind = "hmm"',
        f"states = {_list(states)}",
        f"observations = {_list(observations)}",
    ]
    lines += ["[mechanism.emissions]", *emissions, "[mechanism.transitions]", *moves]
    for name, group in (("left", "A"), ("right", "B")):
        lines += [f"[prior.{name}]", *(f'{group}p{i}_1 = "{share}"' for i in range(1, len(formula) + 1))]
    lines += ["[secrets]", 'pairs = [["left", "right"]]']
    return "\n".join([*lines, "[privacy]", f'ratio = "{ratio}"', f"length = {2 * variables + 1}", ""])


def _list(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _row(entries: dict[str, str]) -> str:
    return "{ " + ", ".join(f'{name} = "{value}"' for name, value in entries.items()) + " }"


def read_model(formula: Sequence[Clause], variables: int, printed: Fraction | None = None) -> Model:
    """Returns the model of the formula, read from its case file; `printed` with this bound."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sat.toml"
        text = case_text(formula, variables) if printed is None else printed_text(formula, variables, printed)
        path.write_text(text, encoding="utf-8")
        return load(path).model


def main(seed: int) -> None:
    """Prints the times of two encodings for formulas near the threshold 4.26 of random 3-SAT, as Markdown.

    Ends with an error where a verdict is not what the SAT solver says.
    """
    print("| variables | clauses | satisfiable | cone: claims | s | sequences: claims | s |")
    print("| --- " * 7 + "|")
    for variables in (4, 5, 6, 7, 8, 9, 10, 11):
        formula = random_formula(Random(f"{seed} {variables}"), variables, round(4.26 * variables))
        expected = satisfiable(formula)
        model = read_model(formula, variables)
        columns = []
        for encode in (cone_claims, sequence_claims):
            started = time.perf_counter()
            claims = encode(model)
            private = all(claim.holds_at({}) for claim in claims)
            if private == expected:
                raise SystemExit(f"wrong verdict for {formula}")
            columns.append(f"{len(claims)} | {time.perf_counter() - started:.2f}")
        answer = "yes" if expected else "no"
        print(f"| {variables} | {len(formula)} | {answer} | {' | '.join(columns)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
