// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/parameter_server/server_ranks.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

ServerRanks::ServerRanks(const std::string& scheme, int ranks, std::int64_t servers, Kind kind)
    : ranks_(ranks), shards_(static_cast<int>(servers)), kind_(kind) {
  const int most = kind == Kind::works ? ranks : ranks - 1;
  if (servers >= 1 && servers <= most) return;
  throw ValueError(fmt::format(
      "{}: {} server{} among {} rank{}, expected 1 to {}{}; start more ranks, or ask for fewer",
      scheme, servers, servers == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s", most,
      kind == Kind::works ? "" : ", because one must train"));
}

int ServerRanks::shard_of(int rank) const {
  const int shard = rank - server_of(0);
  return shard >= 0 && shard < shards_ ? shard : -1;
}

RankRole ServerRanks::role(int rank) const {
  if (works(rank)) return {RankRole::Kind::worker, rank, workers()};
  return {RankRole::Kind::server, 0, workers()};
}

}  // namespace d5::detail
