"""``mindspore.nn``: cells, layers, losses and optimizers."""

from ..base.module_names import name_methods as _name_methods
from ..base.module_names import on_first_use as _on_first_use
from . import dynamic_lr as dynamic_lr
from . import learning_rate_schedule as learning_rate_schedule
from . import utils as utils
from .cell import *
from .container import *
from .data_parallel import *
from .dynamic_lr import *
from .graph_cell import *
from .layers import *
from .learning_rate_schedule import *
from .loss import *
from .optim import *
from .utils import *
from .wrap import *

METRICS = (
    "Accuracy BleuScore ConfusionMatrix ConfusionMatrixMetric CosineSimilarity Dice F1 Fbeta HausdorffDistance Loss "
    "MAE MSE MeanSurfaceDistance Metric OcclusionSensitivity Perplexity Precision ROC Recall RootMeanSquareDistance "
    "Top1CategoricalAccuracy Top5CategoricalAccuracy TopKCategoricalAccuracy auc get_metric_fn get_metrics "
    "names rearrange_inputs"
)
"""Names of ``mindspore.train.metrics`` that are also in this module in MindSpore."""
__getattr__ = _on_first_use(
    __name__, rooms=("probability",), names={"metrics": "train", **dict.fromkeys(METRICS.split(), "train.metrics")}
)
_name_methods(globals())
