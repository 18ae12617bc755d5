// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "d5/core/registry.hpp"
#include "d5/level1_network/network.hpp"

namespace d5 {

struct ModelOptions {
  std::uint64_t seed = 0;    ///< of the initial weights
  std::int64_t classes = 0;  ///< 0: the model's own number
  bool with_loss = false;    ///< adds input "label" (int64 N) and scalar output "loss"
  bool training = false;     ///< batch normalization and dropout in training mode
};

struct ModelEntry {
  std::string summary;  ///< "LeNet-5 for 28x28 images (LeCun et al., 1998)"
  std::function<Network(const ModelOptions&)> make;
};

/// Built-in networks: lenet, alexnet, resnet-18, resnet-50, and a user's.
[[nodiscard]] Registry<ModelEntry>& models();

}  // namespace d5
