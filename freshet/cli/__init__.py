"""The command line: a file a command. A command reads its arguments, calls the work, and prints."""
