// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <exception>
#include <memory>

#include "d5/level3_distributed/collective.hpp"
#include "level3_distributed/collectives/parts/reduce_elements.hpp"

namespace d5::collective {
namespace {

/// One all-reduce under way. The data is cut into n parts. In n - 1 steps each rank passes a part
/// to its right neighbour and adds what comes from the left, after which rank r holds part r + 1
/// summed; in n - 1 more steps the sums go round. A rank sends 2 (n - 1) / n of the data, the least
/// possible.
///
/// Part p is summed in the order of ranks p, p + 1, ..., p - 1 and then copied, so every rank has
/// the same bits, whatever the timing.
class RingRequest final : public Request {
 public:
  RingRequest(Communicator& communicator, const Tensor& data, Reduction reduction, int tag)
      : communicator_(communicator),
        data_(data.reshaped({data.elements()})),
        reduction_(reduction),
        ranks_(communicator.size()),
        tag_(tag) {
    const std::int64_t longest = (data_.elements() + ranks_ - 1) / ranks_;
    incoming_ = Tensor::empty(data_.dtype(), {longest});
    if (!complete()) start_step();
  }
  ~RingRequest() override {
    if (std::uncaught_exceptions() == exceptions_) wait();
  }

  void wait() override {
    while (!complete()) {
      receiving_->wait();
      sending_->wait();
      end_step();
    }
  }

  bool done() override {
    while (!complete() && receiving_->done() && sending_->done()) end_step();
    return complete();
  }

 private:
  [[nodiscard]] bool complete() const { return step_ == 2 * (ranks_ - 1); }
  [[nodiscard]] bool reduces() const { return step_ < ranks_ - 1; }

  /// Part `p` counted around the ring.
  [[nodiscard]] Tensor part(int p) const {
    p = ((p % ranks_) + ranks_) % ranks_;
    return data_.slice(data_.elements() * p / ranks_, data_.elements() * (p + 1) / ranks_);
  }

  void start_step() {
    const int rank = communicator_.rank();
    const int right = (rank + 1) % ranks_, left = (rank + ranks_ - 1) % ranks_;
    target_ = part(rank - step_ - 1);
    arriving_ = reduces() ? incoming_.slice(0, target_.elements()) : target_;
    receiving_ = communicator_.start_receive(arriving_, left, tag_);
    sending_ = communicator_.start_send(part(rank - step_), right, tag_);
  }

  void end_step() {
    if (reduces()) detail::reduce_elements(target_, arriving_, reduction_);
    ++step_;
    if (!complete()) start_step();
  }

  Communicator& communicator_;
  Tensor data_;
  Reduction reduction_;
  int ranks_, tag_;
  int step_ = 0;  // [0, n - 1) reduces, [n - 1, 2n - 2) passes the sums on
  int exceptions_ = std::uncaught_exceptions();
  Tensor incoming_;  // memory for a part of the left neighbour's
  Tensor target_, arriving_;
  std::unique_ptr<Request> receiving_, sending_;
};

class RingAllReduce final : public AllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                 Reduction reduction) override {
    // Several rings may be under way: each has a tag of its own, the same on all ranks since all
    // start them in the same order.
    const int tag = kFirstTag + started_++ % kTags;
    return std::make_unique<RingRequest>(communicator, data, reduction, tag);
  }

 private:
  static constexpr int kFirstTag = 16384, kTags = 16384;
  int started_ = 0;
};

}  // namespace

/// Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
/// Workstations" (JPDC 2009).
void register_ring(Registry<AllReduceEntry>& registry) {
  registry.add("ring", AllReduceEntry::of<RingAllReduce>(
                           "d5's own ring over send and receive (Patarasuk and Yuan, 2009)"));
}

}  // namespace d5::collective
