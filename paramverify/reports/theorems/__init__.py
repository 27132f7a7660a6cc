"""Theorems about cases, as files for Coq: definitions that people can read, and proofs as data."""
