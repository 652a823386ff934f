"""The guide: the pages of docs/ as HTML."""
