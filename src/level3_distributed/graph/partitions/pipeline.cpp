// SPDX-License-Identifier: Apache-2.0
// The partition `pipeline`: consecutive stages, balanced by work.

#include "level3_distributed/graph/stage_balance.hpp"

namespace d5::partition {
namespace {

/// Other costs: use `stage_starts` and `cut_into_stages`.
class Pipeline final : public Partition {
 public:
  using Options = detail::StageBalance;
  explicit Pipeline(const Options& options) : options_(options) {}

  [[nodiscard]] std::vector<NetworkPart> cut(const Network& network, int parts) const override {
    return cut_into_stages(network, detail::balanced_starts(network, parts, options_),
                           {.batch = options_.batch});
  }

 private:
  Options options_;
};

}  // namespace

void register_pipeline(Registry<PartitionEntry>& registry) {
  registry.add("pipeline",
               PartitionEntry::of<Pipeline>("pipeline stages in graph order, balanced by work"));
}

}  // namespace d5::partition
