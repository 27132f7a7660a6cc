"""Special methods of users' classes, caches and types of numbers in adopted functions, against CPython."""

# ruff: noqa: E501 - the texts of functions have long lines

from __future__ import annotations

from pathlib import Path

import pytest
from compared_functions import compared
from function_texts import PREAMBLE

CLASSES = """\
@dataclass
class Third:
    n: int
    def __post_init__(self):
        self.p = self.n / 3
        self.q = self.p / 7 * 7

class Ops:
    def __init__(self, p): self.p = p
    def __add__(self, o): return self.p / 3 + o
    def __radd__(self, o): return self.p / 7 + o
    def __lt__(self, o): return random.random() < self.p / 3
    def __getitem__(self, k): return self.p / 3 * k
    def __iter__(self):
        yield self.p / 3
    def __contains__(self, k): return random.random() < 0.5
    def __bool__(self): return random.random() < 0.25
    def __len__(self): return random.randint(1, 2)
    def __eq__(self, o): return random.random() < 0.5
    def __neg__(self): return random.randint(1, 2)
    def __str__(self): return f'p{self.p / 4}'
    def __enter__(self): return random.randint(1, 2)
    def __exit__(self, *a): return False
    def __del__(self): pass
    def __getattr__(self, name):
        if name.startswith('_'): raise AttributeError(name)
        return random.randint(1, 2)
    def __iadd__(self, o):
        self.p = self.p / 3 + o
        return self
    def __index__(self): return random.randint(0, 1)
    def __abs__(self): return random.randint(0, 1)
    def __int__(self): return random.randint(0, 1)
    def __float__(self): return 0.5
    def __call__(self): return random.randint(0, 1)
    def __reversed__(self): return iter([random.randint(0, 1)])
    def __setitem__(self, k, v): self.p = v if random.random() < .5 else k
    def __invert__(self): return random.randint(0, 1)
    def __truediv__(self, o): return random.randint(0, o)
    def __matmul__(self, o): return random.randint(0, o)
    def __rtruediv__(self, o): return o + random.randint(0, 1)
    def __hash__(self): return 5
    @property
    def prop(self): return random.randint(0, 1) / 3
    @prop.setter
    def prop(self, v): self.p = v / 3
    @functools.cached_property
    def cp(self): return random.randint(0, 1)

class Named:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Named(self.value + other + random.getrandbits(1))

    def __private(self):
        return self.value

    def shown(self):
        return self.__private()
"""

BODIES = [
    "@functools.cache\ndef h(n): return [n]\na = h(1); a.append(2)\nreturn h(1), h(x), random.getrandbits(1)",
    "@functools.lru_cache(None)\ndef h(n): return random.getrandbits(1)\nreturn h(1), h(1), h(2)",
    "@functools.lru_cache(None)\ndef h(n): return random.random()\nreturn h(1) < 0.5, h(1) < 0.25, h(2) < 0.5",
    "return Third(1).p * 3 == 1, Third(1).q * 3 == 1, random.random() < Third(1).p",
    "return (Ops(1) + 0) * 3",
    "return (0 + Ops(1)) * 7",
    "return Ops(1) < 3",
    "return Ops(1)[3], [v * 3 for v in Ops(1)]",
    "return 3 in Ops(1)",
    "return 1 if Ops(1) else 0",
    "return len(Ops(1))",
    "return Ops(1) == 1",
    "return -Ops(1)",
    "return str(Ops(1)), f'{Ops(1)}'",
    "with Ops(1) as v:\n    return v",
    "return Ops(1).anything",
    "o = Ops(1); o += 0\nreturn o.p * 3",
    "return [5, 6][Ops(1)]",
    "return abs(Ops(1)), int(Ops(1))",
    "return Ops(1)()",
    "return list(reversed(Ops(1)))",
    "o = Ops(1); o[3] = 4\nreturn o.p",
    "return ~Ops(1), Ops(1) / 1, 1 / Ops(1), Ops(1) @ 1",
    "o = Ops(1); a = o.prop * 3; o.prop = 1\nreturn a, o.p * 3",
    "o = Ops(1)\nreturn o.cp, o.cp",
    "return not Ops(1), bool(Ops(1) and 3), 5 if not Ops(1) else 6",
    "return sorted([Ops(1), Ops(2)])[0].p",
    "return bool(Ops(1)), any([Ops(1)]), Ops(1) is None\n",
    "return (Named(x) + 1).shown()",
    "r = np.random.default_rng()\nreturn isinstance(r.integers(2), int), type(r.integers(2)).__name__, r.integers(2).item()",
    "return isinstance(np.random.randint(2), int), isinstance(np.random.choice(2), int)",
    "a = np.array([1.5, x])\na[0] += 0.5\nreturn a",
    "return (0.5).as_integer_ratio(), (0.5).__class__ is float, hasattr(0.5, 'hex'), hasattr(x / 2, 'append')",
    "return Fraction(1, 3) / 2 + x, random.random() < Fraction(1, 3), type(Fraction(1, 2) / 2).__name__",
    "try:\n    return divmod(1.5, x * random.getrandbits(1))\nexcept ZeroDivisionError as error:\n    return str(error)",
    "return hash(Point(x)) == hash(Point(x)), len({Point(x), Point(1)}), [p.x for p in {Point(x)}]",
    "u = random.random()\nreturn abs(u - 0.5) > 0.4, max(0, u - 0.75) > 0, min(u, 1 - u) < 0.25",
    "return np.random.binomial(1, [0.25, 0.5]).tolist()",
    "return list(map(random.randrange, [1, 2])), [*map(random.choice, ['ab', 'c'])]",
    "a = {np.int64(2), 1, np.int64(10)}\nreturn a, random.getrandbits(1)",
]


@pytest.mark.slow
def test_special_methods(tmp_path: Path) -> None:
    """Methods that Python calls by itself run as the function does, with exact numbers and with draws."""
    failures = []
    for number, body in enumerate(BODIES):
        source = (
            PREAMBLE + CLASSES + "\n\ndef f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
        )
        answer = compared(source, tmp_path, [0, 1], module_name=f"special{number}")
        if answer != "same":
            failures.append(f"{body!r}: {answer}")
    assert not failures, "\n".join(failures)
