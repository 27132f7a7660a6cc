"""The second reader: reads case files once more, by brute force, with the standard library alone.

`paramverify check --case` compares evidence with what it finds. No code is shared with the first reader.
"""
