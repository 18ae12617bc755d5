// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// Whether a node draws random numbers, which differ between generators.
[[nodiscard]] bool draws_random_numbers(const onnx::Node& node);

/// The cumulative probability in [0, 1) of every drawn value, in the distribution given by the
/// node's attributes and inputs. `Uniformity` tests whether the node draws from that distribution.
///
/// A value of positive probability has a range of cumulative probabilities, of which `random` draws
/// one; so has a value with several possible causes, as a zero that dropout drops or keeps.
/// `inputs` and `outputs` are the node's, of kind none if omitted.
///
/// Source: Rueschendorf, "On the Distributional Transform, Sklar's Theorem, and the Empirical
/// Copula Process" (2009).
/// Throws: ValueError for a value that the node cannot draw, ShapeError for too few or many.
[[nodiscard]] std::vector<double> places_of_draws(const onnx::Node& node,
                                                  std::span<const Value> inputs,
                                                  std::span<const Value> outputs,
                                                  RandomStream& random);

}  // namespace d5
