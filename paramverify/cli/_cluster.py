"""The option `--cluster` of commands whose work is many independent tasks, and what it connects to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from paramverify.cli._common import memory_limit, say
from paramverify.tasks.tasks import ADDRESSES, HERE, Executor

Function = TypeVar("Function", bound=Callable[..., Any])

KEY = "paramverify.cluster"  # in the context of a command
FILES = ("ca", "cert", "key")


def cluster_option(function: Function) -> Function:
    """Adds `--cluster` and the files of TLS; `executor` returns what they ask for."""

    def keep(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
        context.meta[f"{KEY}.{parameter.name}"] = value

    words = {
        "ca": "Trust the certificate authority in this file, for a cluster with TLS.",
        "cert": "Present the certificate in this file to a cluster with TLS.",
        "key": "Use the private key in this file for that certificate.",
    }
    for name in reversed(FILES):
        function = click.option(
            f"--cluster-tls-{name}",
            f"cluster_tls_{name}",
            metavar="FILE",
            expose_value=False,
            callback=keep,
            help=words[name],
        )(function)
    return click.option(
        "--cluster",
        "cluster",
        metavar="ADDRESS",
        expose_value=False,
        callback=keep,
        help=f"Run the work on the workers of this Dask cluster: {ADDRESSES}.",
    )(function)


def cluster_wanted() -> bool:
    """Tells whether the command that runs was given `--cluster`."""
    return bool(click.get_current_context().meta.get(f"{KEY}.cluster"))


def executor() -> Executor:
    """Returns what does the tasks of the command that runs: the cluster that was asked for, or this process.

    The connection ends with the command.

    Raises:
        ClusterError: there is no such cluster, or its versions are not ours.
    """
    context = click.get_current_context(silent=True)
    address = context.meta.get(f"{KEY}.cluster") if context else None
    if not context or address is None:
        if context and any(context.meta.get(f"{KEY}.cluster_tls_{name}") for name in FILES):
            raise click.UsageError("--cluster-tls-... needs a cluster: add --cluster tls://HOST:8786")
        return HERE
    if KEY not in context.meta:
        from paramverify.tasks.cluster import Cluster, read_place  # which is slow to import

        authority, certificate, key = (context.meta.get(f"{KEY}.cluster_tls_{name}") for name in FILES)
        place = read_place(address, (authority, certificate, key), memory_limit())
        context.meta[KEY] = context.with_resource(Cluster(place, tell))
    found: Executor = context.meta[KEY]
    return found


def tell(line: str) -> None:
    """Tells on standard error what happens to the cluster."""
    say(line, err=True)
