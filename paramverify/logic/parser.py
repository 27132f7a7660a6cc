"""The grammar of formulas and predicates: from text to a tree; mistakes are told with their place."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from paramverify.errors import ExpressionError
from paramverify.logic.syntax import WORDS

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

    Branch: TypeAlias = Tree[Token]

MAX_LENGTH = 5_000  # characters
MAX_DEPTH = 60  # nested brackets
MAX_NESTED = 100  # operators inside each other

GRAMMAR = rf"""
property: [FORALL NAME [IN INT DOTS [INT]] ":"] (formula | question)
predicate: or_
question: (P | PMIN | PMAX) ASKED "[" formula "]"

?formula: iff | iff "?" iff ":" formula -> choice
?iff: implies | implies ("<=>" implies)+ -> iff
?implies: or_ | or_ "=>" implies
?or_: and_ ("|" and_)*
?and_: until ("&" until)*
?until: unary | unary (U | W | R) [bound] until
?unary: "!" unary                     -> not_
    | X unary                         -> next_
    | (F | G) [bound] unary           -> eventually
    | "(" formula ")"                 -> group
    | TRUE | FALSE
    | NAME                            -> label
    | STRING                          -> label
    | sum COMPARISON sum              -> condition
    | NAME COMPARISON (TRUE | FALSE)  -> truth
    | (P | PMIN | PMAX) COMPARISON sum "[" formula "]" -> probability
    | P OPENING sum "," sum CLOSING "[" formula "]" -> interval
    | D "{{" sum "," sum "}}" "[" formula "]" -> private
bound: LIMIT index | "[" index "," [index] "]"
index: INT | NAME [SIGN INT]

?sum: product ((PLUS | MINUS) product)*
?product: factor ((TIMES | OVER) factor)*
?factor: MINUS factor                 -> negative
    | value
    | value "**" factor               -> power
?value: NUMBER | PRIMED | NAME | "(" chosen ")" | FUNCTION "(" sum ("," sum)* ")" -> call
?chosen: sum | iff "?" sum ":" chosen -> case

FORALL.2: /forall(?!\w)/
IN.2: /in(?!\w)/
DOTS: ".."
X.2: /X(?!\w)/
F.2: /F(?!\w)/
G.2: /G(?!\w)/
U.2: /U(?!\w)/
W.2: /W(?!\w)/
R.2: /R(?!\w)/
P.2: /P(?!\w)/
PMIN.3: /P\s*min(?!\w)/
PMAX.3: /P\s*max(?!\w)/
ASKED: /=\s*\?/
D.2: /D(?!\w)/
TRUE.2: /true(?!\w)/
FALSE.2: /false(?!\w)/
FUNCTION.2: /(abs|min|max|exp|ln)(?!\w)|(floor|ceil|mod)(?=\s*\()/
NAME: /(?!({"|".join(sorted(WORDS))}|abs|min|max|exp|ln)(?!\w)|(floor|ceil|mod)\s*\()[A-Za-z_]\w*(?!['\w])/
PRIMED: /[A-Za-z_]\w*'/
STRING: /"[^"\n]*"/
NUMBER: /[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![\w])/
INT: /[0-9]+(?!\w)/
COMPARISON: "<=" | ">=" | "==" | "!=" | "=" | "<" | ">"
LIMIT: "<=" | ">=" | "=" | "<" | ">"
OPENING: "[" | "("
CLOSING: "]" | ")"
SIGN: "+" | "-"
PLUS: "+"
MINUS: "-"
TIMES: "*"
OVER: "/"
%ignore /\s+/
"""

WORDING = {
    "NAME": "a name",
    "STRING": "a quoted label",
    "INT": "a whole number",
    "NUMBER": "a number",
    "OPENING": "[ or (",
    "CLOSING": "] or )",
}


# Formulas of PRISM about something else than probabilities of paths.
_UNREAD = re.compile(
    r"\s*(R\s*(?:\{[^}]*\}\s*)*(?:min|max)?\s*(?:=\s*\?|[<>])|S\s*(?:=\s*\?|[<>]=?[^\[\]]*)\s*\["
    r"|(?:filter|multi)\s*\()"
)
_UNREAD_WORDS = {"R": "rewards", "S": "long runs", "f": "filters", "m": "several objectives at once"}


@lru_cache(maxsize=1)
def _parser() -> Lark:
    from lark import Lark

    return Lark(GRAMMAR, parser="earley", start=["property", "predicate"], propagate_positions=True)


def error(text: str, column: int, reason: str) -> ExpressionError:
    """Returns an error that tells line and column, and shows the place."""
    line = text.count("\n", 0, column) + 1
    start = text.rfind("\n", 0, column) + 1
    shown = text.split("\n")[line - 1]
    return ExpressionError(f"line {line}, column {column - start + 1}: {reason}", shown, column - start)


def parse_tree(text: str, start: str) -> Branch:
    """Returns the tree of a `property` or a `predicate`.

    Raises:
        ExpressionError: a mistake, with line, column, and a mark under the place.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF

    if len(text) > MAX_LENGTH:
        raise error(text, MAX_LENGTH, f"longer than {MAX_LENGTH:,} characters")
    depth = 0
    for column, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_DEPTH:
            raise error(text, column, f"brackets nested deeper than {MAX_DEPTH}")
    unread = _UNREAD.match(text)
    if unread:
        raise error(text, unread.start(1), f"{_UNREAD_WORDS[unread[1][0]]} are not read, P and D are")
    try:
        return _parser().parse(text, start=start)
    except UnexpectedCharacters as found:
        place = found.pos_in_stream or 0
        reason = f"unexpected {text[place]!r}{_mend(text, place) or _expected(found.allowed)}"
        raise error(text, place, reason) from None
    except UnexpectedEOF as found:
        raise error(text, len(text.rstrip()), f"the text ends too early{_expected(found.expected)}") from None
    except RecursionError:
        raise error(text, 0, f"operators nested deeper than {MAX_NESTED}") from None


def _mend(text: str, place: int) -> str:
    """Returns what to write instead, after frequent mistakes, or nothing."""
    percent = re.search(r"(?<![\d.])(\d+)\s*$", text[:place])
    if text[place] == "%" and percent:
        return f"; write {percent[1]}/100"
    if text[place] == ";":
        return "; a formula has none at its end, and each has a --property of its own"
    if text[place] == ":" and re.fullmatch(r'\s*"[^"]*"\s*', text[:place]):
        return "; a formula has no name here"
    alone = re.search(r"(?<!\w)D\s*\{([^{},]*)$", text[:place])
    if text[place] == "}" and alone:
        return f"; D needs epsilon and delta: D{{{alone[1].strip()}, 0}}[...]"
    return ""


def _expected(allowed: object) -> str:
    from lark import Lark

    if not isinstance(allowed, (set, frozenset, list, tuple)) or not allowed:
        return ""
    known = {t.name: t.pattern.value for t in _parser().terminals} if isinstance(_parser(), Lark) else {}
    words = set()
    for terminal in allowed:
        name = str(getattr(terminal, "name", terminal))
        value = known.get(name, name)
        words.add(WORDING.get(name) or (value if len(value) <= 4 and "\\" not in value else name.lower()))
    return f"; expected here: {', '.join(sorted(words))}" if len(words) <= 12 else ""


def span(tree: object) -> tuple[int, int]:
    """Returns where a tree or token starts and ends in the text."""
    from lark import Token, Tree

    if isinstance(tree, Token):
        return tree.start_pos or 0, tree.end_pos or 0
    if isinstance(tree, Tree) and not tree.meta.empty:
        return tree.meta.start_pos, tree.meta.end_pos
    return 0, 0
