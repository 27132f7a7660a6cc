"""The kernel: checks evidence with the standard library alone, and trusts none of the rest of the package.

The folder is the program (`python -m paramverify.checker EVIDENCE`); its files are none.
"""
