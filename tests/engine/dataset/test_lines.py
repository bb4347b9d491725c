"""TextFileDataset and CSVDataset: rows of local files; what is told here is what MindSpore 2.10 gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine.dataset as ds

FIRST, SECOND, THIRD = "1\n2\n3", "x\ny\nz\n", "p\n\nq"


def lines(folder: Path, *texts: str, **more: Any) -> list[str]:
    files = []
    for number, text in enumerate(texts):
        files.append(str(folder / f"{number}.txt"))
        Path(files[-1]).write_bytes(text.encode())
    more = {"shuffle": False, "num_parallel_workers": 1, **more}
    rows = ds.TextFileDataset(files, **more).create_tuple_iterator(num_epochs=1, output_numpy=True)
    return [str(text) for (text,) in rows]


# the texts, the arguments, MindSpore's rows
TEXT: dict[str, tuple[tuple[str, ...], dict[str, Any], list[str]]] = {
    "a file, without its empty line": (("one\ntwo\n\nthree",), {}, ["one", "two", "three"]),
    "blanks and ends of lines of Windows stay": (("  a b \n \r\nc\r\n",), {}, ["  a b ", " \r", "c\r"]),
    "letters of any language": (("你好\nwörld",), {}, ["你好", "wörld"]),
    "one worker: file after file": ((FIRST, SECOND), {}, list("123xyz")),
    "two workers: in turn": ((FIRST, SECOND, THIRD), {"num_parallel_workers": 2}, list("1x2y3zpq")),
    "the first rows": ((FIRST, SECOND), {"num_parallel_workers": 2, "num_samples": 3}, ["1", "x", "2"]),
    "0 samples are all": ((FIRST,), {"num_samples": 0}, list("123")),
    "the first of three shards": (("\n".join("1234567"),), {"num_shards": 3, "shard_id": 0}, list("123")),
    "the last shard begins again": (("\n".join("1234567"),), {"num_shards": 3, "shard_id": 2}, list("712")),
    "a shard of two files": (
        ("one\ntwo", SECOND),
        {"num_parallel_workers": 2, "num_shards": 2, "shard_id": 1},
        ["y", "one", "z"],
    ),
    "no shuffle": ((FIRST,), {"shuffle": None}, list("123")),
}


@pytest.mark.parametrize(("texts", "more", "expected"), TEXT.values(), ids=TEXT)
def test_lines_come_as_mindspores(tmp_path: Path, texts: Any, more: dict[str, Any], expected: list[str]) -> None:
    assert lines(tmp_path, *texts, **more) == expected


@pytest.mark.parametrize("shuffle", [True, ds.Shuffle.GLOBAL, ds.Shuffle.INFILE])
def test_shuffled_lines_are_the_same_lines_in_another_order(tmp_path: Path, shuffle: Any) -> None:
    expected = [str(n) for n in range(40)]
    result = lines(tmp_path, "\n".join(expected[:20]), "\n".join(expected[20:]), shuffle=shuffle)
    assert sorted(result) == sorted(expected) and result != expected


def test_files_can_be_shuffled_alone_and_named_by_a_pattern(tmp_path: Path) -> None:
    results = {tuple(lines(tmp_path, "a\nb", "c\nd", shuffle=ds.Shuffle.FILES)) for _ in range(20)}
    assert results == {("a", "b", "c", "d"), ("c", "d", "a", "b")}
    data = ds.TextFileDataset(str(tmp_path / "*.txt"), shuffle=False, num_parallel_workers=1)
    assert [str(text) for (text,) in data] == ["a", "b", "c", "d"]
    assert (data.get_dataset_size(), data.get_col_names(), data.output_shapes()) == (4, ["text"], [[]])
    assert ds.TextFileDataset(str(tmp_path / "*.txt"), num_samples=3).get_dataset_size() == 3


def test_lines_go_through_a_chain(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(map(str, range(9))))
    data = ds.TextFileDataset(str(tmp_path / "a.txt"), shuffle=False).shuffle(4).map(int).batch(3)
    batches = [batch.asnumpy() for (batch,) in data]
    assert sorted(np.concatenate(batches).tolist()) == list(range(9))


def table(folder: Path, text: str, **more: Any) -> Any:
    (folder / "a.csv").write_bytes(text.encode())
    return ds.CSVDataset(str(folder / "a.csv"), **{"shuffle": False, **more})


def records(data: Any) -> list[list[Any]]:
    return [[item.item() for item in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


AB = {"column_names": ["a", "b"]}
CSV: dict[str, tuple[str, dict[str, Any], list[list[Any]]]] = {
    "text without defaults": ("1,2\n3,4\n", AB, [["1", "2"], ["3", "4"]]),
    "types by the defaults": ("1,2.5\n-4,2e3\n", {**AB, "column_defaults": [0, 0.0]}, [[1, 2.5], [-4, 2000.0]]),
    "defaults for the first column": ("1,2\n", {**AB, "column_defaults": [1]}, [[1, "2"]]),
    "names in the first line": ("a,b\n1,2\n", {}, [["1", "2"]]),
    "quotes, and an end of a line in them": ('"a,b",2\n"c ""q""\nd",4\n', AB, [["a,b", "2"], ['c "q"\nd', "4"]]),
    "empty text, an empty line": ("a,\n\n,d", AB, [["a", ""], ["", "d"]]),
    "ends of lines of Windows": ("1,2\r\n3,4\r\n", AB, [["1", "2"], ["3", "4"]]),
    "another delimiter": ("1:2\n", {**AB, "field_delim": ":"}, [["1", "2"]]),
    "blanks": (" 1 , x \n", {**AB, "column_defaults": [0, ""]}, [[1, " x "]]),
    "an integer cut off": ("1.5,1\n", {**AB, "column_defaults": [0, 0]}, [[1, 1]]),
    "a shard": ("1,2\n3,4\n5,6\n", {**AB, "num_shards": 2, "shard_id": 1}, [["5", "6"], ["1", "2"]]),
}


@pytest.mark.parametrize(("text", "more", "expected"), CSV.values(), ids=CSV)
def test_records_come_as_mindspores(tmp_path: Path, text: str, more: dict[str, Any], expected: list[list[Any]]) -> None:
    assert records(table(tmp_path, text, **more)) == expected


def test_columns_of_records_have_mindspores_dtypes(tmp_path: Path) -> None:
    data = table(tmp_path, "x,y,z\n1,2,3\n", column_defaults=[0, 0.0, ""])
    assert [kind.kind + str(kind.itemsize) for kind in data.output_types()] == ["i4", "f4", "U4"]
    assert (data.get_col_names(), data.get_dataset_size()) == (["x", "y", "z"], 1)


Make = Callable[[Path], Any]
REFUSED: dict[str, tuple[Make, type[Exception], str]] = {
    "no such file": (lambda folder: ds.TextFileDataset("/no/such"), ValueError, "must name files"),
    "a folder": (lambda folder: ds.TextFileDataset(str(folder)), ValueError, "must name files"),
    "no name": (lambda folder: ds.TextFileDataset(""), ValueError, "must not be empty"),
    "a number as name": (lambda folder: ds.TextFileDataset(3), TypeError, "must be a str or a list"),  # type: ignore[arg-type]
    "no lines": (lambda folder: lines(folder, ""), RuntimeError, "there are no rows in"),
    "shuffle by name": (
        lambda folder: lines(folder, FIRST, shuffle="global"),
        TypeError,
        "'shuffle' must be a bool, a S",
    ),
    "one of two": (lambda folder: lines(folder, FIRST, num_shards=2), RuntimeError, "go together"),
    "no such shard": (
        lambda folder: lines(folder, FIRST, num_shards=2, shard_id=2),
        ValueError,
        "from 0 to 1, but got 2",
    ),
    "below 0": (lambda folder: lines(folder, FIRST, num_samples=-1), ValueError, "'num_samples' must be from 0"),
    "a long delimiter": (lambda folder: table(folder, FIRST, field_delim="::"), ValueError, "must be one character"),
    "a quote": (lambda folder: table(folder, FIRST, field_delim='"'), ValueError, "must be one character"),
    "a default": (lambda folder: table(folder, FIRST, column_defaults=[[]]), TypeError, "list of int, float or str"),
    "a name": (lambda folder: table(folder, FIRST, column_names=[1]), TypeError, "must be a list of str"),
    "a name twice": (lambda folder: records(table(folder, FIRST, column_names=["a", "a"])), RuntimeError, "twice"),
    "text as a number": (
        lambda folder: records(table(folder, "x,1", **AB, column_defaults=[1])),
        RuntimeError,
        "column's type",
    ),
    "nothing as a number": (
        lambda folder: records(table(folder, ",1", **AB, column_defaults=[1])),
        RuntimeError,
        "column's type",
    ),
    "a large number": (
        lambda folder: records(table(folder, "99999999999,1", **AB, column_defaults=[1])),
        RuntimeError,
        "column's type",
    ),
    "a value too many": (lambda folder: records(table(folder, "1,2,3", **AB)), RuntimeError, "must have 2 values"),
    "a default too many": (
        lambda folder: records(table(folder, "1,2", **AB, column_defaults=[1, 2, 3])),
        RuntimeError,
        "for \\['a', 'b'\\]",
    ),
    "an open quote": (lambda folder: records(table(folder, '"1,2', **AB)), RuntimeError, "cannot be read"),
    "a header alone": (lambda folder: records(table(folder, "a,b\n")), RuntimeError, "there are no rows in"),
}


@pytest.mark.parametrize(("make", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused_as_mindspore_does(
    tmp_path: Path, make: Make, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        make(tmp_path)


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\n")
    with pytest.raises(RuntimeError, match="must be text in UTF-8"):
        next(iter(ds.TextFileDataset(str(tmp_path / "bad.txt"))))


def test_rows_that_fill_up_a_data_set_make_shards_of_one_length() -> None:
    results = []
    for shard in range(2):
        filling = ds.PaddedDataset([{"a": np.array(7)}])
        data = ds.NumpySlicesDataset([0, 1, 2], ["a"], shuffle=False) + filling
        data.use_sampler(ds.DistributedSampler(num_shards=2, shard_id=shard, shuffle=False))  # type: ignore[attr-defined]
        results.append([int(value) for (value,) in data])
        assert data.get_dataset_size() == 2
    assert results == [[0, 2], [1, 7]]
    assert ds.PaddedDataset([{"b": 1, "a": 2}]).get_col_names() == ["b", "a"]


NUMBERS = ds.NumpySlicesDataset(list(range(3)), ["a"], shuffle=False)
SAMPLERS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a shuffled shard": (lambda: ds.DistributedSampler(2, 1), ValueError, "must have shuffle=False"),
    "drawn again": (lambda: ds.RandomSampler(replacement=True), ValueError, "must have replacement=False"),
    "so many": (lambda: ds.RandomSampler(num_samples=2), ValueError, "must have no 'num_samples'"),
    "another sampler": (lambda: ds.SubsetSampler([1]), TypeError, "a DistributedSampler or RandomSampler"),
    "none": (lambda: None, TypeError, "a DistributedSampler or RandomSampler"),
}


@pytest.mark.parametrize(("make", "error", "text"), SAMPLERS.values(), ids=SAMPLERS)
def test_a_sampler_that_cannot_choose_among_several_data_sets_is_refused(
    make: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        (NUMBERS + NUMBERS).use_sampler(make())  # type: ignore[attr-defined]


def test_several_data_sets_are_shuffled_as_one() -> None:
    data: Any = ds.NumpySlicesDataset(list(range(20)), ["a"], shuffle=False) + NUMBERS
    data.use_sampler(ds.RandomSampler())
    results = [int(value) for (value,) in data]
    assert sorted(results) == sorted([*range(20), *range(3)]) and results != [*range(20), *range(3)]


@pytest.mark.parametrize("rows", [3, [], [1]])
def test_rows_that_are_none_cannot_fill_up(rows: Any) -> None:
    with pytest.raises(ValueError if rows == [] else TypeError, match="For 'PaddedDataset', 'padded_samples' must"):
        ds.PaddedDataset(rows)
    with pytest.raises(RuntimeError, match="row 1 of the source raised ValueError: its columns are"):
        list(ds.PaddedDataset([{"a": 1}, {"b": 1}]))
