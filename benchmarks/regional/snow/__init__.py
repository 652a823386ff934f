"""Snow of members: cells against a reference, stores, and what runs off in spring."""
