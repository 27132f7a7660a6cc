"""Differential noninterference of interactive systems: unwinding families, costs, and refutations.

[T] is Tschantz, Kaynar and Datta, Formal Verification of Differential Privacy for Interactive Systems, 2011.
"""
