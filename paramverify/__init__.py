"""Proves or refutes privacy of discrete mechanisms for every prior of a parameter domain."""

__version__ = "0.1.0"
