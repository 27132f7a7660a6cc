"""Exact arithmetic over parameters: expressions, polynomials, domains, constants and budgets."""
