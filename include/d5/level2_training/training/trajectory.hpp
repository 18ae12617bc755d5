// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5 {

/// Source of the gradients of an optimizer that is compared with a reference.
enum class Loop {
  closed,  ///< its own network: rounding differences grow over the steps, up to chaos
  open     ///< the reference's at that step: only the rules and their rounding can differ
};

/// Distance between the parameters of two trajectories, one number per step.
struct Divergence {
  struct OfParameter {
    std::string name;
    /// Euclidean norm and largest element of the difference, relative to the larger one of the two
    /// parameters'. Infinite if only one of them is NaN.
    std::vector<double> l2 = {}, largest = {};
  };
  std::vector<OfParameter> parameters;
  double epsilon = 0;  ///< machine epsilon of the least precise element type

  /// The largest difference over all parameters, after each step.
  [[nodiscard]] std::vector<double> largest() const;
};

/// Makes `steps` steps with both optimizers, from `reference`'s parameters and on the same batches,
/// and compares the parameters after each step.
///
/// Throws: ShapeError, NotFound if the two networks' parameters differ; Unsupported for an open
/// loop of optimizers that are not three-step ones, or that compute more gradients in a step.
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), section V-D: the divergence of optimizers.
[[nodiscard]] Divergence divergence(Optimizer& subject, Optimizer& reference, Sampler& data,
                                    std::int64_t steps, Loop loop = Loop::closed);

/// Both loops over the steps, on a logarithmic axis: one colour per parameter, bold for the closed
/// loop, faint for the open one. Zeros are left out.
[[nodiscard]] Plot divergence_plot(const std::string& title, const Divergence& closed,
                                   const Divergence& open = {});

}  // namespace d5
