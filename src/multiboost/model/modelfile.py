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
from collections.abc import Callable, Collection
from math import prod
from pathlib import Path

import numpy as np

from ..disk import whole_file
from ..memory import need, size

FORMAT = "multiboost-model"
SCHEMA = 4  # of mixtures; what older versions can read is written in their schema
POLICY_SCHEMA = 3  # of models with a policy
PLAIN_SCHEMA = 2
_HEADER = "header.json"
# Zip entries carry a time; a fixed one makes equal models equal files.
_TIME = (2000, 1, 1, 0, 0, 0)
# What a file from a stranger may make us allocate.  Arrays may be compressed, but not out of nothing.
_LARGEST_HEADER = 1 << 24
_SMALL, _LARGEST_RATIO = 1 << 26, 100
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for gigabytes before their first byte


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
    RecursionError,
)


class ModelFileError(ValueError):
    """The file is not a model that this version can read."""


def write_model(path, header: dict, arrays: dict[str, np.ndarray], plain: Collection[str] = ()) -> None:
    """Write a model file.

    Parameters
    ----------
    path : str or path
    header : dict
        What JSON can hold.
    arrays : dict of ndarray
        Of numbers, booleans or fixed-width text.
    plain : collection of str
        Arrays that are not compressed where they are large: it would take many times as long as the writing.
    """
    text = json.dumps({"format": FORMAT, "schema": PLAIN_SCHEMA, **header}, indent=1, sort_keys=True)
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_entry(_HEADER), text)
        for name, array in arrays.items():
            info = _entry(f"{name}.npy")
            if name in plain and array.nbytes > _SMALL:
                info.compress_type = zipfile.ZIP_STORED
            with archive.open(info, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array, order="C"), allow_pickle=False)


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def read_model(path, is_known: Callable[[dict, str], bool]) -> tuple[dict, dict[str, np.ndarray]]:
    """Header and arrays of a model file; only arrays that are known are read, and only if their sizes are credible.

    Parameters
    ----------
    path : str or path
    is_known : callable
        ``(header, name)`` -> whether an array is wanted.

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
            if archive.getinfo(_HEADER).file_size > _LARGEST_HEADER:
                raise ModelFileError(f"{path} is not a multiboost model: its header is larger than any")
            header = json.loads(archive.read(_HEADER))
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise ModelFileError(f"{path} is not a multiboost model: its header does not say so")
            if not isinstance(header.get("schema"), int) or header["schema"] > SCHEMA:
                raise ModelFileError(
                    f"{path} has schema {header.get('schema')!r}; this version reads up to {SCHEMA}: "
                    "update multiboost to load it"
                )
            wanted = [name[:-4] for name in names if name.endswith(".npy") and is_known(header, name[:-4])]
            _check_sizes(path, archive, wanted)
            arrays = {}
            for name in wanted:
                with archive.open(f"{name}.npy") as entry:
                    arrays[name] = np.lib.format.read_array(entry, allow_pickle=False)
    except (FileNotFoundError, PermissionError):
        raise
    except MemoryError as error:
        raise ModelFileError(f"{path}: {str(error) or 'not enough memory for its arrays'}") from error
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


def _check_sizes(path: Path, archive: zipfile.ZipFile, names: list[str]) -> None:
    """Refuse arrays that the bytes of the file cannot justify, or that do not fit into memory, before they are read."""
    total = cost = 0
    for name in names:
        info = archive.getinfo(f"{name}.npy")
        if info.compress_type not in _METHODS:
            raise ModelFileError(f"{path} is not a multiboost model: {name} is compressed in another way")
        with archive.open(info) as entry:
            shape, dtype = _shape_of(entry)
            n_bytes = prod(shape) * dtype.itemsize
            if dtype.hasobject or entry.tell() + n_bytes != info.file_size or max(shape, default=0) > info.file_size:
                raise ModelFileError(f"{path} is damaged: {name} has not the size that it says")
        total += n_bytes
        # Text becomes Python's, which is larger; so does what is JSON inside.
        cost += 35 * n_bytes if name.startswith("categories.") else 4 * n_bytes
        cost += 100 * prod(shape) if dtype.kind in "US" else 0
    if total > _SMALL + _LARGEST_RATIO * path.stat().st_size:
        raise ModelFileError(
            f"{path} is not a multiboost model: {size(total)} of arrays do not come of so small a file"
        )
    need(cost, "its arrays", "load it on a larger machine")


def _shape_of(entry) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type of an array, from the beginning of its file."""
    version = np.lib.format.read_magic(entry)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"an array of version {version}")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(entry)
    return shape, dtype


def _is_xml(path: Path) -> bool:
    """Whether a file begins as XML does, also one that gzip has compressed."""
    with path.open("rb") as file:
        start = file.read(64)
    return start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<?xml", b"<multiboost")) or (
        start.startswith(b"\x1f\x8b") and ".xml" in path.suffixes
    )
