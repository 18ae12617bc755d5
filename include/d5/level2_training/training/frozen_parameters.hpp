// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Makes constants of the parameters that one of these glob(7) patterns matches, so that they stay
/// as they are while the others are trained; no gradient is computed for them. Returns their names.
/// A pattern that matches only what stays constant anyway (`Network::parameter_notes`) changes
/// nothing.
///
///     freeze(network, {"features.*", "*.bias"});
///
/// Running statistics of a frozen batch normalization still follow the data in training.
/// Throws: NotFound for a pattern that matches no parameter, with the nearest; ValueError where
/// nothing would be left to train.
std::vector<std::string> freeze(Network& network, const std::vector<std::string>& patterns);

/// Makes parameters of these constants again. Throws: NotFound, TypeError.
void unfreeze(Network& network, const std::vector<std::string>& names);

}  // namespace d5
