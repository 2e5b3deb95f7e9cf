"""Fuzz the readers of data files for some seconds: ``python -m tests.fuzz_files 600 [seed]``.

Files of every text format are mutated, compressed ones too, and read whole and in batches.  Only the
promised errors may come out, whole and batches must agree, so must the fast and the careful parser, and no
file may take long.  The command's examples are made of them, too.  All of it within a gigabyte above what the process
has after its imports.
"""

import gzip
import random
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from multiboost.cli.examples import Roles, examples_of
from multiboost.cli.failure import BadInput
from multiboost.files import FileError, read_batches, read_file
from multiboost.files.arff import ArffReader
from multiboost.files.simpletext import SimpleTextReader
from multiboost.files.svmlight import SvmlightReader

from .limits import limit_memory
from .test_files import CHUNKS, MULAN, SEEDS, SEEDS_MORE, TEXTS, XML, same, survive

SLOW = 2.0


def seeds() -> list[tuple[str, bytes]]:
    """What is mutated: small files, and some long enough for several kinds of blocks."""
    long = [(format, text[:2000].encode()) for format, text in TEXTS.items()]
    packed = [(f"{format}.gz", gzip.compress(data, mtime=0)) for format, data in SEEDS.items()]
    return [*SEEDS.items(), *SEEDS_MORE, *long, *packed]


def mutate(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Put in, take away, exchange, repeat, splice."""
    for _ in range(rng.choice([1, 1, 2, 3, 5, 10])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            data = data[:at] + rng.choice(CHUNKS) + data[at:]
        elif kind == 1:
            data = data[:at] + data[at + rng.randrange(20) :]
        elif kind == 2 and at < len(data):
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == 3:
            piece = data[at : at + rng.randrange(40)]
            data = data[:at] + piece * rng.choice([2, 3, 50]) + data[at:]
        elif kind == 4:
            other = rng.choice(others)
            cut = rng.randrange(len(other) + 1)
            data = data[:at] + other[cut : cut + rng.randrange(80)] + data[at:]
        else:
            data = data[:at] + rng.choice(CHUNKS) + data[at + rng.choice([1, 2, 5]) :]
    return data[:20000]


def mutate_xml(folder: Path, rng: random.Random) -> None:
    """The label file of Mulan."""
    (folder / "m.arff").write_text(MULAN)
    (folder / "l.xml").write_bytes(mutate(XML.encode(), [XML.encode()], rng))
    try:
        read_file(folder / "m.arff", labels=folder / "l.xml")
        list(read_batches(folder / "m.arff", labels=folder / "l.xml"))
    except FileError:
        pass


def outcome(path: Path):
    """What reading gives: the content or the words of the error."""
    try:
        return read_file(path)
    except FileError as error:
        return str(error)


def paths_agree(path: Path) -> None:
    """The fast and the careful way of reading give the same content or the same error."""
    fast = outcome(path)
    readers = (ArffReader, SvmlightReader, SimpleTextReader)
    kept = [reader._fast for reader in readers]
    for reader in readers:
        reader._fast = lambda *arguments: None
    try:
        careful = outcome(path)
    finally:
        for reader, method in zip(readers, kept, strict=True):
            reader._fast = method
    if isinstance(fast, str) or isinstance(careful, str):
        assert fast == careful
    else:
        same(fast, careful)


def examples_survive(path: Path) -> None:
    """What the command makes of a file: examples, or an error that says something."""
    content = outcome(path)
    if isinstance(content, str):
        return
    for target in ([], list(content.names[:1])):
        try:
            examples_of(content, Roles(target))
        except BadInput:
            pass
        except MemoryError as error:
            if "not enough memory for" not in str(error):
                raise


def main(seconds: float, seed: int) -> None:
    warnings.simplefilter("error", RuntimeWarning)  # what NumPy warns of would be wrong numbers
    rng = random.Random(seed)
    cases = seeds()
    others = [data for _, data in cases]
    count: Counter = Counter()
    longest = 0.0
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for k, (format, data) in enumerate(cases):  # imports and threads now, and then the limit
            path = Path(folder) / f"{k}.{format}"
            path.write_bytes(data)
            survive(path)
        limit_memory()
        while time.monotonic() < end:
            format, data = rng.choice(cases)
            data = mutate(data, others, rng)
            path = Path(folder) / f"a.{format}"
            path.write_bytes(data)
            began = time.monotonic()
            try:
                if rng.randrange(50) == 0:
                    mutate_xml(Path(folder), rng)
                survive(path)
                paths_agree(path)
                examples_survive(path)
                took = time.monotonic() - began
                assert took < SLOW, f"{took:.1f} s"
            except BaseException:
                keep = Path(tempfile.gettempdir()) / f"fuzz-{seed}-{sum(count.values())}.{format}"
                keep.write_bytes(data)
                print(f"seed {seed}: this file is to blame: {keep}")
                raise
            longest = max(longest, took)
            count[format] += 1
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{sum(count.values())} files in {seconds:.0f} s, longest {longest:.2f} s, peak {memory:.0f} MB: {dict(count)}"
    )


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()))
