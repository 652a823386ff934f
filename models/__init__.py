"""Networks and their training, from arrays to arrays: no database, no files, no sources."""
