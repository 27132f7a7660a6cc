"""Who is right in a comparison: what is known of each claim, and the answers that contradict it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramverify.answers import DECIDED, Standing
from paramverify.compare.results import Record
from paramverify.compare.subjects import Encoded


@dataclass(frozen=True)
class Judgement:
    """What is known of each claim (by digest: status and source), and everything that must not be.

    A disagreement is one claim that some say holds and others say is violated. An answer is wrong that is not
    the known status.
    """

    known: Mapping[str, tuple[str, str]]
    disagreements: tuple[Mapping[str, Any], ...] = ()
    wrong: tuple[Mapping[str, Any], ...] = ()

    @property
    def alarming(self) -> bool:
        """Whether there is a disagreement or a wrong answer."""
        return bool(self.disagreements or self.wrong)


def judge(records: Iterable[Record], expected: Mapping[str, str], encoded: Iterable[Encoded]) -> Judgement:
    """Returns what is known, and who contradicts that or each other; `expected` is by digest.

    A witness that was evaluated exactly, or a certificate that was replayed, makes a status known; otherwise
    what the case says in `[expect]`, or a script in `:status`, does. A case that is expected to be violated
    or that another encoding refutes, is contradicted by answers that all of its claims hold.
    """
    by_digest: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_digest[record["digest"]].append(record)
    known = {digest: (status, "expected") for digest, status in expected.items()}
    disagreements, wrong = [], []
    for digest, group in by_digest.items():
        shown = {r["evidence"]: r["status"] for r in group if r["evidence"] in ("witness", "certificate")}
        for source, status in shown.items():
            known[digest] = (status, source)
        if digest in expected and known[digest][0] != expected[digest]:
            found = f"{known[digest][0]}, by a {known[digest][1]}"
            wrong.append({**_place(group[0]), "known": f"{expected[digest]} (expected)", "said": found})
        if len({said(r) for r in group} & set(DECIDED)) > 1:
            answers: dict[str, list[str]] = {
                s: sorted({_who(r) for r in group if said(r) == s}) for s in DECIDED
            }
            disagreements.append({**_place(group[0]), "digest": digest, **answers})
        told = "{} ({})".format(*known[digest]) if digest in known else "-"
        wrong += [
            {**_place(record), "backend": _who(record), "known": told, "said": _in_words(record)}
            for record in group
            if is_wrong(record, known)
        ]
    wrong += _all_hold(by_digest, encoded)
    return Judgement(known, tuple(disagreements), tuple(wrong))


def said(record: Record) -> str:
    """Returns the status that a backend states: its answer, or that of a `sat` that no point shows."""
    return str(Standing.VIOLATED if record.get("denies") else record["status"])


def is_wrong(record: Record, known: Mapping[str, tuple[str, str]]) -> bool:
    """Tells whether a backend states what is not so, or gives a certificate that the checker rejects."""
    found = known.get(record["digest"])
    stated = said(record)
    return record["evidence"] == "rejected" or (
        found is not None and stated in DECIDED and stated != found[0]
    )


def _in_words(record: Record) -> str:
    if record["evidence"] == "rejected":
        return f"{Standing.HOLDS}, with a certificate that the checker rejects"
    return f"{said(record)}, without a point that shows it" if record.get("denies") else said(record)


def _all_hold(by_digest: Mapping[str, Sequence[Record]], encoded: Iterable[Encoded]) -> list[dict[str, Any]]:
    """Returns the files of which all claims are said to hold, and that are violated after all.

    That is so by what the file expects, or by a claim under another encoding.
    """
    answers: dict[tuple[str, str], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    violated: dict[str, list[str]] = {}
    for group in by_digest.values():
        for record in group:
            answers[record["case"], record["encoding"]][record["claim"]].add(record["status"])
            if record["status"] == Standing.VIOLATED and record["encoding"] not in violated.setdefault(
                record["case"], []
            ):
                violated[record["case"]].append(record["encoding"])
    wrong = []
    for file in encoded:
        found = answers[file.case, file.encoding]
        sources = ["expected"] if file.expected == Standing.VIOLATED and file.claims > 1 else []
        sources += [f"encoding {name}" for name in violated.get(file.case, ()) if name != file.encoding]
        if len(found) != file.claims or not sources:
            continue
        if all(
            Standing.HOLDS in statuses and Standing.VIOLATED not in statuses for statuses in found.values()
        ):
            by, word = ", ".join(sources), file.word(Standing.VIOLATED)
            known = {"known": f"{Standing.VIOLATED} ({by})", "verdict": word, "by": by}
            said = {"said": f"of each claim: {Standing.HOLDS}"}
            wrong.append({"case": file.case, "encoding": file.encoding, **known, **said})
    return wrong


def _place(record: Record) -> dict[str, Any]:
    return {name: record[name] for name in ("case", "encoding", "claim")}


def _who(record: Record) -> str:
    suffix = ", not simplified" if record["simplification"] == "off" else ""
    return f"{record['backend']} {record['version']}".rstrip() + suffix
