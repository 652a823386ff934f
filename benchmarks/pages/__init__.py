"""What the pages are made with and measured by."""
