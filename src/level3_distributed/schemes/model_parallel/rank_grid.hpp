// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/rank_role.hpp"

namespace d5::detail {

/// A grid of ranks: `parts` consecutive ranks hold one model, a part each; the models are replicas.
class RankGrid {
 public:
  /// `parts` of 0: all ranks. Throws: ValueError, naming the option, if `parts` does not divide the
  /// number of ranks.
  RankGrid(const std::string& option, std::int64_t parts, int ranks);

  [[nodiscard]] int parts() const { return parts_; }
  [[nodiscard]] int replicas() const { return ranks_ / parts_; }
  [[nodiscard]] int part_of(int rank) const { return rank % parts_; }
  [[nodiscard]] int replica_of(int rank) const { return rank / parts_; }
  [[nodiscard]] RankRole role(int rank) const {
    return {.share = replica_of(rank), .shares = replicas()};
  }

  /// The ranks of this rank's model, and the ranks with the same part. Collectives.
  [[nodiscard]] std::shared_ptr<Communicator> model(Communicator& ranks) const {
    return ranks.split(replica_of(ranks.rank()));
  }
  [[nodiscard]] std::shared_ptr<Communicator> same_part(Communicator& ranks) const {
    return ranks.split(part_of(ranks.rank()));
  }

 private:
  int parts_, ranks_;
};

}  // namespace d5::detail
