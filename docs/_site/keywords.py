"""What the API page shows besides the docstrings: a row for each collected keyword argument, and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import griffe

import paramverify
from paramverify.api.options import DEFAULTS
from paramverify.api.telling import SampleRequest

SAMPLED = {field.name: field.default for field in fields(SampleRequest)} | {"at": {}}
KNOWN = {  # the dictionary of types, where it is declared, and its defaults
    "Limits": ("paramverify.api.options", DEFAULTS),
    "SampleOptions": ("paramverify.api.telling", SAMPLED),
}


def written(value: Any) -> str:
    """Returns a default as it is written in Python."""
    return f"{value:_}" if isinstance(value, int) and value > 9999 else repr(value).replace("'", '"')


class Keywords(griffe.Extension):
    """Replaces `**name: Unpack[Type]` by the keyword arguments, and adds links to public names."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Goes through all functions and classes, once everything is known."""
        del kwargs
        for each in documented(pkg):
            if each.docstring:
                each.docstring.value = REFERENCE.sub(link, each.docstring.value)
            if isinstance(each, griffe.Function):
                expand(each, pkg)


MODULES = ("api.adopting", "api.cases", "api.comparing", "api.composing", "api.decorated", "api.results")
REFERENCE = re.compile(r"see `(?:paramverify\.)?(\w+)`")


def documented(package: griffe.Module) -> Iterator[griffe.Object]:
    """Yields the functions, classes and members that the page may show."""
    for path in MODULES:
        for member in package[path].members.values():
            if isinstance(member, (griffe.Function, griffe.Class)):
                yield member
                if isinstance(member, griffe.Class):
                    yield from (each for each in member.members.values() if isinstance(each, griffe.Object))


def link(match: re.Match[str]) -> str:
    """Returns a reference to a public name as a link; another one stays as it is."""
    name = match[1]
    return f"see [`{name}`][paramverify.{name}]" if name in paramverify.__all__ else match[0]


def expand(function: griffe.Function, package: griffe.Module) -> None:
    """Lists the keyword arguments of one function, and hides what only an error reads, which must be None."""
    for unused in [p for p in function.parameters if str(p.annotation) == "None"]:
        del function.parameters[unused.name]
    for collected in [p for p in function.parameters if p.kind is griffe.ParameterKind.var_keyword]:
        name = str(collected.annotation).removeprefix("Unpack[").removesuffix("]")
        if name not in KNOWN:
            continue
        module, defaults = KNOWN[name]
        declared = package[f"{module.removeprefix('paramverify.')}.{name}"]
        sections = function.docstring.parsed if function.docstring else []
        tables = [s for s in sections if s.kind is griffe.DocstringSectionKind.parameters]
        del function.parameters[collected.name]
        rows = [] if not tables else tables[0].value
        rows[:] = [row for row in rows if row.name.lstrip("*") != collected.name]
        for attribute in declared.attributes.values():
            kind, _, words = " ".join(attribute.docstring.value.split()).partition(": ")
            default = written(defaults[attribute.name])
            function.parameters.add(
                griffe.Parameter(
                    attribute.name, kind=griffe.ParameterKind.keyword_only, annotation=kind, default=default
                )
            )
            rows.append(
                griffe.DocstringParameter(attribute.name, description=words, annotation=kind, value=default)
            )
