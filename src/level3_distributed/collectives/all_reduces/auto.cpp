// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>

#include "d5/level3_distributed/collective.hpp"
#include "level3_distributed/collectives/parts/kept_by_communicator.hpp"
#include "level3_distributed/collectives/parts/measured_choice.hpp"

namespace d5::collective {
namespace {

/// For each size the one that was the fastest between as many ranks over the same medium. The first
/// on a communicator reads what was kept of it, or measures for a second or so, and waits until all
/// ranks have started it.
class AutoAllReduce final : public AllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) override {
    if (ranks.size() == 1) return ranks.start_all_reduce(data, reduction);
    const Choice& choice = choices_.of(ranks, [this](Communicator& all) {
      // Apart from what is under way on it, and counted there as what it is.
      auto made = std::make_unique<Choice>();
      made->table = detail::fastest_all_reduces(*all.split(0));
      chosen_ = to_string(made->table);
      return made;
    });
    const auto& name = detail::fastest_at(choice.table, std::int64_t(data.bytes())).name;
    auto& algorithm = algorithms_[name];
    if (!algorithm) algorithm = all_reduces().at(name).make();
    return algorithm->start(ranks, data, reduction);
  }
  std::string chosen() const override { return chosen_; }

 private:
  struct Choice {
    std::vector<detail::FastestAllReduce> table;
  };
  detail::KeptByCommunicator<Choice> choices_;
  std::map<std::string, std::shared_ptr<AllReduce>> algorithms_;
  std::string chosen_;
};

}  // namespace

void register_auto(Registry<AllReduceEntry>& registry) {
  registry.add("auto", AllReduceEntry::of<AutoAllReduce>(
                           "for each size the fastest between these ranks, measured once"));
}

}  // namespace d5::collective
