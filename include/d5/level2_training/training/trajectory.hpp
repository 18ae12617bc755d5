// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5 {

/// Where an optimizer that is compared with a reference has its gradients from.
enum class Loop {
  closed,  ///< its own network: differences of rounding grow as the loss makes them, up to chaos
  open     ///< the reference's at that step: nothing but the rules can differ, and their roundings
};

/// How far the parameters of two trajectories are apart, a number a step.
struct Divergence {
  struct OfParameter {
    std::string name;
    /// Euclidean norm, and largest element, of the difference, each in units of the larger one of
    /// the two parameters'. Infinite where one of them alone is not a number.
    std::vector<double> l2 = {}, largest = {};
  };
  std::vector<OfParameter> parameters;
  double epsilon = 0;  ///< of the least precise element type

  /// Over all parameters, after each step.
  [[nodiscard]] std::vector<double> largest() const;
};

/// Makes `steps` steps with both, from `reference`'s parameters and on the same batches, and
/// compares the parameters after each.
///
/// Throws: ShapeError, NotFound where the two networks' parameters are not the same; Unsupported
/// for an open loop of optimizers that are not in three steps, or ask for other gradients a step.
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), section V-D: the divergence of optimizers.
[[nodiscard]] Divergence divergence(Optimizer& subject, Optimizer& reference, Sampler& data,
                                    std::int64_t steps, Loop loop = Loop::closed);

/// Both loops over the steps, on a logarithmic axis: a colour a parameter, bold where the loop is
/// closed, faint where it is open. What is 0 has no place there.
[[nodiscard]] Plot divergence_plot(const std::string& title, const Divergence& closed,
                                   const Divergence& open = {});

}  // namespace d5
