"""The guide: the pages of docs/, as they are read in the repository."""
