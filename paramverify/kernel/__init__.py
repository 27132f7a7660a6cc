"""The kernel: checks evidence with the standard library alone, and trusts none of the rest of the package.

No file of it imports anything else. `python -m paramverify.checker EVIDENCE` runs it, and so does
`python kernel EVIDENCE` with a copy of the folder.
"""
