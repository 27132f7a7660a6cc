"""Processes: attempts that may be killed at any moment, the runner, and the zygote they are forked from."""
