"""What stands beside the core: each folder adds one feature, which its `extension.py` declares."""
