"""Tracing: a Python function is run once for each outcome of its random choices, and becomes a program.

CPython runs the function itself, so every construct means what it means in Python. Only four things are
replaced: numbers with a point are exact (`formulas`), random functions draw symbols (`draw_laws`,
`noise_values`), a comparison with noise takes both ways, one after the other (`tracer`, `exploring`), and
calls are looked at before they are made (`rewriting`, `calls`). What is found is written in the language of
programs (`residual`), so that all other steps are those of a program.
"""
