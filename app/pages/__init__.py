"""HTML pages, one module each. Pages use the API's services, and show the API call behind each number."""
