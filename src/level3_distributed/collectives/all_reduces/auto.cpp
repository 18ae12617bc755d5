// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "level3_distributed/collectives/parts/kept_by_communicator.hpp"
#include "level3_distributed/collectives/parts/measured_choice.hpp"

namespace d5::collective {
namespace {

/// Delegates each size to the algorithm that was the fastest for this number of ranks and medium.
/// The first call on a communicator reads the cached choice, or measures for about two seconds, and
/// waits until all ranks have started it.
class AutoAllReduce final : public AllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) override {
    if (ranks.size() == 1) return ranks.start_all_reduce(data, reduction);
    return choice_of(ranks).at(data.bytes()).start(ranks, data, reduction);
  }
  void prepare(Communicator& ranks) override {
    if (ranks.size() > 1) choice_of(ranks).prepare(ranks);
  }
  std::string chosen() const override { return chosen_; }

 private:
  struct Range {
    std::size_t most_bytes;
    std::shared_ptr<AllReduce> algorithm;
  };
  struct Choice {
    std::vector<Range> ranges;  // by size; the last is for all larger sizes
    AllReduce& at(std::size_t bytes) {
      for (auto& range : ranges) {
        if (bytes <= range.most_bytes) return *range.algorithm;
      }
      return *ranges.back().algorithm;
    }
    void prepare(Communicator& ranks) {
      for (auto& range : ranges) range.algorithm->prepare(ranks);
    }
  };

  Choice& choice_of(Communicator& ranks) {
    return choices_.of(ranks, [this](Communicator& all) { return choose(all); });
  }
  std::unique_ptr<Choice> choose(Communicator& ranks) {
    // A separate group, so that requests in flight on `ranks` do not interfere. Traffic is still
    // counted.
    const auto table = detail::fastest_all_reduces(*ranks.split(0));
    chosen_ = detail::to_string(table);
    auto choice = std::make_unique<Choice>();
    for (std::size_t i = 0; i < table.size(); ++i) {
      auto& algorithm = algorithms_[table[i].name];
      if (!algorithm) algorithm = all_reduces().at(table[i].name).make();
      choice->ranges.push_back({detail::reach_of(table, i), algorithm});
    }
    return choice;
  }

  detail::KeptByCommunicator<Choice> choices_;
  std::map<std::string, std::shared_ptr<AllReduce>> algorithms_;
  std::string chosen_;
};

}  // namespace

void register_auto(Registry<AllReduceEntry>& registry) {
  registry.add("auto", AllReduceEntry::of<AutoAllReduce>(
                           "automatic choice: the fastest algorithm for each size, measured once"));
}

}  // namespace d5::collective
