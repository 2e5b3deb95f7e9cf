"""The model file: a zip of .npy arrays and a JSON header.

No pickle and no code: loading a file runs nothing of its own.  Writing goes to a
temporary name in the same folder, is synced and then renamed, so that a reader sees the
old file or the new one, never half of it.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from ..disk import whole_file

FORMAT = "multiboost-model"
SCHEMA = 2
_HEADER = "header.json"
# Zip entries carry a time; a fixed one makes equal models equal files.
_TIME = (2000, 1, 1, 0, 0, 0)


# What reading a zip of arrays raises where bytes are missing or changed.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    json.JSONDecodeError,
    UnicodeDecodeError,
    EOFError,
    OSError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    MemoryError,
)


class ModelFileError(ValueError):
    """The file is not a model that this version can read."""


def write_model(path, header: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write a model file.

    Parameters
    ----------
    path : str or path
    header : dict
        What JSON can hold.
    arrays : dict of ndarray
        Of numbers, booleans or fixed-width text.
    """
    text = json.dumps({"format": FORMAT, "schema": SCHEMA, **header}, indent=1, sort_keys=True)
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_entry(_HEADER), text)
        for name, array in arrays.items():
            with archive.open(_entry(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array, order="C"), allow_pickle=False)


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def read_model(path) -> tuple[dict, dict[str, np.ndarray]]:
    """Header and arrays of a model file.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ModelFileError
        Where it is not a whole model file of a schema we know.
    """
    path = Path(path)
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder, not a model file")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if _HEADER not in names:
                raise ModelFileError(f"{path} is a zip file but not a multiboost model: it has no {_HEADER}")
            header = json.loads(archive.read(_HEADER))
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise ModelFileError(f"{path} is not a multiboost model: its header does not say so")
            if not isinstance(header.get("schema"), int) or header["schema"] > SCHEMA:
                raise ModelFileError(
                    f"{path} has schema {header.get('schema')!r}; this version reads up to {SCHEMA}: "
                    "update multiboost to load it"
                )
            arrays = {}
            for name in names:
                if name.endswith(".npy"):
                    with archive.open(name) as entry:
                        arrays[name[:-4]] = np.lib.format.read_array(entry, allow_pickle=False)
    except (FileNotFoundError, PermissionError):
        raise
    except _DAMAGE as error:
        if _is_xml(path):
            raise ModelFileError(
                f"{path} is XML. If it is a model of the C++ program, make a model file of it with multiboost import, "
                "or read it with load_shyp"
            ) from error
        raise ModelFileError(f"{path} is not a multiboost model, or was cut short or altered: {error}") from error
    except ValueError as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path} is damaged: {error}") from error
    return header, arrays


def _is_xml(path: Path) -> bool:
    """Whether a file begins as XML does, also one that gzip has compressed."""
    with path.open("rb") as file:
        start = file.read(64)
    return start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<?xml", b"<multiboost")) or (
        start.startswith(b"\x1f\x8b") and ".xml" in path.suffixes
    )
