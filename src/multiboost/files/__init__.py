"""Data files of several formats, read into columns and labels and written back."""

from .content import Content, Labels
from .error import FileError
from .read import read_batches, read_file
from .source import FORMATS
from .write import write_table

__all__ = ["FORMATS", "Content", "FileError", "Labels", "read_batches", "read_file", "write_table"]
