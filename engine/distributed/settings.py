"""Settings of parallel training, stored by ``set_auto_parallel_context``; functions for those with an effect."""

from __future__ import annotations

import copy
from typing import Any

__all__ = [
    "DATA_PARALLEL",
    "DEFAULTS",
    "broadcasts_parameters",
    "bucket_limits",
    "is_data_parallel",
    "reset",
    "set_names",
    "values",
]

DATA_PARALLEL = "data_parallel"
DEFAULTS: dict[str, Any] = {
    "device_num": 1,
    "global_rank": 0,
    "gradients_mean": False,
    "gradient_fp32_sync": True,
    "parallel_mode": "stand_alone",
    "auto_parallel_search_mode": "recursive_programming",
    "search_mode": "recursive_programming",
    "parameter_broadcast": False,
    "strategy_ckpt_load_file": "",
    "strategy_ckpt_save_file": "",
    "full_batch": False,
    "dataset_strategy": "data_parallel",
    "enable_parallel_optimizer": False,
    "force_fp32_communication": False,
    "enable_alltoall": False,
    "all_reduce_fusion_config": [],
    "pipeline_stages": 1,
    "pipeline_config": {},
    "pipeline_result_broadcast": False,
    "auto_pipeline": False,
    "optimizer_weight_shard_size": -1,
    "optimizer_weight_shard_aggregated_save": False,
    "loss_repeated_mean": True,
    "grad_accumulation_step": 1,
    "parallel_optimizer_config": {},
    "comm_fusion": {
        "openstate": True,
        "allreduce": {"mode": "auto", "config": None},
        "allgather": {"mode": "auto", "config": None},
        "reducescatter": {"mode": "auto", "config": None},
    },
    "strategy_ckpt_config": {"load_file": "", "save_file": "", "only_trainable_params": True},
    "group_ckpt_save_file": "",
    "sharding_propagation": False,
    "full_batch_is_set": False,
}

values: dict[str, Any] = copy.deepcopy(DEFAULTS)
"""The settings by name."""
set_names: set[str] = set()
"""Names of settings that were set: the default of ``parameter_broadcast`` depends on the mode."""

_MIB = 1 << 20
_FIRST, _OTHERS = 1 * _MIB, 25 * _MIB  # the first is complete early, so that the exchange begins early


def reset() -> None:
    """Restore all defaults."""
    values.clear()
    values.update(copy.deepcopy(DEFAULTS))
    set_names.clear()


def is_data_parallel() -> bool:
    """Return whether training cells reduce gradients among the ranks."""
    return values["parallel_mode"] in (DATA_PARALLEL, "hybrid_parallel")


def broadcasts_parameters() -> bool:
    """Return whether training begins with rank 0's parameters on all ranks, unless that was switched off."""
    return bool(values["parameter_broadcast"]) or "parameter_broadcast" not in set_names


def bucket_limits() -> tuple[list[int] | None, int, int]:
    """Return the limits of gradient buckets.

    Returns:
        Numbers of gradients at which a bucket ends, or None; the bytes of the first bucket and of the others, 0 for one
        gradient each.
    """
    fusion = values["comm_fusion"] or {}
    all_reduce = fusion.get("allreduce") or {}
    if values["all_reduce_fusion_config"]:
        return [*values["all_reduce_fusion_config"]], 0, 0
    if not fusion.get("openstate", True):
        return None, 0, 0
    mode, config = all_reduce.get("mode", "auto"), all_reduce.get("config")
    if mode == "index" and config:
        return [*config], 0, 0
    if mode == "size" and config:
        return None, int(config) * _MIB, int(config) * _MIB
    return None, _FIRST, _OTHERS
