"""Conditions that name what was planted in each script, and the scripts whose fault is not found, with the reason."""

from __future__ import annotations

from hookscope.engine.debug.diagnose.causes import Cause

from .script import Script

__all__ = ["NOT_FOUND", "RIGHT", "SYMPTOMS_WITHOUT_FAULT", "WITHOUT_STEPS", "is_right"]

RIGHT: dict[str, set[str]] = {
    # planted_decisions
    "actor_critic_with_an_attached_advantage": {"wrong_sign", "attached_advantage"},
    "dqn_with_broadcast_targets": {"loss_broadcasts"},
    "ppo_with_a_ratio_of_one": {"same_operands", "no_gradient"},
    "moe_with_a_router_outside_the_gradient": {"lost_gradient", "no_gradient"},
    "lora_with_two_zero_factors": {"initial_weights"},
    "fine_tuning_with_a_head_of_its_own": {"optimizer_other_parameters"},
    "distillation_over_the_batch": {"softmax_over_batch"},
    "cloning_of_actions_out_of_reach": {"targets_out_of_range"},
    "scoring_with_a_schedule_of_epochs": {"learning_rate_zero"},
    "vqvae_of_shapes_without_straight_through": {"lost_gradient"},
    "multi_task_with_weights_that_vanish": {"loss_weight_vanishes"},
    # planted_generative
    "gan_points_detached": {"no_gradient"},
    "gan_curve_with_wrong_optimizer": {"optimizer_other_parameters"},
    "dcgan_discriminator_updates_generator": {"opposed_updates"},
    "vqvae_without_straight_through": {"lost_gradient"},
    "wgan_without_clipping": {"loss_falls_without_bound"},
    "vae_with_negative_divergence": {"loss_falls_without_bound"},
    "realnvp_with_wrong_determinant": {"loss_falls_without_bound"},
    "autoencoder_with_two_sigmoids": {"softmax_twice"},
    "glo_with_stages_in_a_dict": {"unregistered_cell"},
    "tied_autoencoder_through_numpy": {"copied_weight"},
    "upscaler_with_relu_at_the_end": {"targets_out_of_range"},
    "siren_with_schedule_in_epochs": {"learning_rate_too_small"},
    # planted_representation
    "distillation_with_learning_teacher": {"trained_target"},
    "detector_with_boxes_in_pixels": {"loss_term_drowned", "targets_not_normalized"},
    "simsiam_without_stop_gradient": {"collapsed_output", "trained_target"},
    "vicreg_with_numpy_deviation": {"detached_term"},
    "prices_in_dollars": {"targets_not_normalized"},
    "text_classifier_with_strong_decay": {"weight_decay_too_large"},
    "pointnet_with_layers_in_a_list": {"unregistered_cell"},
    "lora_with_both_factors_zero": {"initial_weights"},
    "experts_with_hard_choice": {"lost_gradient", "no_gradient"},
    "maml_with_numpy_adaptation": {"no_gradient"},
    "dann_without_reversal": {"wrong_bprop"},
    "ppo_with_ratio_of_one": {"same_operands", "no_gradient"},
    # planted_sequences_and_sets
    "gru_that_runs_over_the_batch": {"samples_leak"},
    "forecast_with_a_variance_that_grows": {"growing_statistic"},
    "accumulation_without_end": {"gradients_accumulate"},
    "accumulation_without_division": {"learning_rate_too_large", "update_too_large"},
    "ddpm_overwritten_by_its_average": {"updates_undone"},
    "siren_with_a_shared_memory": {"wrong_bprop"},
    "loss_scale_removed_after_clipping": {"gradients_scaled_down", "learning_rate_too_small"},
    "training_that_stays_in_evaluation_mode": {"wrong_mode"},
    "deep_sets_pooled_over_the_batch": {"samples_leak"},
    # planted_more_kinds
    "ctc_recognizer": {"softmax_twice"},
    "gumbel_codes": {"lost_gradient"},
    "state_space_kernel": {"exploding_gradient"},
    "graph_attention_neighbours": {"mask_after_softmax"},
    "translating_embeddings": {"optimizer_other_parameters"},
    "tied_language_model": {"learning_rate_zero"},
    "contrastive_predictive_coding": {"one_class"},
    "masked_language_model": {"target_is_input"},
    "spectral_loss": {"nan"},
    "gradual_unfreezing": {"unfrozen_parameter"},
}
"""By script: the conditions of which one is to be the first cause."""

NOT_FOUND: dict[str, str] = {
    "sac_with_reversed_temperature": "a temperature that falls steadily looks like one that learns",
    "recommender_with_bought_negatives": "only the data know which items are negative; a symptom is reported",
    "survival_with_reversed_censoring": "only the data know which of two columns is the event",
    "adversarial_training_downhill": "a perturbation goes either way by right",
    "conv_vae_with_drowned_reconstruction": "the reconstruction falls too, only more slowly",
    "ddpm_with_other_noise": "the noise is drawn outside the gradient call, where it is data",
    "made_that_sees_its_target": "a network that sees what it is to predict learns well",
    "dqn_with_stale_target": "a network that stays as it is may be fixed on purpose",
    "averaged_copy_that_hardly_moves": "so slow an average is right in a longer training",
    "gru_detached_every_step": "detached steps are right in an equilibrium network; a symptom is reported",
    "rnn_with_a_state_of_other_sequences": "a state is carried over by right if the sequences go on",
    "attention_to_the_padding": "only the data know which positions are padding",
    "siamese_with_reversed_labels": "only the data know which pairs are alike",
    "decoder_that_is_told_the_answer": "a network that sees what it is to predict learns well",
    "flow_with_a_reversed_determinant": "a tanh bounds the loss, which levels off like that of a flow that fits",
    "graph_network_with_returned_messages": "only the data know the direction of an edge",
    "pointer_network_goals": "scores of as many positions as samples look like those of pairs, which are meant",
    "neural_ode_circles": "a branch times zero is reported as a symptom, where its gradient is zero",
    "mixture_density_inverse": "the loss without the term is bounded, and falls",
    "unet_dice": "a product with the targets that becomes smaller is right where they are not to overlap",
    "keypoint_heat_maps": "a softmax over one of two axes is right in an attention",
    "memory_recall": "a state is carried over by right if the sequences go on; a symptom is reported",
    "pendulum_simulator": "targets that do not move are learned well",
    "lookahead_spirals": "weights that are set back are right in a restart",
    "dagger_steering": "only the data know which action belongs to an observation",
    "sensor_fusion": "one normalization of two kinds of inputs is right in a discriminator",
}
"""By script: why its fault is not found."""

SYMPTOMS_WITHOUT_FAULT: dict[str, str] = {
    "vqvae_without_straight_through": "its loss rises while the codes move, and is not below its beginning at the end"
}
"""By script: why a symptom, `loss_not_decreasing`, is reported without the fault."""

WITHOUT_STEPS = {"rbm_with_contrastive_divergence": "its gradients are computed by hand, and no network is called"}
"""By script: why a session sees no step, which it says."""

PLACES: dict[str, str] = {
    "moe_with_a_router_outside_the_gradient": "router",
    "experts_with_hard_choice": "router",
    "siren_with_a_shared_memory": "act",
    "dann_without_reversal": "reversal",
}
"""By script: a part of the place or path, where the condition alone does not say it."""


def is_right(cause: Cause, script: Script) -> bool:
    """Return whether a cause names what was planted in a script."""
    location = PLACES.get(script.name, "")
    return cause.condition in RIGHT.get(script.name, ()) and location in f"{cause.place} {cause.path} {cause.message}"
