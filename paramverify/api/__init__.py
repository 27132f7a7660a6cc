"""Mechanisms as Python functions: `mechanism` decorates one, which is proved, tested and sampled."""

from paramverify.api.decorated import Mechanism, mechanism

__all__ = ["Mechanism", "mechanism"]
