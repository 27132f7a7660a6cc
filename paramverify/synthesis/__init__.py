"""Synthesis: tight budgets, violating priors and safe regions."""
