// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/profile/network_bench.hpp"

namespace d5 {

/// Measures a step of stochastic gradient descent on one network in several frameworks,
/// interleaved, like `bench_network`. The network needs a scalar output "loss", which built-in ones
/// have; others get `loss`, an entry of `losses()` with its options:
/// "cross_entropy:classes_last=true". The command `d5 net bench --training`.
[[nodiscard]] std::vector<Measurement> bench_training_step(const std::string& model,
                                                           const NetworkBenchOptions& options = {},
                                                           const std::string& loss = {});

/// Compiles what `bench_training_step` would measure, without running it, like `plan_network`.
[[nodiscard]] std::vector<Measurement> plan_training_step(const std::string& model,
                                                          const NetworkBenchOptions& options = {},
                                                          const std::string& loss = {});

/// A training step of one network in one framework, ready for repeated runs. Its learning rate is
/// so small that the weights stay practically the same. `interrupt` ends the first step, and the
/// measurements of "auto" before it.
/// Throws: Unsupported for a network without a loss; Interrupted.
[[nodiscard]] Subject training_step_subject(const std::string& model, const std::string& framework,
                                            const OpenSizes& sizes = {},
                                            const ExecutorOptions& execution = {},
                                            const TransformChain& transforms = {},
                                            const Interrupt& interrupt = {});

}  // namespace d5
