"""Networks and their training. Arrays come in and arrays go out: no database, no files, no sources."""
