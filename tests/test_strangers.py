"""What strangers trip over: exit codes, silence, files that hurt, names that bite, tables with nothing to learn."""

import threading
import time

import pytest

from multiboost.files import FileError, read_batches, read_file
from multiboost.files.source import Stream


class TestReadersThatReadAhead:
    """A thread of pyarrow that asks Python for bytes while Python ends takes the process with it."""

    @pytest.fixture
    def busy(self, monkeypatch):
        """How many reads are going on, or come after the reader has answered; a disk as slow as that shows it."""
        counts = {"now": 0, "late": 0, "over": False}
        plain = Stream.read

        def slow(self, size=-1):
            counts["now"] += 1
            counts["late"] += counts["over"]
            if threading.current_thread() is not threading.main_thread():
                time.sleep(0.1)
            data = plain(self, size)
            counts["now"] -= 1
            return data

        monkeypatch.setattr(Stream, "read", slow)
        monkeypatch.setattr("multiboost.files.delimited._BLOCK", 1 << 10)
        return counts

    @staticmethod
    def _is_quiet(busy) -> bool:
        now = busy["now"]
        busy["over"] = True
        time.sleep(0.3)
        return now == busy["late"] == 0

    def test_csv_with_an_error_at_its_beginning(self, tmp_path, busy):
        path = tmp_path / "a.csv"
        path.write_text("a,b\n1,2\n3\n" + "4,5\n" * 2000)
        with pytest.raises(FileError, match="line 3"):
            read_file(path)
        assert self._is_quiet(busy)

    def test_batches_that_nobody_wants_any_more(self, tmp_path, busy):
        path = tmp_path / "a.csv"
        path.write_text("a,b\n" + "4,5\n" * 1000)
        batches = read_batches(path, rows=10)
        next(batches)
        batches.close()
        assert self._is_quiet(busy)
