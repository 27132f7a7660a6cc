"""`paramverify backends`: what is installed, which version, and how to get what is missing."""

from __future__ import annotations

import click

from paramverify.backends import discover
from paramverify.cli import _output
from paramverify.cli._common import json_option, print_json, say, whole_timeout_option
from paramverify.reports.sentences import columns

LISTED = (530, "List the backends with their versions, and how to install missing ones.")


@click.command("backends")
@json_option
@whole_timeout_option
def command(as_json: bool) -> int:
    """List the backends with their versions, and how to install missing ones.

    \b
    Example:
      paramverify backends
    """
    found = []
    for name, backend in discover().items():
        version = backend.version()
        found.append((name, backend, version))
        _output.add("backends", {"name": name, "version": version}, f"{name}  {version or 'missing'}")
    if as_json:
        print_json(
            {
                "backends": [
                    {
                        "name": name,
                        "version": version,
                        "builtin": backend.builtin,
                        "description": backend.description,
                        "install": backend.install,
                    }
                    for name, backend, version in found
                ]
            }
        )
        return 0
    rows = [
        (name, version or "missing", backend.description if version else f"to get it: {backend.install}")
        for name, backend, version in found
    ]
    for line in columns(("backend", "version", "what it is"), rows):
        say(line)
    return 0
