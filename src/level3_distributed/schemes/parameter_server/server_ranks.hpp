// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level3_distributed/schemes/rank_role.hpp"

namespace d5::detail {

/// Which ranks train, and which keep a shard of the parameters each.
class ServerRanks {
 public:
  enum class Kind {
    works,  ///< the first ranks are servers, and train as all do
    serves  ///< the last ranks are servers, and do nothing else
  };
  /// Throws: ValueError where there are not as many ranks, or none is left to train.
  ServerRanks(const std::string& scheme, int ranks, std::int64_t servers, Kind kind);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int shards() const { return shards_; }
  /// Ranks 0 to this one train.
  [[nodiscard]] int workers() const { return kind_ == Kind::works ? ranks_ : ranks_ - shards_; }
  [[nodiscard]] bool works(int rank) const { return rank < workers(); }
  [[nodiscard]] int server_of(int shard) const {
    return kind_ == Kind::works ? shard : workers() + shard;
  }
  /// -1: none.
  [[nodiscard]] int shard_of(int rank) const;
  [[nodiscard]] bool serves(int rank) const { return shard_of(rank) >= 0; }
  [[nodiscard]] RankRole role(int rank) const;

 private:
  int ranks_, shards_;
  Kind kind_;
};

}  // namespace d5::detail
