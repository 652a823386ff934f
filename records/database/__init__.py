"""The database itself: engine, encodings, checksums, statements."""
