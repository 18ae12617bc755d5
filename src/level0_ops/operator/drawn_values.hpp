// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// Whether a node draws random numbers, which another generator does not draw.
[[nodiscard]] bool draws_random_numbers(const onnx::Node& node);

/// The place in [0, 1) of every value that a node drew, in the distribution that its attributes and
/// inputs give it, as ONNX says: `Uniformity` tells whether the node draws from it.
///
/// A value that has a probability of its own has a range of places, of which `random` draws one;
/// so has one that more than one outcome gives, as a zero that dropout drops or keeps. `inputs` and
/// `outputs` are the node's, none where one is left out.
///
/// Source: Rueschendorf, "On the Distributional Transform, Sklar's Theorem, and the Empirical
/// Copula Process" (2009).
/// Throws: ValueError for a value that the node cannot draw, ShapeError for too few or many.
[[nodiscard]] std::vector<double> places_of_draws(const onnx::Node& node,
                                                  std::span<const Value> inputs,
                                                  std::span<const Value> outputs,
                                                  RandomStream& random);

}  // namespace d5
