"""``mindspore.ops``: functions on tensors, and the primitive classes of ``ops.operations``."""

import typing as _typing

from ..core.grad import *
from ..core.names import on_first_use as _on_first_use
from . import operations as operations
from .activation import *
from .adaptive_pooling import *
from .arithmetic import *
from .attention import *
from .boxes import *
from .comparison import *
from .complexes import *
from .composite import *
from .control import *
from .convolution import *
from .creation import *
from .ctc import *
from .diagonals import *
from .drawing import *
from .dropping import *
from .elementary import *
from .exponentials import *
from .gathering import *
from .hook_backward import *
from .image import *
from .indexing import *
from .joining import *
from .linalg import *
from .lookup import *
from .loss import *
from .margins import *
from .matrices import *
from .normalization import *
from .operations import *
from .pooling import *
from .products import *
from .rearranging import *
from .recurrent import *
from .reduction import *
from .resizing import *
from .scattering import *
from .shape import *
from .slicing import *
from .sorting import *
from .sparse import *
from .sparse_unary import *
from .special import *
from .statistics import *
from .transforms import *
from .unpooling import *

if _typing.TYPE_CHECKING:
    from .primitive_types import *

_COLLECTIVES = """
AllGather AllGatherV AllReduce AlltoAll AlltoAllV AlltoAllVC Barrier BatchISendIRecv Broadcast CollectiveGather
CollectiveScatter NeighborExchange NeighborExchangeV2 Receive Reduce ReduceScatter ReduceScatterV Send all_gather
all_gather_into_tensor all_reduce all_to_all all_to_all_single barrier batch_isend_irecv broadcast gather_into_tensor
irecv isend recv reduce reduce_scatter reduce_scatter_tensor scatter_tensor send
"""
_KERNELS = "Custom kernel ms_kernel custom_info_register op_info_register"
__getattr__ = _on_first_use(
    __name__,
    names={"constexpr": "jit"},
    absent={
        **dict.fromkeys(_COLLECTIVES.split(), "one process runs, so there is nobody to exchange with; leave it out"),
        "make_map_parameter": "its table lives in a parameter server; use nn.Embedding",
        **dict.fromkeys(_KERNELS.split(), "write the operator with ops functions, its gradient as a Cell with bprop"),
    },
)
