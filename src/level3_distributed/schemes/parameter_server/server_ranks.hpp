// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level3_distributed/schemes/rank_role.hpp"

namespace d5::detail {

/// The ranks that train, and the ranks that hold a shard of the parameters.
class ServerRanks {
 public:
  enum class Kind {
    works,  ///< the first ranks serve, and also train
    serves  ///< the last ranks serve, and do nothing else
  };
  /// Throws: ValueError for fewer ranks than servers, or if none is left to train.
  ServerRanks(const std::string& scheme, int ranks, std::int64_t servers, Kind kind);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int shards() const { return shards_; }
  /// Number of ranks that train: ranks 0 to `workers()` - 1.
  [[nodiscard]] int workers() const { return kind_ == Kind::works ? ranks_ : ranks_ - shards_; }
  [[nodiscard]] bool works(int rank) const { return rank < workers(); }
  [[nodiscard]] int server_of(int shard) const {
    return kind_ == Kind::works ? shard : workers() + shard;
  }
  /// The shard of a rank; -1: none.
  [[nodiscard]] int shard_of(int rank) const;
  [[nodiscard]] bool serves(int rank) const { return shard_of(rank) >= 0; }
  [[nodiscard]] RankRole role(int rank) const;

 private:
  int ranks_, shards_;
  Kind kind_;
};

}  // namespace d5::detail
