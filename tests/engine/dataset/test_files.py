"""Data sets of images in a folder. The answers are MindSpore 2.10's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import hookscope.engine as ms
from hookscope.engine import dataset as ds

HEIGHTS = {"b/2.png": 5, "b/1.JPG": 6, "b/10.jpeg": 7, "a/q.png": 8, "B/q.png": 9, "c10/d.png": 10, "c9/d.png": 11}


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    for name, height in HEIGHTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        Image.fromarray(np.full((height, 5, 3), 10 * height, np.uint8)).save(folder / name)
    return folder


def seen(data: Any) -> list[tuple[int, int]]:
    return [(len(image), int(label)) for image, label in data.create_tuple_iterator(output_numpy=True)]


def test_an_image_folder_has_a_class_for_each_folder_in_the_order_of_names(images: Path) -> None:
    data = ds.ImageFolderDataset(str(images), shuffle=False, decode=True)
    assert seen(data) == [(9, 0), (8, 1), (6, 2), (7, 2), (5, 2), (10, 3), (11, 4)]
    assert data.get_class_indexing() == {"B": 0, "a": 1, "b": 2, "c10": 3, "c9": 4} and data.num_classes() == 5
    assert data.get_dataset_size() == 7 and data.get_col_names() == ["image", "label"]
    image, label = next(data.create_tuple_iterator())
    assert image.shape == (9, 5, 3) and (image.dtype, label.dtype) == (ms.uint8, ms.int32)
    assert (image.asnumpy() == 90).all()


def test_without_decode_an_image_is_the_bytes_of_its_file(images: Path) -> None:
    data = ds.ImageFolderDataset(images, shuffle=False)
    rows = [row[0] for row in data.create_tuple_iterator(output_numpy=True)]
    assert rows[0].tobytes() == (images / "B/q.png").read_bytes() and rows[2][:4].tolist() == [255, 216, 255, 224]
    chain = data.map([ds.vision.Decode(), ds.vision.Resize((3, 4)), ds.vision.HWC2CHW()], "image").batch(2)
    assert next(chain.create_tuple_iterator())[0].shape == (2, 3, 3, 4)


def test_classes_and_files_may_be_chosen(images: Path) -> None:
    def heights(**how: Any) -> list[tuple[int, int]]:
        return seen(ds.ImageFolderDataset(str(images), shuffle=False, decode=True, **how))

    assert heights(class_indexing={"b": 7, "a": 2}) == [(8, 2), (6, 7), (7, 7), (5, 7)]
    assert heights(extensions=[".JPG", ".jpeg"]) == [(6, 2), (7, 2)]
    assert heights(num_samples=2) == [(9, 0), (8, 1)]
    assert heights(num_shards=2, shard_id=1) == [(8, 1), (7, 2), (10, 3), (9, 0)]
    assert ds.ImageFolderDataset(str(images), class_indexing={"b": 7}).num_classes() == 1


def test_images_come_in_random_order_unless_told_otherwise(images: Path) -> None:
    data = ds.ImageFolderDataset(str(images), decode=True)
    orders = {tuple(seen(data)) for _ in range(5)}
    assert len(orders) > 1 and len({tuple(sorted(order)) for order in orders}) == 1


def test_files_can_be_decrypted(images: Path) -> None:
    def decrypted(path: str) -> bytes:
        return Path(path).with_name("q.png").read_bytes()

    data = ds.ImageFolderDataset(str(images), class_indexing={"a": 0}, decode=True, decrypt=decrypted)
    assert seen(data) == [(8, 0)]


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"extensions": [".PNG"]}, RuntimeError, "there are no files in the folders of"),
        ({"class_indexing": {"nope": 7}}, RuntimeError, "there is no folder 'nope' in"),
        ({"extensions": ".png"}, TypeError, "'extensions' must be a list of str, but got '.png'"),
        ({"class_indexing": [1]}, TypeError, "'class_indexing' must be a dictionary"),
        ({"class_indexing": {"a": "x"}}, TypeError, "'class_indexing' must be a dictionary of ints, but got 'x'"),
        ({"decode": 3}, TypeError, "'decode' must be a bool, but got 3"),
        ({"decrypt": 3}, TypeError, "'decrypt' must be a function, but got int"),
    ],
)
def test_wrong_arguments_of_an_image_folder(
    images: Path, how: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        list(ds.ImageFolderDataset(str(images), **how))


def test_a_file_that_is_no_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "z.png").write_text("bad")
    with pytest.raises(RuntimeError, match="z.png is not an image"):
        list(ds.ImageFolderDataset(str(tmp_path), decode=True))
    with pytest.raises(ValueError, match="'dataset_dir' must be a folder"):
        ds.ImageFolderDataset(str(tmp_path / "none"))
    with pytest.raises(TypeError, match="'dataset_dir' must be a path, but got int"):
        ds.ImageFolderDataset(3)


def test_cifar_100_has_two_labels(tmp_path: Path) -> None:
    for name, count in (("train", 6), ("test", 3)):
        rows = [bytes([i % 20, 50 + i]) + bytes([i]) * 1024 + bytes([100]) * 2048 for i in range(count)]
        (tmp_path / f"{name}.bin").write_bytes(b"".join(rows))
    sizes = [ds.Cifar100Dataset(str(tmp_path), usage).get_dataset_size() for usage in ("train", "test", None)]
    assert sizes == [6, 3, 9]
    data = ds.Cifar100Dataset(str(tmp_path), "train", shuffle=False)
    assert data.get_col_names() == ["image", "coarse_label", "fine_label"]
    image, coarse, fine = list(data.create_tuple_iterator(output_numpy=True))[4]
    assert image.shape == (32, 32, 3) and image[3, 5].tolist() == [4, 100, 100]
    assert (coarse, fine, coarse.dtype, fine.dtype) == (4, 54, np.uint32, np.uint32)
    (tmp_path / "test.bin").write_bytes(b"short")
    with pytest.raises(RuntimeError, match="test.bin is not a file of CIFAR-100: 5 bytes"):
        ds.Cifar100Dataset(str(tmp_path))
    (tmp_path / "test.bin").unlink()
    with pytest.raises(RuntimeError, match="there is no test.bin in"):
        ds.Cifar100Dataset(str(tmp_path), "test")
