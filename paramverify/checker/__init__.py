"""The kernel: checks evidence with the standard library alone, and trusts none of the rest of the package."""
