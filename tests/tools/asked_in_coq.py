"""What the extracted program asks of the functions that are extracted, asked once more inside Coq.

`paramverify-check --asked FILE` writes each call with its answer: a name, and whole numbers. The types say
what they mean. So Coq is asked for the types, and readers of all arguments are made from them, for all
functions that `proofs/program/checker.ml` names. Coq computes by `vm_compute`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "proofs" / "program"
SECONDS = 20  # for a question
MOST = 1_000_000  # a natural number beyond it takes Coq too much memory
TOO_LATE = "Error: Timeout!"
LATE, UNREAD = "late", "not read"
Said = bool | str  # whether the answer is the same, or why there is none
Type = tuple[object, ...]  # a name, and what it is applied to

CLAIMS = "(check max_depth nil)"  # what `proves` is
GIVEN = {"Z": "one", "positive": "read_positive", "bool": "flag", "nat": "small"}
WRITTEN = {"Z": "x", "positive": "Zpos x", "bool": "(if x then 1 else 0)", "nat": "Z.of_nat x"}
DEFAULTS = {"Z": "0%Z", "nat": "O", "bool": "false", "option": "None"}
HEADER = f"""
From Coq Require Import Uint63 PArray.
From Paramverify Require Import Reader.
Local Open Scope Z_scope.
Definition digits : array Z := [| 0; 1; 2; 3; 4; 5; 6; 7; 8; 9 | 0 |].
Fixpoint symbols (n : nat) (word : int) (l : list int) : list int :=
  match n with O => l | S n => symbols n (word >> 4)%uint63 ((word land 15)%uint63 :: l) end.
Fixpoint all_symbols (n : nat) (k : int) (words : array int) (l : list int) : list int :=
  match n with
  | O => l
  | S n => all_symbols n (k - 1)%uint63 words (symbols 15 (get words k) l)
  end.
Fixpoint numbers_in (l : list int) (sign : Z) (started : bool) (value : Z) : list Z :=
  match l with
  | nil => if started then sign * value :: nil else nil
  | x :: l =>
      if (x <? 10)%uint63 then numbers_in l sign true (10 * value + get digits x)
      else
        let later := numbers_in l (if (x =? 10)%uint63 then -1 else 1) false 0 in
        if started then (sign * value) :: later else later
  end.
Definition all_numbers (words : array int) : list Z :=
  let n := PArray.length words in
  numbers_in (all_symbols (Z.to_nat (to_Z n)) (n - 1)%uint63 words nil) 1 false 0.
Definition flag : reader bool := x <~ one; match x with 0 => give false | 1 => give true | _ => fail end.
Definition small : reader nat := x <~ one; if (0 <=? x) && (x <=? {MOST}) then give (Z.to_nat x) else fail.
Fixpoint many {{A}} (r : reader A) (fuel l : list Z) : option (list A * list Z) :=
  match l, fuel with
  | 0 :: l, _ => Some (nil, l)
  | -1 :: l, _ :: fuel =>
      match r l with
      | Some (x, l) => match many r fuel l with Some (rest, l) => Some (x :: rest, l) | None => None end
      | None => None
      end
  | _, _ => None
  end.
Definition told {{A}} (w : A -> list Z -> list Z) (xs : list A) (l : list Z) : list Z :=
  fold_right (fun x l => -1 :: w x l) (0 :: l) xs.
Definition deep : nat := Z.to_nat 10000.
Fixpoint equal_numbers (a b : list Z) : bool :=
  match a, b with
  | nil, nil => true
  | x :: a, y :: b => (x =? y) && equal_numbers a b
  | _, _ => false
  end.
Definition recalled {{A B}} (w : A -> list Z -> list Z) (none : B) (said : list (A * B)) : A -> B :=
  let known := map (fun p => (w (fst p) nil, snd p)) said in
  fun x =>
    let key := w x nil in
    match find (fun p => equal_numbers (fst p) key) known with Some p => snd p | None => none end.
"""


# --- types --------------------------------------------------------------------------------------------


def parsed(text: str) -> Type:
    """Returns a type as a tree: applications, `*` of two, and `->` of the arguments and the result."""
    tokens = re.findall(r"->|[\w.']+|[()*]", text.replace("%type", ""))[::-1]

    def next_is(*words: str) -> bool:
        return bool(tokens) and tokens[-1] in words

    def arrow() -> Type:
        parts = [product()]
        while next_is("->"):
            tokens.pop()
            parts.append(product())
        return parts[0] if len(parts) == 1 else ("->", *parts)

    def product() -> Type:
        found = application()
        while next_is("*"):
            tokens.pop()
            found = ("*", found, application())
        return found

    def application() -> Type:
        atoms: list[Type] = []
        while tokens and not next_is("->", "*", ")"):
            token = tokens.pop()
            atoms.append(arrow() if token == "(" else (token,))
            if token == "(":
                tokens.pop()
        return (*atoms[0], *atoms[1:])

    return arrow()


def written(kind: Type) -> str:
    """Returns a type as Coq reads it."""
    name, *rest = kind
    if name == "->" or name == "*":
        return "(" + f" {name} ".join(map(written, rest)) + ")" + ("%type" if name == "*" else "")
    return f"({name} {' '.join(map(written, rest))})" if rest else str(name)


def put(kind: Type, values: dict[str, Type]) -> Type:
    """Returns a type with others in the place of its variables."""
    name, *rest = kind
    if name in values and not rest:
        return values[str(name)]
    return (name, *(put(part, values) for part in rest))


def in_coq(commands: str) -> subprocess.CompletedProcess[str]:
    """Returns what Coq says to some commands, after the theories that the program is extracted from."""
    required = re.findall(
        r"^From .*Require Import (?!Extraction).*$", (PROGRAM / "Extract.v").read_text(), re.MULTILINE
    )
    given = "\n".join(["From Coq Require Import ZArith List QArith.", *required, commands])
    order = ["coqtop", "-q", "-Q", str(ROOT / "proofs" / "theories"), "Paramverify"]
    return subprocess.run(order, input=given, capture_output=True, text=True, check=False)


class Types:
    """What Coq says about types: an alias, or constructors with the types of their arguments."""

    def __init__(self) -> None:
        self.about: dict[str, tuple[list[str], Type | list[tuple[str, list[Type]]]]] = {}

    def learn(self, names: Iterable[str]) -> None:
        """Asks Coq about names of which nothing is known."""
        new = sorted(set(names) - self.about.keys())
        said = in_coq(
            "Set Printing Width 1000000.\n" + "".join(f"Locate {n}.\nPrint {n}.\n" for n in new)
        ).stdout
        for name in new:
            short = name.rpartition(".")[2]
            # Constructors are named with their module, since other types may have some that are called alike.
            located = re.search(rf"^Inductive ((?:[\w.]+\.)?{re.escape(name)})$", said, re.MULTILINE)
            start = located[1].removesuffix(short) if located else name.removesuffix(short)
            alias = re.search(rf"^{re.escape(name)} = *\n?(.*)\n* *: (?:Set|Type)$", said, re.MULTILINE)
            record = re.search(rf"^Record {short} : \w+ := (\w+) \{{ (.*) \}}\.$", said, re.MULTILINE)
            other = re.search(
                rf"(?:Inductive|with) {short} ?(\(\w+ : Type\))? : \w+ := *(.*?)\.?$", said, re.MULTILINE
            )
            if alias:
                self.about[name] = [], parsed(alias[1])
            elif record:
                fields = [parsed(part.partition(" : ")[2]) for part in record[2].split(";")]
                self.about[name] = [], [(start + record[1], fields)]
            else:
                assert other, (name, said)
                variables = [other[1].split()[0][1:]] if other[1] else []
                rows = [part.partition(" : ") for part in other[2].split(" | ")]
                kinds = [(start + word.strip(), parsed(kind)) for word, _, kind in rows]
                shapes = [(word, list(kind[1:-1]) if kind[0] == "->" else []) for word, kind in kinds]
                self.about[name] = variables, shapes

    def plain(self, kind: Type) -> Type:
        """Returns a type without aliases."""
        name, *rest = kind
        found = self.about.get(str(name))
        if found and isinstance(found[1], tuple):
            return self.plain(found[1])
        return (name, *(self.plain(part) for part in rest))

    def shapes(self, kind: Type) -> list[tuple[str, list[Type]]]:
        """Returns the constructors of a type that is applied to others."""
        name, *rest = kind
        if name == "list":
            return [("list", [rest[0]])]  # has a reader of its own
        if name == "option":
            return [("Datatypes.None", []), ("Datatypes.Some", [rest[0]])]
        if name == "*":
            return [("Datatypes.pair", rest)]
        if name == "unit":
            return [("Datatypes.tt", [])]
        variables, rows = self.about[str(name)]
        values = dict(zip(variables, rest, strict=True))
        return [(word, [self.plain(put(part, values)) for part in parts]) for word, parts in rows]


KNOWN = {"Z", "positive", "nat", "bool", "list", "option", "*", "unit", "->"}


def reachable(kind: Type, needed: dict[Type, list[Type]]) -> set[Type]:
    """Returns all that a type needs, and what that needs."""
    found: set[Type] = set()
    rest = list(needed[kind])
    while rest:
        part = rest.pop()
        if part not in found:
            found.add(part)
            rest += needed[part]
    return found


def names_in(kind: Type) -> Iterator[str]:
    """Yields all names in a type."""
    yield str(kind[0])
    for part in kind[1:]:
        yield from names_in(part)


# --- readers ------------------------------------------------------------------------------------------


def functions() -> list[str]:
    """Returns the names of the functions whose calls the program writes."""
    return re.findall(r'asked "([\w.]+)"', (PROGRAM / "checker.ml").read_text(encoding="utf-8"))


@cache
def header() -> str:
    """Returns definitions: `ask_NAME` takes the numbers of a call, and tells whether Coq says the same."""
    asked = functions()
    said = in_coq("Set Printing Width 1000000.\n" + "".join(f"Check {name}.\n" for name in asked)).stdout
    types = {
        name: parsed(re.search(rf"^{re.escape(name)}\n *: (.*)$", said, re.MULTILINE)[1]) for name in asked
    }
    known = Types()
    wanted = {name for kind in types.values() for name in names_in(kind)} - KNOWN - {"Rule.checker"}
    while new := wanted - known.about.keys():
        known.learn(new)
        for name in new:
            body = known.about[name][1]
            parts = [body] if isinstance(body, tuple) else [part for _, row in body for part in row]
            wanted |= {word for part in parts for word in names_in(part)} - KNOWN - set(known.about[name][0])
    return HEADER + Readers(known).all(types)


class Readers:
    """Readers and writers of types, by numbers, each for one type without variables."""

    def __init__(self, known: Types) -> None:
        self.known = known
        self.numbers: dict[Type, int] = {}
        self.made: list[Type] = []

    def number(self, kind: Type) -> int:
        if kind not in self.numbers:
            self.numbers[kind] = len(self.numbers)
            self.made.append(kind)
        return self.numbers[kind]

    def all(self, types: dict[str, Type]) -> str:
        """Returns all definitions, each before what needs it."""
        ends = [self.ending(name, kind) for name, kind in types.items()]
        needed: dict[Type, list[Type]] = {}
        for kind in self.made:  # grows
            needed[kind] = self.parts(kind)
            for part in needed[kind]:
                self.number(part)
        reached = {kind: reachable(kind, needed) for kind in self.made}
        together = {
            kind: frozenset({kind} | {k for k in found if kind in reached[k]})
            for kind, found in reached.items()
        }
        order: TopologicalSorter[frozenset[Type]] = TopologicalSorter()
        for kind, parts in needed.items():
            order.add(together[kind], *({together[part] for part in parts} - {together[kind]}))
        return "".join(
            self.group(sorted(kinds, key=self.number)) for kinds in order.static_order()
        ) + "".join(ends)

    def group(self, kinds: Sequence[Type]) -> str:
        """Returns the definitions of types that need each other; numbers of steps show Coq that they end."""
        inside = kinds if any(kinds[0] in parts for parts in map(self.parts, kinds)) else ()
        reads, writes = [], []
        for kind in kinds:
            n, name = self.number(kind), written(kind)
            reads.append(
                f"f{n} (d : nat) (l : list Z) : option ({name} * list Z) :=\n{self.reading(kind, inside)}"
            )
            writes.append(
                f"g{n} (d : nat) (x : {name}) (l : list Z) : list Z :=\n{self.writing(kind, inside)}"
            )
        start = "Fixpoint" if inside else "Definition"
        both = "".join(f"{start} {f'{chr(10)}with '.join(rows)}.\n" for rows in (reads, writes))
        return both + "".join(
            f"Definition r{n} := f{n} deep. Definition w{n} := g{n} deep.\n" for n in map(self.number, kinds)
        )

    def parts(self, kind: Type) -> list[Type]:
        return [] if kind[0] in GIVEN else [part for _, parts in self.known.shapes(kind) for part in parts]

    def call(self, letters: str, kind: Type, inside: Sequence[Type]) -> str:
        return f"{letters[1]}{self.number(kind)} d" if kind in inside else f"{letters[0]}{self.number(kind)}"

    def reading(self, kind: Type, inside: Sequence[Type]) -> str:
        if kind[0] in GIVEN:
            return f"  {GIVEN[str(kind[0])]} l"
        if kind[0] == "list":
            return f"  match d with O => None | S d => many ({self.call('rf', kind[1], inside)}) l l end"
        rows = []
        for word, parts, at in self.numbered(kind):
            inner = f"Some ({' '.join([word, *(f'x{k}' for k in range(len(parts)))])}, l)"
            for k, part in reversed(list(enumerate(parts))):
                inner = step(self.call("rf", part, inside), k, inner)
            rows.append(inner if at is None else f"      | {at} :: l => {inner}")
            if at is None:
                return f"  match d with O => None | S d => {inner} end"
        body = "\n".join(rows)
        inner = f"match l with\n{body}\n      | _ => None\n      end"
        return f"  match d with O => None | S d =>\n      {inner}\n  end"

    def writing(self, kind: Type, inside: Sequence[Type]) -> str:
        if kind[0] in WRITTEN:
            return f"  {WRITTEN[str(kind[0])]} :: l"
        if kind[0] == "list":
            return f"  match d with O => l | S d => told ({self.call('wg', kind[1], inside)}) x l end"
        rows = []
        for word, parts, at in self.numbered(kind):
            inner = "l"
            for k, part in reversed(list(enumerate(parts))):
                inner = f"{self.call('wg', part, inside)} x{k} ({inner})"
            start = "" if at is None else f"{at} :: "
            rows.append(
                f"      | {' '.join([word, *(f'x{k}' for k in range(len(parts)))])} => {start}{inner}"
            )
        body = "\n".join(rows)
        return f"  match d with O => l | S d =>\n      match x with\n{body}\n      end\n  end"

    def numbered(self, kind: Type) -> Iterator[tuple[str, list[Type], int | None]]:
        """Yields constructors with the number that OCaml has for each; one with one part alone has none."""
        shapes = self.known.shapes(kind)
        empty, full = 0, 0
        for word, parts in shapes:
            if len(shapes) == 1 and len(parts) == 1:
                yield word, parts, None
            elif parts:
                full += 1
                yield word, parts, -full
            else:
                yield word, parts, empty
                empty += 1

    def ending(self, name: str, kind: Type) -> str:
        """Returns the definition of what asks one function."""
        *arguments, result = kind[1:]
        given, steps = [], []
        for k, argument in enumerate(arguments):
            if argument == ("Rule.checker",):
                given.append(CLAIMS)
                continue
            plain = self.known.plain(argument)
            if plain[0] == "->":
                start, end = plain[1], plain[2]
                none = default(end)
                table = ("list", ("*", start, end))
                given.append(f"(recalled w{self.number(start)} {none} x{k})")
                steps.append((k, self.number(table)))
            else:
                given.append(f"x{k}")
                steps.append((k, self.number(plain)))
        answer = f"w{self.number(self.known.plain(result))} ({name} {' '.join(given)}) nil"
        body = f"Some (equal_numbers l ({answer}))"
        for k, n in reversed(steps):
            body = step(f"r{n}", k, body)
        start = f"Definition {asking(name)} (words : array int) : option bool :="
        return f"{start}\n  let l := all_numbers words in {body}.\n"


def asking(name: str) -> str:
    """Returns the name of the definition that asks a function."""
    return "ask_" + name.replace(".", "_")


def step(reader: str, k: int, rest: str) -> str:
    """Returns what reads one more part, and then does the rest."""
    return f"match {reader} l with Some (x{k}, l) => {rest} | None => None end"


def default(kind: Type) -> str:
    """Returns a value of a type, for what is never asked."""
    return f"({default(kind[1])}, {default(kind[2])})" if kind[0] == "*" else DEFAULTS[str(kind[0])]


# --- answers ------------------------------------------------------------------------------------------


def answers(rows: Sequence[str], seconds: int = SECONDS) -> list[Said]:
    """Returns for each call whether Coq says the same: LATE where it takes longer than the given seconds,
    UNREAD where it is too large, or no call.

    Coq reads all rows in one process, each as a command of its own, so that one that is slow stops no other.
    """
    if not rows:
        return []
    asked = "".join(
        f"Timeout {seconds} Eval vm_compute in ({k}%Z, {asking(name)} {packed(text)}).\n"
        for k, (name, _, text) in enumerate(row.partition(" ") for row in rows)
    )
    done = in_coq(header() + asked)
    given = re.findall(r"= \((\d+)(?:%Z)?,\s+(Some\s+true|Some\s+false|None)\)", done.stdout)
    found: dict[int, Said] = {
        int(k): word.endswith("true") or (UNREAD if word == "None" else False) for k, word in given
    }
    late = done.stderr.count(TOO_LATE)
    assert done.returncode == 0, done.stderr
    assert len(given) == len(found) == len(rows) - late, done.stdout[-500:] + done.stderr[-1000:]
    return [found.get(k, LATE) for k in range(len(rows))]


def packed(text: str) -> str:
    """Returns whole numbers with blanks between them as an array of Coq, with 15 characters in each word.

    Coq reads this much faster than strings, and than lists of numbers.
    """
    symbols = text.replace("-", "a").replace(" ", "b")
    symbols += "b" * (-len(symbols) % 15)
    words = (f"0x{symbols[k : k + 15]}" for k in range(0, len(symbols), 15))
    return f"[| {'; '.join(words)} | 0 |]%uint63"
