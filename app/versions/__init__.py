"""Model versions: their contents and current use."""
