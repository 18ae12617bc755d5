// SPDX-License-Identifier: Apache-2.0
#include "communicator_group.hpp"

#include <utility>

#include "d5/core/errors/error.hpp"
#include "tensor_view.hpp"

namespace d5::torch {
namespace {

/// The only tensor of a call, as a tensor of d5 on the same memory.
Tensor shared(const std::string& call, const std::vector<at::Tensor>& tensors) {
  if (tensors.size() != 1) {
    throw Unsupported(call + ": torch gives " + std::to_string(tensors.size()) +
                      " tensors, expected one per rank");
  }
  const at::Tensor& tensor = tensors.front();
  if (!tensor.device().is_cpu() || tensor.is_sparse() || !tensor.is_contiguous()) {
    throw Unsupported(call + ": torch gives a tensor of " + tensor.device().str() +
                      ", expected a dense and contiguous one of cpu");
  }
  return share(tensor.detach());
}

class StartedWork final : public c10d::Work {
 public:
  StartedWork(int rank, c10d::OpType kind, std::vector<at::Tensor> result,
              std::unique_ptr<Request> request)
      : c10d::Work(rank, kind),
        result_(std::move(result)),
        request_(std::move(request)),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {}

  bool isCompleted() override { return !request_ || request_->done(); }
  bool isSuccess() const override { return !request_; }
  bool wait(std::chrono::milliseconds) override {
    if (!request_) return true;
    const auto request = std::move(request_);
    request->wait();
    future_->markCompleted(c10::IValue(result_));
    return true;
  }
  std::vector<at::Tensor> result() override { return result_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  std::vector<at::Tensor> result_;
  std::unique_ptr<Request> request_;  // null: it is complete
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace

CommunicatorGroup::CommunicatorGroup(std::shared_ptr<Communicator> ranks,
                                     std::shared_ptr<AllReduce> all_reduce)
    : ProcessGroup(ranks->rank(), ranks->size()),
      ranks_(std::move(ranks)),
      all_reduce_(std::move(all_reduce)) {}

void CommunicatorGroup::look() {
  for (const auto& work : under_way_) (void)work->isCompleted();
}

void CommunicatorGroup::finish() {
  // Callbacks of a future may start more work.
  while (!under_way_.empty()) {
    for (const auto& work : std::exchange(under_way_, {})) work->wait(kNoTimeout);
  }
}

c10::intrusive_ptr<c10d::Work> CommunicatorGroup::started(c10d::OpType kind,
                                                          const std::vector<at::Tensor>& result,
                                                          std::unique_ptr<Request> request) {
  under_way_.push_back(
      c10::make_intrusive<StartedWork>(getRank(), kind, result, std::move(request)));
  return under_way_.back();
}

c10::intrusive_ptr<c10d::Work> CommunicatorGroup::allreduce(std::vector<at::Tensor>& tensors,
                                                            const c10d::AllreduceOptions& options) {
  if (options.reduceOp.op_ != c10d::ReduceOp::SUM) {
    throw Unsupported("all_reduce: torch asks for another reduction than a sum");
  }
  Tensor data = shared("all_reduce", tensors);
  return started(c10d::OpType::ALLREDUCE, tensors, all_reduce_->start(*ranks_, data));
}

c10::intrusive_ptr<c10d::Work> CommunicatorGroup::broadcast(std::vector<at::Tensor>& tensors,
                                                            const c10d::BroadcastOptions& options) {
  Tensor data = shared("broadcast", tensors);
  return started(c10d::OpType::BROADCAST, tensors,
                 ranks_->start_broadcast(data, static_cast<int>(options.rootRank)));
}

}  // namespace d5::torch
