// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/overlap/overlap_map.hpp"

namespace d5::detail {

/// Times of one pair, of the slowest rank.
struct PairTimes {
  double kernel_alone = 0, calls_alone = 0, kernel_beside = 0, calls_beside = 0;
  double uncovered = 0;  ///< above 0: on some rank the kernel was longer
};

/// One kernel beside one all-reduce with one set of resources.
class OverlapCellRun {
 public:
  /// `data`, of which all-reduces take one after the other, may be other cells' as well.
  OverlapCellRun(const OverlapKernel& kernel, const OverlapMapOptions& options,
                 const CommunicationResources& resources, std::vector<Tensor>& data,
                 Communicator& ranks);

  /// For other cells have had the caches since.
  void warm_up();
  /// Again where the kernel was not covered, with more calls.
  PairTimes pair();

  [[nodiscard]] const std::string& ignored() const { return ignored_; }
  [[nodiscard]] int repetitions() const { return repetitions_; }

 private:
  using Requests = std::vector<std::unique_ptr<Request>>;

  [[nodiscard]] double slowest(double mine);
  void compute() const;
  double time_kernel();
  Requests start(int calls);
  /// A call's share of several in a row, always as many: they have the caches among them.
  double time_calls();
  /// How often the kernel runs in a row, and how many calls cover that.
  void settle(double least_seconds);
  PairTimes once();

  const OverlapKernel& kernel_;
  Communicator& ranks_;
  std::shared_ptr<AllReduce> all_reduce_;
  std::shared_ptr<const CallOptions> call_;
  std::vector<Tensor>& data_;
  int repetitions_ = 1, calls_ = 1;
  std::size_t next_ = 0;  ///< of `data_`: each is as cold, whoever takes it
  std::string ignored_;
};

}  // namespace d5::detail
