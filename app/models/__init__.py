"""Model versions: what they are made of, and where they are in use."""
