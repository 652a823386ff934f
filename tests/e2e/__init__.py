"""The running service as its users meet it: other programs, a browser, a person with curl."""
