"""The name of the command: `python -m paramverify.checker` runs the folder `kernel`."""
