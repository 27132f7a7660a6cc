"""Subjects: the kinds of files that questions are asked about, and the one way to an answer.

`running.run` reads a file by its subject and answers a question. Commands, Python and pages call it and
nothing beside it. A subject is a plugin: see `subject.Subject` and `registry`.
"""
