"""Forms for `random_cases.py`: programs, systems, streams, inequalities and scripts, with gaps to fill."""

from __future__ import annotations

_WHOLE = 'n = { values = "0..2" }'
_TWO = 'q = { length = 2, values = "0..1" }'
_SIGNED = 'q = { length = 2, values = "-1..1" }'
_EVERY = "eps = (0, oo)"

# Inputs, source, and the parameter with its domain. RATE and SCALE are those of noise, COIN is a probability.
PROGRAMS: tuple[tuple[str, str, str], ...] = (
    (_WHOLE, "return clamp(n + geometric(RATE), 0, 2)", ""),
    (_WHOLE, "return clamp(n + geometric(alpha), 0, 2)", "alpha = (0, 1)"),
    (_TWO, "for x in q:\n    output(clamp(x + geometric(RATE), 0, 1))", ""),
    (_TWO, "for x in q:\n    output(x if flip(p) else 1 - x)", "p = [1/2, 1)"),
    (
        _TWO,
        "n = 0\nfor x in q:\n    if flip(r):\n        n += uniform(0, 1)\n    else:\n"
        "        n += x\nreturn n",
        "r = [1/10, 1/2]",
    ),
    (
        _TWO,
        "n = 0\nfor x in q:\n    if flip(COIN):\n        n += x\nreturn clamp(n + geometric(RATE), 0, 2)",
        "",
    ),
    (
        _SIGNED,
        'T = geometric(RATE)\nfor x in q:\n    if x + geometric(RATE) >= T:\n        output("above")\n'
        '        stop\n    output("below")',
        "",
    ),
    (
        _SIGNED,
        'T = laplace(SCALE)\nfor x in q:\n    if x + laplace(SCALE) >= T:\n        output("above")\n'
        '        stop\n    output("below")',
        "",
    ),
    (
        _SIGNED,
        "best = q[0] + laplace(SCALE)\narg = 0\nx = q[1] + laplace(SCALE)\nif x > best:\n    arg = 1\n"
        "return arg",
        "",
    ),
    (
        _TWO,
        "best = q[0] + geometric(RATE)\narg = 0\nx = q[1] + geometric(RATE)\nif x > best:\n    arg = 1\n"
        "return arg",
        "",
    ),
    (_TWO, "for x in q:\n    output(x + laplace(SCALE))", ""),
    (_TWO, "for x in q:\n    output(x + laplace(1/eps))", _EVERY),
    (_TWO, "output(q[0] + q[1] + geometric(RATE))", ""),
    (_TWO, "total = q[0] + q[1]\noutput(total + laplace(2 / eps))", _EVERY),
    (_WHOLE, "if flip(exp(eps) / (exp(eps) + 2)):\n    return n\nreturn (n + uniform(1, 2)) % 3", _EVERY),
    (_WHOLE, 'return choice({"a": COIN, "b": 1 - COIN}) if n >= 1 else "b"', ""),
    (_WHOLE, "x = n + one_sided_geometric(RATE)\nreturn min(x, 3)", ""),
    (
        _TWO,
        "w = exp(eps / 2) if q[0] == 1 else 1\nv = exp(eps / 2) if q[1] == 1 else 1\n"
        'return "a" if flip(w / (w + v)) else "b"',
        _EVERY,
    ),
    (_WHOLE, "k = 0\nwhile k < 2 and flip(COIN):\n    k += 1\nreturn min(k + n, 3)", ""),
)

RANGED = (
    "return clamp(n + geometric(RATE), 0, 2)",
    "return clamp(n * n + geometric(1/2), 0, 3)",
    "return 1 if n + geometric(RATE) >= 1 else 0",
    "return 1 if abs(n) >= 3 or flip(1/3) else 0",
    "return flip((n + 3) / 12)",
    "output(n + geometric(RATE))",
    "best = q[0] + geometric(RATE)\nreturn 1 if q[1] + geometric(RATE) > best else 0",
    "for x in q:\n    output(1 if x + geometric(RATE) >= 1 else 0)",
    "k = max(q[0], q[1])\nreturn clamp(k + geometric(1/2), 0, 2)",
)

STREAMS = (
    "for x in stream(values=[0, 1]):\n    output(x if flip(3/4) else 1 - x)",
    'first = "none"\nfor x in stream(values=[0, 1]):\n    if first == "none":\n'
    "        first = x if flip(2/3) else 1 - x\n    output(first)",
    'T = laplace(2 / eps)\nfor x in stream(values="real"):\n    if x + laplace(4 / eps) >= T:\n'
    '        output("above")\n        stop\n    output("below")',
    'T = laplace(2 / eps)\nfor x in stream(values="real"):\n    if x + laplace(4 / eps) >= T:\n'
    '        output(x + laplace(2 / eps))\n        stop\n    output("below")',
    'T = geometric(exp(-eps / 2))\nfor x in stream(values="-1..1"):\n'
    '    if x + geometric(exp(-eps / 4)) >= T:\n        output("above")\n        stop\n    output("below")',
)

WINDOWED = """[parameters]
p = "[1/10, 2/5]"
c = "[1/10, 2/5]"
[prior.person]
count = COUNT
given = "person[i-1]"
first = { bernoulli = "p" }
table = { 0 = { 0 = "STAY", 1 = "1 - STAY" }, 1 = { 0 = "1-c", 1 = "c" } }
[secrets]
ill = "person[PAIR] == 1"
well = "person[PAIR] == 0"
pairs = [["ill", "well"]]
[mechanism]
kind = "geometric"
query = "sum(person)"
noise = { truncated_geometric = "1/2", range = COUNT }
[privacy]
ratio = BOUND
"""

CLAIMS = (
    '[parameters]\na = "(0, 1]"\nb = "(0, 1]"\n[claim]\nholds = "a/b + b/a >= 2"\n',
    '[parameters]\nx = "[-1, 1]"\ny = "[-1, 1]"\nconstraints = ["x**2 + y**2 <= 1"]\n[claim]\n'
    'holds = "x*y < 1/2"\n',
    '[parameters]\neps = "(0, oo)"\n[define]\nmean = "(1 - exp(-eps)) / eps"\n[claim]\n'
    'holds = "exp(-eps/2) <= mean <= (1 + exp(-eps)) / 2"\n',
    '[parameters]\nx = "(0, oo)"\n[claim]\nholds = ["exp(-x) >= 1 - x", "exp(-x) <= 1/(1 + x)"]\n',
    '[parameters]\nill = "[1/100, 1/2]"\ns = "[9/10, 1]"\n[define]\nup = "ill*s"\n[claim]\n'
    'holds = "up / (up + (1 - ill)/10) > 1/2"\n',
    '[parameters]\nx = "[0, 2]"\n[claim]\nholds = "x**2 != 2"\n',
    '[parameters]\np = "(0, 1)"\n[define]\nmean = "2*p/(1-p**2)"\n[claim]\nholds = "mean <= 2"\n',
    '[parameters]\np = "(0, 1)"\nq = "[1/4, 3/4]"\n'
    '[claim]\nholds = "p*(1-p) <= q"\n[quantify]\nforall = ["p"]\n',
)

_SURVEY = """[parameters]
p = "FIRST"
[system]
initial = "none"
data = ["yes", "no"]
queries = ["ask"]
responses = ["more yes", "less yes"]
hidden = ["toss"]
[system.steps.none]
yes = "one"
no = "none"
ask = "toss none"
[system.steps.one]
yes = "one"
no = "one"
ask = "toss one"
[system.steps."toss none"]
toss = { "say less" = "p", "toss again" = "1-p" }
[system.steps."toss again"]
toss = { "say more" = "p", "toss none" = "1-p" }
[system.steps."toss one"]
toss = { "say more" = "p", "toss more" = "1-p" }
[system.steps."toss more"]
toss = { "say less" = "p", "toss one" = "1-p" }
[system.steps."say more"]
"more yes" = "none"
[system.steps."say less"]
"less yes" = "none"
[privacy]
ratio = "RATIO"
"""
_SLOTS = """[system]
kind = "slots"
slots = SLOTS
points = 1
data = [-1, 1]
queries = ["count", "sum"]
range = 1
noise = { truncated_geometric = "NOISE" }
[privacy]
epsilon = "BOUND"
"""
DATABASES = (
    _SURVEY,
    _SLOTS,
    _SLOTS.replace("[-1, 1]", "[1]").replace('["count", "sum"]', '["count"]'),
    _SLOTS.replace('truncated_geometric = "NOISE"', 'sampled = "p"').replace(
        "[system]", '[parameters]\np = "FIRST"\n[system]', 1
    ),
    _SLOTS.replace("[privacy]", '[privacy]\nstep = "ln(2)"\nsteps = 2'),
)

_DECLARED = "(set-logic QF_NRA)\n(declare-fun x () Real)\n(declare-fun y () Real)\n"
SCRIPTS = (
    _DECLARED + "(assert (and (> x 0) (< x 1) (> y 0) (< y 1)))\n"
    "(assert (@R (+ (* @A x x) (* @B y)) (+ @C (* x y))))\n(check-sat)\n",
    _DECLARED + "(assert (< (+ (* x x) (* y y)) @A))\n(assert (@R (* x y) @B))\n(check-sat)\n",
    _DECLARED + "(assert (and (<= 0 x) (<= x 2)))\n(assert (= y (* x x)))\n(assert (@R y @B))\n"
    "(check-sat)\n(get-model)\n",
    "(set-logic QF_LRA)\n(declare-const x Real)\n(assert (or (@R x @A) (and (> x @B) (< x @C))))\n"
    "(assert (not (= x @C)))\n(check-sat)\n",
    "(set-logic NRA)\n(declare-fun a () Real)\n"
    "(assert (forall ((x Real)) (@R (+ (* x x) a) @B)))\n(check-sat)\n",
)
