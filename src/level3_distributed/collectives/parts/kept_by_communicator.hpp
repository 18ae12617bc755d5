// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// State of an algorithm for each communicator, for the lifetime of the communicator.
template <class State>
class KeptByCommunicator {
 public:
  /// The state for `ranks`; calls `make(ranks)` the first time.
  template <class Make>
  State& of(Communicator& ranks, const Make& make) {
    for (const Kept& kept : all_) {
      if (kept.address == &ranks && !kept.ranks.expired()) return *kept.state;
    }
    std::erase_if(all_, [](const Kept& kept) { return kept.ranks.expired(); });
    all_.push_back({&ranks, ranks.weak_from_this(), make(ranks)});
    return *all_.back().state;
  }

 private:
  struct Kept {
    Communicator* address;
    std::weak_ptr<Communicator> ranks;
    std::unique_ptr<State> state;
  };
  std::vector<Kept> all_;
};

}  // namespace d5::detail
