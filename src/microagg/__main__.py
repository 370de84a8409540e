"""`python -m microagg`: the command line without its script."""

from microagg.cli.starting import main

if __name__ == "__main__":
    main()
