"""`python -m regard`, which is also what torchrun starts."""

from regard.cli.main import main

if __name__ == "__main__":
    main()
