"""Mulan's xml file: which attributes of an ARFF file are labels."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from .error import FileError
from .source import split_suffixes


def find_xml(path: Path) -> Path | None:
    """The xml file next to an ARFF file: ``x.xml`` of ``x.arff``, else of ``x-train.arff`` and ``x-test.arff``.

    A file of that name counts only where its outermost element is ``labels``.
    """
    stem = split_suffixes(path)[0]
    shorter = re.sub(r"[-_.](train|test|training|testing)$", "", stem, flags=re.IGNORECASE)
    for name in dict.fromkeys((stem, shorter)):
        candidate = path.parent / f"{name}.xml"
        if candidate.is_file():
            try:
                if _local(ElementTree.parse(candidate).getroot().tag) == "labels":
                    return candidate
            except (ElementTree.ParseError, ValueError, LookupError, OSError):
                continue  # some other xml file, which nobody named
    return None


def read_label_names(path) -> list[str]:
    """Names of the labels, parents before children, in the file's order."""
    try:
        root = ElementTree.parse(path).getroot()
    except (FileNotFoundError, PermissionError):
        raise
    except ElementTree.ParseError as error:
        raise FileError(path, f"this is not xml: {error}", error.position[0]) from error
    except (ValueError, LookupError, OSError) as error:
        raise FileError(path, f"this is not xml that can be read: {error}") from error
    if _local(root.tag) != "labels":
        raise FileError(path, f"the outermost element is <{_local(root.tag)}>, not <labels>")
    names = []
    for element in root.iter():
        if isinstance(element.tag, str) and _local(element.tag) == "label":
            if "name" not in element.attrib:
                raise FileError(path, "a <label> has no name")
            names.append(element.attrib["name"])
    if not names:
        raise FileError(path, "no <label> in it")
    if len(set(names)) < len(names):
        raise FileError(path, f"the label {max(names, key=names.count)!r} is there twice")
    return names


def _local(tag: str) -> str:
    """A tag without its namespace."""
    return tag.rpartition("}")[2]
