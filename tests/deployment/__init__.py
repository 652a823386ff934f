"""The images and the services in containers, as far as they can be tried without an engine."""
