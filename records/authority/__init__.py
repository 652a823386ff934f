"""The rights of jobs: what each may do and write, by the key that posted it."""
