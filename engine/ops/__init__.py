"""``mindspore.ops``: functions on tensors, and the primitive classes of ``ops.operations``."""

import typing as _typing

from ..autograd.grad import *
from ..base.module_names import on_first_use as _on_first_use
from . import primitives as operations
from .elementwise import *
from .higher_order import *
from .image import *
from .indexing import *
from .legacy import *
from .linalg import *
from .neural import *
from .primitives import *
from .random import *
from .reduction import *
from .shapes import *
from .sparse import *

if _typing.TYPE_CHECKING:
    from .primitive_types import *

_RANKS = (
    "P2POp all_gather all_gather_into_tensor all_gather_into_tensor_uneven all_gather_object all_reduce "
    "all_to_all all_to_all_single all_to_all_v_c barrier batch_isend_irecv broadcast broadcast_object_list "
    "destroy_process_group gather_into_tensor gather_object get_backend get_global_rank get_group_rank "
    "get_process_group_ranks get_rank get_world_size init_process_group irecv is_available is_initialized isend "
    "new_group recv recv_object_list reduce reduce_scatter reduce_scatter_tensor reduce_scatter_tensor_uneven "
    "scatter_object_list scatter_tensor send send_object_list set_comm_ops_inplace"
)
__getattr__ = _on_first_use(
    __name__,
    rooms=("communication",),
    names={
        "Custom": "ops.primitives",
        "ReduceOp": "mindspore.communication",
        "constexpr": "mindspore.jit",
        **dict.fromkeys(_RANKS.split(), "mindspore.communication.in_place"),
    },
)
