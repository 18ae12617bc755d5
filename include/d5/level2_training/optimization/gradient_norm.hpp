// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Euclidean norm of a tensor's elements. Summed in float64 by blocks in a fixed order, so it does
/// not depend on the number of threads. Throws: TypeError for other types than real numbers.
[[nodiscard]] double norm_of(const Tensor& tensor);
/// Square of the norm; parts of a norm are added in this form.
[[nodiscard]] double sum_of_squares(const Tensor& tensor);
/// Norm of all gradients of a network together.
[[nodiscard]] double gradient_norm(Network& network);

}  // namespace d5
