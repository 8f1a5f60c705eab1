"""The version, here alone: asking for that of the installed package takes as long as all of ``--version``."""

__version__ = "0.1.0"
