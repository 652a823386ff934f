"""The guide: the pages of docs/ and of extensions as HTML."""
