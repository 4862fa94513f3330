"""How tests call commands."""

from collections.abc import Callable

Run = Callable[..., tuple[int, str, str]]
"""Takes the words behind `regard`; gives exit code, standard output, standard error. (A fixture: see conftest.py.)"""
