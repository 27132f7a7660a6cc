"""Simplification: a chain of steps, each of which reduces a claim to claims that are easier to decide."""
