// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <memory>
#include <string>
#include <vector>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::torch {

/// The ranks of a communicator as torch's process group for data parallelism: all_reduce,
/// broadcast.
///
/// A work is in flight when it is returned. `finish` completes its future on the calling thread,
/// because a communicator belongs to one thread, and torch waits for futures without driving their
/// work.
///
///     auto group = c10::make_intrusive<CommunicatorGroup>(ranks, all_reduce);
///     auto future = group->allreduce(tensors)->getFuture();
///     group->finish();
///     future->wait();
///
/// Throws: Unsupported for other calls by torch; as the communicator.
class CommunicatorGroup final : public c10d::ProcessGroup {
 public:
  /// `all_reduce` sums.
  CommunicatorGroup(std::shared_ptr<Communicator> ranks, std::shared_ptr<AllReduce> all_reduce);

  /// Progresses calls in flight, which otherwise stand still while the caller computes.
  void look();
  /// Waits for all calls in flight.
  void finish();

  const std::string getBackendName() const override { return "d5"; }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;

 private:
  c10::intrusive_ptr<c10d::Work> started(c10d::OpType kind, const std::vector<at::Tensor>& result,
                                         std::unique_ptr<Request> request);

  std::shared_ptr<Communicator> ranks_;
  std::shared_ptr<AllReduce> all_reduce_;
  std::vector<c10::intrusive_ptr<c10d::Work>> under_way_;
};

}  // namespace d5::torch
