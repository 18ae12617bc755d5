// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Freezes the parameters that match one of these glob(7) patterns: they become constants, keep
/// their values, and get no gradients. Returns their names. A pattern that matches only tensors
/// that are constant anyway (`Network::parameter_notes`) changes nothing.
///
///     freeze(network, {"features.*", "*.bias"});
///
/// Running statistics of a frozen batch normalization still follow the data in training.
/// Throws: NotFound for a pattern that matches no parameter, with the nearest name; ValueError if
/// no parameter would be left to train.
std::vector<std::string> freeze(Network& network, const std::vector<std::string>& patterns);

/// Turns these parameters into constants, be they all that the network has. Throws: NotFound.
void freeze_parameters(Network& network, const std::vector<std::string>& names);

/// Turns these constants into parameters again. Throws: NotFound, TypeError.
void unfreeze(Network& network, const std::vector<std::string>& names);

}  // namespace d5
