"""The commands by subject; `freshet.cli.commands` lists them."""
