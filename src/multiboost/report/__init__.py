"""One page about a fitted classifier."""

from .page import write_report

__all__ = ["write_report"]
