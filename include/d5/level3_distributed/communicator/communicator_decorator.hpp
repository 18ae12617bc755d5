// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// A communicator around another one that adds behaviour: delays, checks, faults. It counts and
/// notifies observers in place of the inner one, so that nothing counts twice.
///
/// A subclass overrides `do_start`, and `do_run` if blocking calls need not start and wait. Groups
/// are decorated as well.
class CommunicatorDecorator : public Communicator {
 public:
  explicit CommunicatorDecorator(std::shared_ptr<Communicator> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] int rank() const override { return inner_->rank(); }
  [[nodiscard]] int size() const override { return inner_->size(); }
  void abort(const std::string& reason) override { inner_->abort(reason); }
  [[nodiscard]] std::string medium() const override { return inner_->medium(); }
  [[nodiscard]] bool shares_nodes() const override { return inner_->shares_nodes(); }
  [[nodiscard]] int ranks_per_node() const override { return inner_->ranks_per_node(); }
  [[nodiscard]] std::chrono::nanoseconds longest_wait() const override {
    return inner_->longest_wait();
  }
  [[nodiscard]] Tensor scratch(const TensorDesc& desc, const Tensor& like) override {
    return inner_->scratch(desc, like);
  }
  void copy_local(Tensor& into, const Tensor& from) override { inner_->copy_local(into, from); }
  void reduce_local(Tensor& into, const Tensor& other, Reduction reduction) override {
    inner_->reduce_local(into, other, reduction);
  }
  void scale_local(Tensor& data, double factor) override { inner_->scale_local(data, factor); }
  [[nodiscard]] std::unique_ptr<Request> watch(const CommunicationCall& call,
                                               std::unique_ptr<Request> request) override {
    return inner_->watch(call, std::move(request));
  }

  void tell_failure() override { inner_->tell_failure(); }
  void forget_failures() override { inner_->forget_failures(); }
  [[nodiscard]] bool end_together(bool wishes) override { return inner_->end_together(wishes); }
  void answer_end() override { inner_->answer_end(); }

 protected:
  /// The same decoration around a group of the inner communicator.
  [[nodiscard]] virtual std::shared_ptr<Communicator> decorate(
      std::shared_ptr<Communicator> group) = 0;
  [[nodiscard]] std::unique_ptr<Request> do_start(const CommunicationCall& call) override {
    return start_inner(call);
  }
  [[nodiscard]] std::shared_ptr<Communicator> do_split(int color, int order) override;
  [[nodiscard]] std::shared_ptr<Communicator> do_group(const std::vector<int>& ranks) override;

  /// Starts the call on the inner communicator.
  [[nodiscard]] std::unique_ptr<Request> start_inner(const CommunicationCall& call) {
    return inner_->do_start(call);
  }
  void run_inner(const CommunicationCall& call) { inner_->do_run(call); }
  [[nodiscard]] Communicator& inner() const { return *inner_; }
  /// An undecorated, uncounted group of the same ranks, for the decorator's own messages. A
  /// collective.
  [[nodiscard]] std::shared_ptr<Communicator> own_group() const;
  /// The schedules of the outermost communicator, for the decorator that progresses them; null in a
  /// group.
  [[nodiscard]] std::shared_ptr<detail::SchedulesUnderWay> schedules_under_way() {
    (void)schedules();
    return parent_ ? nullptr : schedules_;
  }

 private:
  std::shared_ptr<Communicator> inner_;
};

}  // namespace d5
