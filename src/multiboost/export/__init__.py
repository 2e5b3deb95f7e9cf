"""Models for other places: C99, ONNX, conifer, one Python file; and models of the C++ program."""

from .c import CSource, to_c
from .conifer_dict import to_conifer
from .exportable import ExportError
from .fixed import FixedPoint, Grid
from .formats import FORMATS, export_model
from .latency import Latency, latency
from .onnx_graph import to_onnx
from .python_file import to_python
from .shyp import load_shyp, read_shyp

__all__ = [
    "FORMATS",
    "CSource",
    "ExportError",
    "FixedPoint",
    "Grid",
    "Latency",
    "export_model",
    "latency",
    "load_shyp",
    "read_shyp",
    "to_c",
    "to_conifer",
    "to_onnx",
    "to_python",
]
