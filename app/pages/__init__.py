"""The HTML face: a module a page. Pages read the services that the API reads, and show the call behind each number."""
