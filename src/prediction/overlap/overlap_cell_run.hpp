// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/overlap/overlap_map.hpp"

namespace d5::detail {

/// Times of one pair on the slowest rank.
struct PairTimes {
  double kernel_alone = 0, calls_alone = 0, kernel_beside = 0, calls_beside = 0;
  double uncovered = 0;  ///< above 0: on some rank the kernel was longer
};

/// One kernel beside one all-reduce with one set of resources.
class OverlapCellRun {
 public:
  /// `data` are buffers that all-reduces use in turn; cells may share them.
  OverlapCellRun(const OverlapKernel& kernel, const OverlapMapOptions& options,
                 const CommunicationResources& resources, std::vector<Tensor>& data,
                 Communicator& ranks);

  /// Warms the caches, which other cells have used since.
  void warm_up();
  /// Measures a pair; repeats it with more calls if the kernel was not covered.
  PairTimes pair();

  [[nodiscard]] const std::string& ignored() const { return ignored_; }
  [[nodiscard]] int repetitions() const { return repetitions_; }

 private:
  using Requests = std::vector<std::unique_ptr<Request>>;

  [[nodiscard]] double slowest(double mine);
  void compute() const;
  double time_kernel();
  Requests start(int calls);
  /// Time per call in a fixed number of calls in a row, which share the caches.
  double time_calls();
  /// Determines the repetitions of the kernel, and the number of calls that cover them.
  void settle(double least_seconds);
  PairTimes once();

  const OverlapKernel& kernel_;
  Communicator& ranks_;
  std::shared_ptr<AllReduce> all_reduce_;
  std::shared_ptr<const CallOptions> call_;
  std::vector<Tensor>& data_;
  int repetitions_ = 1, calls_ = 1;
  std::size_t next_ = 0;  ///< index in `data_`: used in turn, so that all are equally cold
  std::string ignored_;
};

}  // namespace d5::detail
