"""Random programs with unbounded noise, as texts; what is compared is what the language covers."""

from __future__ import annotations

import random
from dataclasses import dataclass

GEOMETRIC = ("geometric(1/4)", "geometric(1/3)", "geometric(1/5)", "one_sided_geometric(1/4)")
CONTINUOUS = ("laplace(1)", "laplace(1/2)", "laplace(2/3)", "exponential(1/2)")
LITTLE = ("geometric(1/5)", "one_sided_geometric(1/4)", "laplace(1/2)", "laplace(1/3)", "exponential(1/3)")


@dataclass(frozen=True)
class NoisyProgram:
    """A program of an array `q` of two whole numbers, and the number of its draws."""

    text: str
    draws: int


def noisy_program(seed: int, whole: bool, kinds: tuple[str, ...] = ()) -> NoisyProgram:
    """Returns a program whose inputs are read beside noise only; three draws have little noise."""
    chance = random.Random(seed)
    draws = chance.choice([1, 2, 2, 2, 3])
    if draws == 3 and not kinds:
        kinds = LITTLE[:2] if whole else LITTLE[2:]
    return _Writer(chance, whole, kinds or (GEOMETRIC if whole else CONTINUOUS), draws).program()


class _Writer:
    def __init__(self, chance: random.Random, whole: bool, kinds: tuple[str, ...], draws: int) -> None:
        self.chance = chance
        self.whole = whole
        self.kinds = kinds
        self.draws = draws
        self.lines: list[str] = []
        self.names: list[str] = []
        self.coins = 0

    @property
    def turned(self) -> bool:
        """Whether noise may be subtracted from a number: of three continuous values no sum is compared."""
        return self.whole or self.draws < 3

    def program(self) -> NoisyProgram:
        r = self.chance
        same = r.random() < 0.4
        first = r.choice(self.kinds)
        noises = [first if same else r.choice(self.kinds) for _ in range(self.draws)]
        forms = ["q[0] + ", "q[1] + ", "", "q[0] - q[1] + ", *["2 * q[1] - "] * self.turned]
        starts = [r.choice(forms) for _ in noises]
        starts[r.randrange(self.draws)] = r.choice(["q[0] + ", "q[1] + "])
        if r.random() < 0.3:
            self.lines += ["def shifted(x, y):", "    z = x + y", "    return z"]
        if r.random() < 0.3:
            self.lines.append(f"r = [{', '.join(s + n for s, n in zip(starts, noises, strict=True))}]")
            self.names = [f"r[{k}]" for k in range(self.draws)]
        else:
            for k, (start, noise) in enumerate(zip(starts, noises, strict=True)):
                self.lines.append(f"{'abc'[k]} = {start}{noise}")
                self.names.append("abc"[k])
        if self.lines[0].startswith("def"):
            self.lines.append(f"s = shifted({r.choice(self.names)}, {r.randint(-1, 1)})")
            self.names.append("s")
        if r.random() < 0.3 and self.draws > 1:
            self.loop()
        if r.random() < 0.3:
            self.changed()
        self.tree("", 0)
        return NoisyProgram("\n".join(self.lines), self.draws)

    def loop(self) -> None:
        """Walks over a list with noise, and may stop."""
        r = self.chance
        names = self.names[1:3]
        bound = r.choice([self.names[0], str(r.randint(0, 1))])
        self.lines += [f"for x in [{', '.join(names)}]:", f"    if x {r.choice(['>=', '<'])} {bound}:"]
        self.lines += ["        output(7)", r.choice(["        stop", "        break", "        pass"])]
        if r.random() < 0.3 and not self.coins:
            self.coins = 1
            self.lines += ["k = 0", "while k < 2 and flip(1/3):", "    k += 1", "output(k)"]

    def changed(self) -> None:
        """Gives a variable a value of several with noise."""
        r = self.chance
        left, right = r.choice(self.names), r.choice([*self.names, "1"])
        forms = [f"max({left}, {right})", f"min({left}, {right})", f"{left} - 1"]
        forms += [f"{left} if {right} >= 1 else 0", f"clamp({left}, -1, 1)"]
        forms += [f"0 - {left}", f"abs({left})"] * self.turned
        self.lines.append(f"m = {r.choice(forms)}")
        self.names.append("m")

    def condition(self) -> str:
        r = self.chance
        word = r.choice(["<", "<=", ">", ">="] + ["==", "!="] * self.whole)
        c = r.randint(-1, 2)
        first, second = r.choice(self.names), r.choice(self.names)
        forms = [f"{first} {word} {c}", f"{first} {word} {second}", f"{first} - {second} {word} {c}"]
        forms += [f"{first} + {c} {word} {second}", f"max({first}, {second}) {word} {c}"]
        forms += [f"abs({first}) {word} {c}", f"-1 <= {first} < {c}", f"min({first}, {c}) {word} {second}"]
        forms += [f"clamp({first}, -1, 1) {word} {second}", f"3 * {first} {word} {3 * c}"]
        if self.turned:
            drawn = self.names[: self.draws]
            one, other = r.sample(drawn, 2) if len(drawn) > 1 else (drawn[0], drawn[0])
            even = c if self.whole else 2 * (c // 2)  # a + a <= 1 would speak of 1/2
            forms += [f"{one} + {other} {word} {even}", f"abs({first} - {second}) {word} {c}"]
        if self.whole:
            forms += [f"{first} in [0, {c}]", f"2 * {first} {word} 2 * {second} + 1", f"{first} {word} 1/2"]
        return r.choice(forms)

    def tree(self, margin: str, depth: int) -> None:
        r = self.chance
        if depth == 2 or (depth and r.random() < 0.3):
            if self.whole and r.random() < 0.2:
                self.lines.append(f"{margin}output(clamp({r.choice(self.names)}, 0, 1))")
            else:
                self.lines.append(f"{margin}output({r.randint(0, 3)})")
            return
        test = self.condition()
        if r.random() < 0.25:
            test = f"{test} {r.choice(['and', 'or'])} {self.condition()}"
        self.lines.append(f"{margin}if {test}:")
        self.tree(margin + "    ", depth + 1)
        self.lines.append(f"{margin}else:")
        self.tree(margin + "    ", depth + 1)
