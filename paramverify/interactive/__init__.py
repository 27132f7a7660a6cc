"""Differential noninterference of interactive systems: unwinding families, costs, and refutations ([T])."""
