"""Backends: each turns a program into something that runs on one kind of machine."""
