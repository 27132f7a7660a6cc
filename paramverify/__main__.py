"""`python -m paramverify`."""

from paramverify.cli.main import main

if __name__ == "__main__":
    main()
