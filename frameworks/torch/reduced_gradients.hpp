// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level2_training/optimization/gradient_source.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"

namespace c10d {
class ProcessGroup;
class Reducer;
}  // namespace c10d

namespace d5::torch {

class CommunicatorGroup;

/// Options of torch's DistributedDataParallel. Units: bytes.
struct ReducerOptions {
  std::int64_t bucket_bytes = std::int64_t{25} << 20, first_bucket_bytes = std::int64_t{1} << 20;
  std::string hook = "none";  ///< "float16": buckets travel as such
};

/// Gradients over all ranks' samples. torch's `Reducer`, the engine of DistributedDataParallel, is
/// notified of each final gradient and averages them in its own buckets while backpropagation
/// continues. It works with any executor: a gradient is final when d5 announces it.
///
/// The Reducer must complete the last bucket within a backward pass of torch; so the last gradient
/// is announced within a small one.
class ReducedGradients final : public GradientDecorator {
 public:
  /// `own` is null if `group` belongs to another library.
  ReducedGradients(std::shared_ptr<GradientSource> inner, std::shared_ptr<Communicator> ranks,
                   c10::intrusive_ptr<c10d::ProcessGroup> group,
                   c10::intrusive_ptr<CommunicatorGroup> own, ReducerOptions options);
  ~ReducedGradients() override;
  ReducedGradients(const ReducedGradients&) = delete;
  ReducedGradients& operator=(const ReducedGradients&) = delete;

  const ValueMap& run(const Batch& batch, const GradientRun& how) override;
  [[nodiscard]] std::size_t parts() const override { return 1; }
  ParameterRange finish(std::size_t part) override;
  [[nodiscard]] bool announces() const override { return false; }
  [[nodiscard]] bool counted() override { return true; }
  double loss_of(const Batch& batch) override {
    return loss_weight().join(ranks_, inner().loss_of(batch), batch);
  }
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override {
    return loss_weight().join(ranks_, inner().loss_of_run(outputs, batch), batch);
  }

 private:
  class Listener;
  void make_reducer();
  void begin();
  /// Announces parameter `index` to the Reducer, or defers it to the end if it is the last.
  void ready(std::size_t index);
  void tell_last();

  CommunicatorAgreement ranks_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  c10::intrusive_ptr<CommunicatorGroup> own_;
  ReducerOptions options_;
  std::shared_ptr<Listener> listener_;
  std::unique_ptr<c10d::Reducer> reducer_;
  std::uint64_t revision_ = 0;
  std::size_t told_ = 0, count_ = 0;
  bool active_ = false;
};

}  // namespace d5::torch
