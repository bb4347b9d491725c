"""Small programs as MindSpore's own tests of its data sets have them, with the answers of 2.10."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine.dataset as ds
from hookscope.engine.dataset import transforms, vision

IMAGE = (np.arange(6 * 8 * 3) * 7 % 251).reshape(6, 8, 3).astype(np.uint8)


def numbers(count: int = 4, name: str = "a") -> ds.Dataset:
    return ds.NumpySlicesDataset(list(range(count)), [name], shuffle=False)


def of(*rows: Any, names: Any = "a") -> ds.Dataset:
    return ds.GeneratorDataset(list(rows), names, shuffle=False)


def sampled(sampler: Any) -> ds.Dataset:
    return ds.NumpySlicesDataset(list(range(3)), ["a"], sampler=sampler)


def values(data: ds.Dataset) -> list[Any]:
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    return [[item.tolist() for item in row] for row in rows]


class Own(ds.Sampler):
    """A user's sampler with these results."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__()
        self.given = arguments

    def __iter__(self) -> Any:
        return iter(self.given)


ANSWERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "rows of several lengths": (lambda: values(ds.NumpySlicesDataset([[1], [2, 3]], shuffle=False)), [[[1]], [[2, 3]]]),
    "a filter that returns None": (lambda: values(numbers().filter(lambda a: None)), []),
    "a filter that returns a number": (lambda: values(numbers(2).filter(lambda a: 5)), [[0], [1]]),
    "as many draws as rows": (lambda: len(values(sampled(ds.RandomSampler(True, 9)))), 3),
    "as many draws as rows, by weights": (lambda: values(sampled(ds.WeightedRandomSampler([0, 1, 0], 4))), [[1]] * 3),
    "the number of rows of a sampler with a child": (
        lambda: [
            variant.get_num_samples() for variant in (with_child(), ds.SequentialSampler(), ds.SubsetSampler([1, 2]))
        ],
        [2, None, 2],
    ),
    "which samplers draw, and which take a shard": (
        lambda: [
            (variant.is_shuffled(), variant.is_sharded())
            for variant in (
                ds.RandomSampler(),
                ds.DistributedSampler(2, 0),
                ds.SubsetRandomSampler([1]),
                ds.SubsetSampler([1]),
                ds.WeightedRandomSampler([1.0]),
                ds.SequentialSampler(),
                with_child(),
            )
        ],
        [(True, False), (True, True), (True, False), (False, False), (True, False), (False, False), (False, False)],
    ),
    "a batch's function with all columns": (
        lambda: values(numbers().batch(2, per_batch_map=lambda a, info: ([item * 10 for item in a],))),
        [[[0, 10]], [[20, 30]]],
    ),
    "columns of a training step": (lambda: numbers().input_indexs, ()),
    "text filled up": (lambda: transforms.Fill("a")(np.array(["xx", "y"])).dtype.str[1:], "U1"),
    "a flip of a batch of images": (
        lambda: vision.HorizontalFlip()(np.arange(8).reshape(1, 2, 2, 2)).tolist(),
        [[[[2, 3], [0, 1]], [[6, 7], [4, 5]]]],
    ),
    "the middle of a picture": (
        lambda: np.array(vision.CenterCrop(3)(vision.ToPIL()(IMAGE)))[0].tolist(),
        [[127, 134, 141], [148, 155, 162], [169, 176, 183]],
    ),
    "a picture in another size": (
        lambda: np.array(vision.Resize((3, 4))(vision.ToPIL()(IMAGE)))[0].tolist(),
        [[99, 106, 113], [123, 130, 137], [85, 92, 99], [109, 116, 123]],
    ),
    "a picture by its nearest pixels": (
        lambda: np.array(vision.Resize((3, 4), vision.Inter.NEAREST)(vision.ToPIL()(IMAGE)))[0].tolist(),
        [[189, 196, 203], [231, 238, 245], [22, 29, 36], [64, 71, 78]],
    ),
}


def with_child() -> ds.Sampler:
    sampler = ds.SequentialSampler()
    sampler.add_child(ds.SubsetSampler([3, 1]))
    return sampler


@pytest.mark.parametrize(("call", "answer"), ANSWERS.values(), ids=ANSWERS)
def test_a_program_gives_what_it_gives_there(call: Callable[[], Any], answer: Any) -> None:
    assert call() == answer


def batched(function: Any, **more: Any) -> Any:
    return values(numbers().batch(2, per_batch_map=function, **{"input_columns": ["a"], **more}))


ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no rows": (lambda: values(of()), RuntimeError, "'source' has no rows"),
    "max_rowsize": (lambda: ds.GeneratorDataset([1], "a", max_rowsize=-2), ValueError, "'max_rowsize' must be from -1"),
    "a shard that is not there": (
        lambda: ds.GeneratorDataset([1], "a", num_shards=2, shard_id=2),
        ValueError,
        "must be below 'num_shards'",
    ),
    "one data set zipped": (lambda: ds.zip((numbers(),)), ValueError, "must be at least two, but got 1"),
    "dtypes one after another": (
        lambda: values(numbers() + ds.NumpySlicesDataset([1.5], ["a"])),
        RuntimeError,
        "must have the same dtypes and",
    ),
    "axes one after another": (
        lambda: values(numbers() + ds.NumpySlicesDataset([[1, 2]], ["a"])),
        RuntimeError,
        "int64 with 1 axes",
    ),
    "no operation": (lambda: numbers().map([]), RuntimeError, "there is none"),
    "an operation None": (lambda: numbers().map(None), RuntimeError, "there is none"),  # type: ignore[arg-type]
    "no workers to map": (
        lambda: numbers().map(abs, num_parallel_workers=0),
        ValueError,
        "'num_parallel_workers' must",
    ),
    "no workers to filter": (
        lambda: numbers().filter(bool, num_parallel_workers=0),
        ValueError,
        "'num_parallel_workers' must",
    ),
    "workers by name": (
        lambda: numbers().batch(2, num_parallel_workers="1"),
        TypeError,
        "'num_parallel_workers' must",  # type: ignore[arg-type]
    ),
    "dtypes of a batch": (
        lambda: values(of(np.zeros(2), np.zeros(2, np.float32)).batch(2)),
        RuntimeError,
        r"\['float32', 'float64'\]",
    ),
    "results of a batch's function": (lambda: batched(lambda a, b: (a, a)), RuntimeError, "returned 2 values for"),
    "arguments of a batch's function": (lambda: batched(lambda a: (a,)), ValueError, "must accept 1 columns"),
    "columns of a batch's function": (
        lambda: batched(lambda a, b: (a,), input_columns=["z"]),
        RuntimeError,
        "there is no column 'z'",
    ),
    "an error in a batch's function": (lambda: batched(lambda a, b: 1 / 0), RuntimeError, "raised ZeroDivisionError"),
    "columns without a batch's function": (
        lambda: numbers().batch(2, input_columns=["a"]),
        ValueError,
        "those of 'per_batch_map', which is not given",
    ),
    "padding without saying how": (
        lambda: values(of(np.zeros(1), np.zeros(2)).padded_batch(2)),
        RuntimeError,
        "must have one shape",
    ),
    "padding by a number": (lambda: numbers().padded_batch(2, pad_info=3), TypeError, "'pad_info' must be a dict"),  # type: ignore[arg-type]
    "padding to a number": (lambda: numbers().padded_batch(2, pad_info={"a": 3}), TypeError, "'pad_info' must be"),
    "padding of no name": (
        lambda: numbers().padded_batch(2, pad_info={1: ([4], 9)}),
        TypeError,
        "by the names of columns",  # type: ignore[dict-item]
    ),
    "padding to three": (
        lambda: numbers().padded_batch(2, pad_info={"a": ([4], 9, 9)}),
        ValueError,
        "a shape and a value for 'a'",
    ),
    "a name that is there": (
        lambda: values(of((1, 2), names=["a", "b"]).rename("a", "b")),
        RuntimeError,
        "there is a column .* already",
    ),
    "no epochs": (
        lambda: numbers().create_dict_iterator(num_epochs=0),
        RuntimeError,
        "must be -1 or above 0, but got 0",
    ),
    "a copy": (lambda: numbers().create_dict_iterator(do_copy=3), TypeError, "'do_copy' must be a bool"),  # type: ignore[arg-type]
    "a split into more": (lambda: numbers().split([3, 3]), RuntimeError, "must sum to the 4 rows"),
    "a shuffled shard": (lambda: ds.DistributedSampler(2, 0, shuffle=3), TypeError, "'shuffle' must be a bool"),  # type: ignore[arg-type]
    "a sampler that is none": (lambda: sampled(3), TypeError, "'sampler' must be a sampler or numbers of rows"),
    "rows of classes": (lambda: sampled(ds.PKSampler(2)), ValueError, "cannot be a PKSampler"),
    "no rows of classes": (lambda: ds.PKSampler(0), RuntimeError, "'num_val' must be above 0"),
    "a row that is not there": (lambda: values(sampled([7])), RuntimeError, "takes row 7, but there are 3"),
    "an own sampler, too far": (lambda: values(sampled(Own(100))), RuntimeError, "takes row 100, but there are 3"),
    "an own sampler of text": (lambda: values(sampled(Own("a"))), RuntimeError, "must give ints"),
    "an own sampler of nothing": (
        lambda: values(sampled(type("S", (ds.Sampler,), {})())),
        RuntimeError,
        "must define __iter__",
    ),
    "PadEnd below 1": (lambda: transforms.PadEnd([-3], 1), ValueError, "'pad_shape' must be"),
    "PadEnd of text": (lambda: transforms.PadEnd(["3"], 1), TypeError, "'pad_shape' must be"),  # type: ignore[list-item]
    "Concatenate along 1": (lambda: transforms.Concatenate(1), ValueError, "'axis' must be 0 or -1"),
    "Concatenate of matrices": (lambda: transforms.Concatenate(0, np.ones((1, 1))), ValueError, "must have one axis"),
    "Concatenate of a number": (lambda: transforms.Concatenate(0, 3), TypeError, "'prepend' must be an array"),  # type: ignore[arg-type]
    "Concatenate of dtypes": (
        lambda: transforms.Concatenate(0, np.array([1.5]))(np.array([2])),
        RuntimeError,
        "must have one axis and one dtype",
    ),
    "Concatenate with a matrix": (
        lambda: transforms.Concatenate(0, np.array([1]))(np.array([[2]])),
        RuntimeError,
        "must have one axis and one dtype",
    ),
    "Duplicate of two": (lambda: transforms.Duplicate()(np.ones(1), np.ones(1)), RuntimeError, "one value, but got 2"),
    "Compose of nothing": (lambda: transforms.Compose([]), ValueError, "'transforms' must not be empty"),
    "a picture of text": (lambda: vision.ToPIL()("x"), TypeError, "'img' must be an array or an image of PIL"),
    "a mean above 255": (lambda: vision.Normalize([256.0], [1.0]), ValueError, "'mean' must be from 0 to 255"),
    "a far larger middle": (lambda: vision.CenterCrop(10)(IMAGE[:2, :2]), RuntimeError, "is too large for an image"),
    "padding of images by text": (lambda: vision.Pad("1"), TypeError, "'padding' must be an int, two or four"),  # type: ignore[arg-type]
    "a color above 255": (lambda: vision.Pad(1, 300), ValueError, "'fill_value' must be from 0 to 255"),
    "a border by name": (lambda: vision.Pad(1, padding_mode="edge"), TypeError, "'padding_mode' must be a Border"),  # type: ignore[arg-type]
    "a way for pictures": (
        lambda: vision.Resize(3, vision.Inter.ANTIALIAS)(IMAGE),
        TypeError,
        "ANTIALIAS is for images of PIL",
    ),
    "a way for arrays": (
        lambda: vision.Resize(3, vision.Inter.AREA)(vision.ToPIL()(IMAGE)),
        TypeError,
        "Pillow's images have no AREA",
    ),
}


@pytest.mark.parametrize(("call", "error", "text"), ERRORS.values(), ids=ERRORS)
def test_a_program_fails_with_the_class_of_error_that_it_fails_with_there(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, name in enumerate(("dog", "cat", "ant")):
        (tmp_path / name).mkdir()
        for index in range(2):
            vision.write_png(str(tmp_path / name / f"{index}.png"), np.full((2, 3, 3), 40 * number + index, np.uint8))
    (tmp_path / "cat" / "z.txt").write_text("x")
    return tmp_path


def labels(folder: Path, **more: Any) -> list[int]:
    data = ds.ImageFolderDataset(folder, **{"shuffle": None if "sampler" in more else False, **more})
    return [int(label) for _, label in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_folders_of_images_are_classes(folder: Path) -> None:
    assert labels(folder) == [0, 0, 1, 1, 1, 2, 2] and labels(folder, extensions=[".txt"]) == [1]
    assert labels(folder, class_indexing={"cat": 5, "dog": 2}) == [5, 5, 5, 2, 2]
    assert labels(folder, num_shards=2, shard_id=1) == [0, 1, 2, 0]
    assert labels(folder, sampler=ds.PKSampler(2)) == [0, 0, 1, 1, 2, 2]
    assert labels(folder, sampler=ds.PKSampler(3)) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    data = ds.ImageFolderDataset(folder, shuffle=False, decode=True, extensions=[".png"])
    assert (data.get_class_indexing(), data.num_classes()) == ({"ant": 0, "cat": 1, "dog": 2}, 3)
    assert [image[0, 0, 0] for image, _ in data.create_tuple_iterator(num_epochs=1)] == [80, 81, 40, 41, 0, 1]
    assert data.output_shapes() == [[2, 3, 3], []] and [str(kind) for kind in data.output_types()] == ["uint8", "int32"]
    first = ds.ImageFolderDataset(folder, shuffle=False).output_shapes()[0]
    assert first == [(folder / "ant" / "0.png").stat().st_size]


def test_folders_that_are_not_such_are_refused(folder: Path) -> None:
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"extensions": ".png"}, TypeError, "'extensions' must be a list"),
        ({"class_indexing": 3}, TypeError, "'class_indexing' must be a dictionary"),
        ({"class_indexing": {"owl": 1}}, RuntimeError, "there is no folder 'owl'"),
        ({"extensions": [".gif"]}, RuntimeError, "there are no files"),
        ({"decode": 3}, TypeError, "'decode' must be a bool"),
        ({"decode": True}, RuntimeError, "z.txt is not an image"),
        ({"decrypt": len}, RuntimeError, "'decrypt' must give bytes, but got int"),
    ]
    for more, error, text in wrong:
        with pytest.raises(error, match=text):
            labels(folder, **more)
    with pytest.raises(ValueError, match="'dataset_dir' must be a folder"):
        ds.ImageFolderDataset(folder / "owl")
    (folder / "ant" / "inner").mkdir()
    with pytest.raises(RuntimeError, match="inner is none"):
        labels(folder)


def test_an_antialiased_picture_is_pillows() -> None:
    picture = vision.ToPIL()(IMAGE)
    result = vision.Resize(3, vision.Inter.ANTIALIAS)(picture)
    np.testing.assert_array_equal(np.array(result), np.array(picture.resize((4, 3), 1)))
