"""HTML as a tree of elements: text is escaped when it is written, and there is no other way to write text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias
from xml.etree.ElementTree import Element as Element
from xml.etree.ElementTree import tostring

from paramverify import printable

Part: TypeAlias = "Element | str | Iterable[Part] | None"
Attribute: TypeAlias = str | int | bool | None


def h(tag: str, *parts: Part, **attributes: Attribute) -> Element:
    """Returns an element with attributes and parts; lists are put in one after the other, None is nothing.

    In the names of attributes `_` stands for `-`, and one at the end is left out: `class_`, `aria_label`.
    True is an attribute without a value; False and None are no attribute. What is not printable in a text is
    written as an escape, so that nothing can turn the direction of writing.
    """
    element = Element(tag)
    for name, value in attributes.items():
        if value is not None and value is not False:
            element.set(name.rstrip("_").replace("_", "-"), "" if value is True else plain(str(value)))
    add(element, parts)
    return element


def add(element: Element, part: Part) -> None:
    """Puts something at the end of an element."""
    if part is None:
        return
    if isinstance(part, Element):
        element.append(part)
    elif isinstance(part, str):
        text = plain(part)
        if len(element):
            element[-1].tail = (element[-1].tail or "") + text
        else:
            element.text = (element.text or "") + text
    else:
        for inner in part:
            add(element, inner)


def plain(text: str) -> str:
    """Returns a text whose characters are all printable, but for line breaks."""
    return "\n".join(map(printable.escaped, text.split("\n")))


def raw(tag: str, text: str, **attributes: Attribute) -> Element:
    """Returns a `script` or `style` with a text of ours, which is written as it is.

    Raises:
        ValueError: the text would end the element.
    """
    if f"</{tag}" in text.lower() or "<!--" in text:
        raise ValueError(f"this text cannot stand in <{tag}>")
    element = h(tag, **attributes)
    element.text = text
    return element


def document(head: Iterable[Element], body: Iterable[Element]) -> str:
    """Returns a whole page in English."""
    page = h("html", h("head", head), h("body", body), lang="en")
    return f"<!DOCTYPE html>\n{tostring(page, encoding='unicode', method='html')}\n"
