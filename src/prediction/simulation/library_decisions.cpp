// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/library_decisions.hpp"

#include <limits>
#include <span>

namespace d5::detail {
namespace {

/// A row applies below its numbers of ranks and bytes; the first match is taken.
struct DecisionRow {
  int ranks;
  std::int64_t bytes;
  const char* algorithm;
};
constexpr int kAnyRanks = std::numeric_limits<int>::max();
constexpr std::int64_t kAnyBytes = std::numeric_limits<std::int64_t>::max();

constexpr DecisionRow kAllReduce[] = {
    {4, 8, "ring"},
    {4, 4096, "recursive_doubling"},
    {4, 8192, "ring"},
    {4, 16384, "recursive_doubling"},
    {4, 65536, "ring"},
    {4, 262144, "segmented_ring"},
    {4, kAnyBytes, "rabenseifner"},
    {8, 16, "ring"},
    {8, 8192, "recursive_doubling"},
    {8, kAnyBytes, "rabenseifner"},
    {16, 8192, "recursive_doubling"},
    {16, kAnyBytes, "rabenseifner"},
    {32, 64, "segmented_ring"},
    {32, 4096, "recursive_doubling"},
    {32, kAnyBytes, "rabenseifner"},
    {64, 128, "segmented_ring"},
    {64, kAnyBytes, "rabenseifner"},
    {128, 262144, "recursive_doubling"},
    {128, kAnyBytes, "rabenseifner"},
    {256, 131072, "nonoverlapping"},
    {256, 262144, "recursive_doubling"},
    {256, kAnyBytes, "rabenseifner"},
    {512, 4096, "nonoverlapping"},
    {512, kAnyBytes, "rabenseifner"},
    {2048, 2048, "nonoverlapping"},
    {2048, 16384, "recursive_doubling"},
    {2048, kAnyBytes, "rabenseifner"},
    {4096, 2048, "nonoverlapping"},
    {4096, 4096, "segmented_ring"},
    {4096, 16384, "recursive_doubling"},
    {4096, kAnyBytes, "rabenseifner"},
    {kAnyRanks, 2048, "nonoverlapping"},
    {kAnyRanks, 16384, "segmented_ring"},
    {kAnyRanks, 32768, "recursive_doubling"},
    {kAnyRanks, kAnyBytes, "rabenseifner"},
};

constexpr DecisionRow kBroadcast[] = {
    {4, 32, "pipeline"},
    {4, 256, "binary_tree"},
    {4, 512, "pipeline"},
    {4, 1024, "knomial"},
    {4, 32768, "basic_linear"},
    {4, 131072, "binary_tree"},
    {4, 262144, "chain"},
    {4, 524288, "basic_linear"},
    {4, 1048576, "binomial"},
    {4, kAnyBytes, "binary_tree"},
    {8, 64, "binary_tree"},
    {8, 128, "binomial"},
    {8, 2048, "binary_tree"},
    {8, 8192, "binomial"},
    {8, 1048576, "basic_linear"},
    {8, kAnyBytes, "chain"},
    {16, 8, "knomial"},
    {16, 64, "binary_tree"},
    {16, 4096, "knomial"},
    {16, 16384, "binary_tree"},
    {16, 32768, "binomial"},
    {16, kAnyBytes, "basic_linear"},
    {32, 4096, "knomial"},
    {32, 1048576, "binomial"},
    {32, kAnyBytes, "scatter_allgather"},
    {64, 2048, "binomial"},
    {64, kAnyBytes, "knomial"},
    {128, kAnyBytes, "knomial"},
    {256, 2, "binomial"},
    {256, 16384, "binary_tree"},
    {256, 32768, "basic_linear"},
    {256, 65536, "binary_tree"},
    {256, kAnyBytes, "knomial"},
    {1024, 16384, "knomial"},
    {1024, 32768, "split_binary_tree"},
    {1024, kAnyBytes, "knomial"},
    {2048, 524288, "knomial"},
    {2048, kAnyBytes, "scatter_allgather"},
    {4096, 262144, "knomial"},
    {4096, kAnyBytes, "scatter_allgather"},
    {kAnyRanks, 8192, "knomial"},
    {kAnyRanks, 16384, "binary_tree"},
    {kAnyRanks, 262144, "knomial"},
    {kAnyRanks, kAnyBytes, "scatter_allgather"},
};

constexpr DecisionRow kAllGather[] = {
    {3, kAnyBytes, "two_proc"},
    {32, kAnyBytes, "recursive_doubling"},
    {64, 1024, "recursive_doubling"},
    {64, 65536, "neighbor"},
    {64, kAnyBytes, "ring"},
    {128, 512, "recursive_doubling"},
    {128, 65536, "neighbor"},
    {128, kAnyBytes, "ring"},
    {256, 512, "recursive_doubling"},
    {256, 131072, "neighbor"},
    {256, 524288, "ring"},
    {256, 1048576, "neighbor"},
    {256, kAnyBytes, "ring"},
    {512, 32, "recursive_doubling"},
    {512, 128, "bruck"},
    {512, 1024, "recursive_doubling"},
    {512, 131072, "neighbor"},
    {512, 524288, "ring"},
    {512, 1048576, "neighbor"},
    {512, kAnyBytes, "ring"},
    {1024, 64, "recursive_doubling"},
    {1024, 256, "bruck"},
    {1024, 2048, "recursive_doubling"},
    {1024, kAnyBytes, "neighbor"},
    {2048, 4, "recursive_doubling"},
    {2048, 8, "bruck"},
    {2048, 16, "recursive_doubling"},
    {2048, 32, "bruck"},
    {2048, 256, "recursive_doubling"},
    {2048, 512, "bruck"},
    {2048, 4096, "recursive_doubling"},
    {2048, kAnyBytes, "neighbor"},
    {4096, 32, "bruck"},
    {4096, 128, "recursive_doubling"},
    {4096, 512, "bruck"},
    {4096, 4096, "recursive_doubling"},
    {4096, kAnyBytes, "neighbor"},
    {kAnyRanks, 2, "recursive_doubling"},
    {kAnyRanks, 8, "bruck"},
    {kAnyRanks, 16, "recursive_doubling"},
    {kAnyRanks, 512, "bruck"},
    {kAnyRanks, 4096, "recursive_doubling"},
    {kAnyRanks, kAnyBytes, "neighbor"},
};

constexpr DecisionRow kReduceScatter[] = {
    {4, 4, "recursive_doubling"},
    {4, 8, "butterfly"},
    {4, 16, "recursive_halving"},
    {4, 128, "butterfly"},
    {4, 256, "recursive_halving"},
    {4, 4096, "butterfly"},
    {4, 8192, "recursive_halving"},
    {4, 131072, "butterfly"},
    {4, kAnyBytes, "basic_linear"},
    {8, 8, "recursive_halving"},
    {8, 32, "recursive_doubling"},
    {8, 256, "butterfly"},
    {8, 8192, "recursive_halving"},
    {8, 16384, "butterfly"},
    {8, 1048576, "recursive_halving"},
    {8, kAnyBytes, "basic_linear"},
    {16, 4, "basic_linear"},
    {16, 32, "recursive_halving"},
    {16, 128, "butterfly"},
    {16, 524288, "recursive_halving"},
    {16, 4194304, "basic_linear"},
    {16, kAnyBytes, "butterfly"},
    {32, 32, "basic_linear"},
    {32, 524288, "recursive_halving"},
    {32, 2097152, "basic_linear"},
    {32, 4194304, "recursive_halving"},
    {32, kAnyBytes, "butterfly"},
    {kAnyRanks, 4, "recursive_halving"},
    {kAnyRanks, 16, "basic_linear"},
    {kAnyRanks, 65536, "butterfly"},
    {kAnyRanks, 262144, "basic_linear"},
    {kAnyRanks, kAnyBytes, "butterfly"},
};

std::string_view decide(std::span<const DecisionRow> rows, int ranks, std::int64_t bytes) {
  for (const DecisionRow& row : rows) {
    if (ranks < row.ranks && bytes < row.bytes) return row.algorithm;
  }
  return rows.back().algorithm;
}

}  // namespace

std::string_view open_mpi_all_reduce(int ranks, std::int64_t bytes) {
  return decide(kAllReduce, ranks, bytes);
}
std::string_view open_mpi_broadcast(int ranks, std::int64_t bytes) {
  return decide(kBroadcast, ranks, bytes);
}
std::string_view open_mpi_all_gather(int ranks, std::int64_t bytes) {
  return decide(kAllGather, ranks, bytes);
}
std::string_view open_mpi_reduce_scatter(int ranks, std::int64_t bytes) {
  return decide(kReduceScatter, ranks, bytes);
}

}  // namespace d5::detail
