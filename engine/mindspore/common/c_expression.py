"""``mindspore._c_expression``: MindSpore's compiled module, with the names that have a meaning here.

Programs import classes from it, mostly to name a type or to query the build. The other names that MindSpore 2.10 has
there can be imported too; their use raises NotImplementedError.
"""

from __future__ import annotations

import re
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NoReturn

from ...tensors import dtype as typing

__all__ = ["security", "typing"]

_PATHS = {
    "COOTensor": "mindspore.common.COOTensor",
    "CSRTensor": "mindspore.common.CSRTensor",
    "Event": "mindspore.runtime.Event",
    "RowTensor": "mindspore.common.RowTensor",
    "Stream": "mindspore.runtime.Stream",
    "Tensor": "tensors.tensor.Tensor",
    "TensorPy": "tensors.tensor.Tensor",
    "communication_stream": "mindspore.runtime.communication_stream",
    "current_stream": "mindspore.runtime.current_stream",
    "default_stream": "mindspore.runtime.default_stream",
    "set_cur_stream": "mindspore.runtime.set_cur_stream",
    "synchronize": "mindspore.runtime.synchronize",
}
"""Name -> module path below the engine."""
_OF_OPERATORS = re.compile(r"pyboost_[a-z]\w*|[A-Z]\w*(Prim|Functional)_|_[a-z]\w*_instance")
_ABSENT_NAMES = (
    "AddAttr_ AutoParallelContext BackendGraphMock_ BackwardNodePy CNode Cell_ CollectiveManager CommExecOrderChecker "
    "CommHandle CostModelContext CreationType CustomPassType DeviceContext DeviceContextManager DeviceManagerConf "
    "DictClear_ DictFromKeys_ DictHasKey_ DictSetItem_ DictUpdate_ EventWriter_ FULL_GRAPH FormatEnum FuncGraph "
    "FunctionBase Functional_ GeneratorImpl GradOperation_ GraphExecutor_ GroupOptions HandleBoolTensor_ HasNext_ "
    "HookType HyperMap_ IOMonad IterConverter_ JitExecutor_ ListAdd_ ListAppend_ ListClear_ ListExtend_ ListInsert_ "
    "ListPop_ ListReverse_ ListSliceSetItem_ MSContext MapTensor_ Map_ MetaFuncGraph_ MixedPrecisionType "
    "MultitypeFuncGraph_ Next_ NoFallbackGuard OffloadContext OpCall OpDtype OpFunc OpInferRegistry OpWrapperRegistry "
    "Oplib PATTERN PSContext ParallelCommManager ParamInfo PreJit PreSetitemByTuple_ PrimitiveFunction_ Primitive_ "
    "Profiler ProfilerManager PyFuncOpDefBuilder PyNativeExecutor_ PyTreeDef PythonProfilerRecorder RecomputeBlock_ "
    "Reducer ReductionEnum RuntimeConf SequenceSliceGetItem_ Shard_ Signature StarredGetItem_ StarredUnpackMerge_ "
    "StarredUnpack_ StoragePy StrategyInfo StrategyLayout TCPStoreClient Tail_ TaylorOperation_ TensorIndexGetitem_ "
    "TensorIndexSetitem_ TensorMetaPy TensorOverloadCall TensorTransform TraceRecorder TupleAdd_ TupleGetItemTensor_ "
    "UMonad UnpackCall_ VmapGeneralPreprocess_ VmapGeneralRulePyAdapter_ VmapOperation_ ZerosLike_ ZipOperation_ "
    "_DeviceAddress _DisableMsDispatchMode _DispatchGuardStack _GraphFragment_ _TensorData _add_docstr "
    "_bind_device_ctx _cell_parse_to_args _clear_snapshot_saving_flag _decrypt _decrypt_data _dump_set_dynamic "
    "_dump_start _dump_step _dump_stop _empty_cache _encrypt _finalize_collective _finalize_comm "
    "_find_unused_parameters _framework_profiler_clear _framework_profiler_disable_mi _framework_profiler_enable_mi "
    "_framework_profiler_step_end _framework_profiler_step_start _get_optimzer_timestamps _get_snapshot_params "
    "_get_uce_mem_info _get_uce_process_strategy _init_cluster_with_store _init_hccl_with_store _is_cipher_file "
    "_is_snapshot_valid _memory_replay _memory_stats _ms_memory_recycle _pre_launch_send_recv _random_normal "
    "_random_seeded_generator _random_uniform _rebuild_group _reg_snapshot_params _register_pytree_node "
    "_repair_device _reset_error_state _reset_max_mem_allocated _reset_max_mem_reserved _reset_opt_event_info "
    "_reset_snapshot_state _reuse_data_ptr _run_jit_pipeline _set_dataset_mode_config _set_init_iter _stop_device "
    "_swap_tensor_impl _tensordump_exec _tensordump_set_step _tft_finish_record_threads _tft_sem_enable _tft_sem_post "
    "_tft_start_record_threads _tree_flatten _tree_leaves _tree_map _tree_structure _tree_unflatten _truncated_normal "
    "_unsafe_set_version_counter _wait_pipeline amp check_is_arf clean_tdt_channel clear_jit_compile_results "
    "collect_host_info combine_tensor_list_contiguous current_stream_id direct_copy_to_host disable_multi_thread "
    "dump_func_graph finalize_hccl fork_utils frombuffer function_id get_clock_syscnt get_clock_time get_code_extra "
    "get_device_limit get_hccl_rank_id get_hccl_rank_size get_reboot_type get_sdc_detect_result "
    "get_silent_detect_config get_silent_detect_feature_name get_stream_limit init_cluster init_exec_dataset "
    "init_hccl init_pipeline is_reboot_node is_silent_detect_enable is_silent_detect_with_checksum "
    "jit_mode_pi_disable jit_mode_pi_enable load_mindir ms_ctx_param np_dtypes op_enum pi_jit_set_context prim_type "
    "register_custom_backend register_custom_pass reset_op_id reset_op_id_with_offset reset_params reset_stream_limit "
    "run_backward sdc_detect_start sdc_detect_stop send_recv set_cluster_exit_with_exception set_device_limit "
    "set_is_arf set_is_reboot_node set_reboot_type set_stream_limit signature_dtype signature_kind signature_rw "
    "slice_by_padding_shape slice_by_tensor_index split_dynamic_mindir split_mindir stress_detect swap_cache "
    "tft_register_config update_func_graph_hyper_params update_pijit_default_config verify_inputs_signature"
)
"""Names of MindSpore 2.10's compiled module other than those of operators."""
_ENGINE = __name__.rsplit(".", 3)[0]

security = SimpleNamespace(enable_security=lambda: False)
"""MindSpore calls builds without dumps and summaries secure; this one has both."""


class _Absent:
    """A name of MindSpore's compiled core without a meaning here; its use raises an error.

    Args:
        name: the name.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        name = f"mindspore._c_expression.{self.__name__}"
        raise NotImplementedError(f"{name} is not covered by hookscope: it is part of MindSpore's compiled core")

    __call__ = __mro_entries__ = __instancecheck__ = __subclasscheck__ = __getitem__ = __iter__ = __enter__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __repr__(self) -> str:
        return f"<mindspore._c_expression.{self.__name__}, which hookscope does not have>"


def __getattr__(name: str) -> Any:
    if name in _PATHS:
        module, _, attribute = _PATHS[name].rpartition(".")
        value = getattr(import_module(f"{_ENGINE}.{module}"), attribute)
    elif _OF_OPERATORS.fullmatch(name) or name in _ABSENT_NAMES.split():
        value = _Absent(name)
    else:
        raise AttributeError(f"module 'mindspore._c_expression' has no attribute '{name}'")
    globals()[name] = value
    return value
