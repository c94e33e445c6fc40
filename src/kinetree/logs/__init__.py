"""Logs: what is recorded of robots, in files and as samples."""
