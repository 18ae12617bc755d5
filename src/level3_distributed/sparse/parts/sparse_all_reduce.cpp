// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"

namespace d5 {
namespace sparse {
void register_all(Registry<SparseAllReduceEntry>& registry);
}

Registry<SparseAllReduceEntry>& sparse_all_reduces() {
  static Registry<SparseAllReduceEntry> registry("sparse all-reduce", sparse::register_all);
  return registry;
}

}  // namespace d5
