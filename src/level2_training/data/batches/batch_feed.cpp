// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/batch_feed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

namespace d5 {

const ValueMap& BatchFeed::of(const Network& network, const Batch& batch) {
  if (network.revision() != revision_) {
    inputs_ = network.input_names();
    revision_ = network.revision();
    fed_.clear();
  }
  for (const std::string& name : inputs_) {
    const auto field = batch.values.find(name);
    if (field == batch.values.end()) {
      throw NotFound(fmt::format("network '{}' has an input '{}', but a batch holds only {}",
                                 printable(network.name()), printable(name),
                                 fmt::join(batch.values | std::views::keys, ", ")));
    }
    // Assigning to a value of the same kind and rank reuses its memory.
    fed_[name] = field->second;
  }
  return fed_;
}

}  // namespace d5
