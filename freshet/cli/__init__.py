"""The command line: a file a command. A command reads its arguments, calls the work, and prints."""

from freshet.own_modules import require_own_or_exit

require_own_or_exit()  # before the first of them is imported
