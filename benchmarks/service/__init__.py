"""A service that is measured from outside: what it begins with, its processes, its address, its database."""
