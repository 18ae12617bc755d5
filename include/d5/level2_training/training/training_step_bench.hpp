// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/profile/network_bench.hpp"

namespace d5 {

/// What `d5 net bench --training` does: a step of stochastic gradient descent on one network in
/// several frameworks, interleaved. As `bench_network`; the network needs a scalar output "loss",
/// which built-in ones have, and another gets as `loss`, an entry of `losses()` and its options:
/// "cross_entropy:classes_last=true".
[[nodiscard]] std::vector<Measurement> bench_training_step(const std::string& model,
                                                           const NetworkBenchOptions& options = {},
                                                           const std::string& loss = {});

/// What it would measure, compiled and not run, as `plan_network`.
[[nodiscard]] std::vector<Measurement> plan_training_step(const std::string& model,
                                                          const NetworkBenchOptions& options = {},
                                                          const std::string& loss = {});

/// A training step of one network in one framework, ready to run again and again. Its learning rate
/// is so small that the weights stay themselves however many steps are run. `interrupt` ends the
/// first step, and what "auto" measures before.
/// Throws: Unsupported for a network without a loss; Interrupted.
[[nodiscard]] Subject training_step_subject(const std::string& model, const std::string& framework,
                                            const OpenSizes& sizes = {},
                                            const ExecutorOptions& execution = {},
                                            const TransformChain& transforms = {},
                                            const Interrupt& interrupt = {});

}  // namespace d5
