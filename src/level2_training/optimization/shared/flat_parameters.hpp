// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5::detail {

/// All parameters of a network as one float64 vector; those on devices are copied.
[[nodiscard]] std::vector<double> flat_values(Network& network);
/// Their gradients, multiplied by `factor`.
[[nodiscard]] std::vector<double> flat_gradients(Network& network, double factor = 1);
/// Rounds to each parameter's type.
void set_values(Network& network, const std::vector<double>& values);
void set_gradients(Network& network, const std::vector<double>& gradients);

/// x . y, and x <- x + a y.
[[nodiscard]] double dot(const std::vector<double>& x, const std::vector<double>& y);
void add_times(std::vector<double>& x, double a, const std::vector<double>& y);
/// The largest |x_i|.
[[nodiscard]] double largest(const std::vector<double>& x);

}  // namespace d5::detail
