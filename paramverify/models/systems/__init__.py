"""Interactive systems: probabilistic labelled transition systems with data points, queries and responses.

[T] is Tschantz, Kaynar and Datta, Formal Verification of Differential Privacy for Interactive Systems, 2011.
"""
