"""`python -m freshet` is `freshet`."""

from freshet.cli.main import main

main()
