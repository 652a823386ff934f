"""Networks and their training, from arrays to arrays. No database, no files, no sources."""
