// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Options of every built-in network; a user's may have others.
struct ModelOptions {
  std::uint64_t seed = 0;
  bool with_loss = false;
  bool training = false;

  void declare(OptionList& options);
};

/// Options of a classifier.
struct ClassifierOptions : ModelOptions {
  std::int64_t classes = 0;

  void declare(OptionList& options);
  [[nodiscard]] std::int64_t classes_or(std::int64_t usual) const {
    return classes > 0 ? classes : usual;
  }
};

using ModelEntry = Entry<Network()>;

/// Registered networks: built-in ones, from lenet to transformer-encoder, and a user's.
///
///     Network network = models().at("lenet").make({{"seed", 1}, {"with_loss", true}});
[[nodiscard]] Registry<ModelEntry>& models();

}  // namespace d5
