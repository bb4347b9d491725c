"""``mindspore.dataset``: rows of Python objects, arrays and local files, step by step, in the caller's thread."""

from ..base.module_names import name_methods as _name_methods
from ..base.module_names import on_first_use as _on_first_use
from . import callback, config, text, transforms, vision
from .base import Dataset
from .callback import DSCallback
from .lines import CSVDataset, Shuffle, TextFileDataset
from .samplers import (
    DistributedSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from .sources import *

# Classes of MindSpore's hierarchy between Dataset and its kinds.
MappableDataset = SourceDataset = BatchDataset = Dataset


def zip(datasets: tuple[Dataset, ...]) -> Dataset:
    """Combine the columns of data sets; the length is that of the shortest.

    Args:
        datasets: a tuple of data sets with different column names.

    Raises:
        TypeError: not a tuple of data sets.
        ValueError: fewer than two.
    """
    if not isinstance(datasets, tuple) or not all(isinstance(dataset, Dataset) for dataset in datasets):
        raise TypeError(f"For 'zip', 'datasets' must be a tuple of data sets, but got {datasets!r}")
    if len(datasets) < 2:
        raise ValueError(f"For 'zip', 'datasets' must be at least two, but got {len(datasets)}")
    return datasets[0].zip(datasets[1:])


def compare(pipeline1: Dataset, pipeline2: Dataset) -> bool:
    """Return whether two data sets are the same object; chains are not compared.

    Args:
        pipeline1: a data set.
        pipeline2: another one.
    """
    return pipeline1 is pipeline2


__getattr__ = _on_first_use(__name__, names={"WaitedDSCallback": "train.callback.waiting"})
_name_methods(globals())
