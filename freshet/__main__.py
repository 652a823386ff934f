"""`python -m freshet` is `freshet`."""

from freshet.cli.main import main

if __name__ == "__main__":  # processes of a training import it again
    main()
