// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/decorators/joint_end.hpp"

#include <algorithm>
#include <utility>

#include "level3_distributed/decorators/kept_until_exit.hpp"

namespace d5::detail {
namespace {

constexpr int kEndTag = 2;  // beside the tags of `CallWatch`

}  // namespace

/// A receive that is always posted; it outlives this object, with its tensor.
struct JointEnd::Ear {
  std::shared_ptr<Communicator> from;
  Tensor place = Tensor::zeros(DType::int64, {1});
  std::unique_ptr<Request> request = {};
};

JointEnd::JointEnd(std::shared_ptr<Communicator> notices)
    : notices_(std::move(notices)), ear_(std::make_shared<Ear>(Ear{.from = notices_})) {}

JointEnd::~JointEnd() {
  keep_until_exit(std::move(ear_));
  for (auto& request : sent_) keep_until_exit(std::move(request));
}

bool JointEnd::arrive(bool wishes) {
  ++places_;
  at_place_ = true;
  hear();
  if (wishes) tell();
  return !told_ || all_told();
}

bool JointEnd::all_told() {
  hear();
  return heard_ == notices_->size() - 1;
}

bool JointEnd::leave() {
  at_place_ = false;
  return told_ && places_ >= last_;
}

void JointEnd::hear() {
  while (heard_ < notices_->size() - 1) {
    if (!ear_->request) ear_->request = ear_->from->start_receive(ear_->place, kAnyRank, kEndTag);
    if (!ear_->request->done()) return;
    ear_->request.reset();
    last_ = std::max(last_, ear_->place.item<std::int64_t>());
    ++heard_;
    tell();
  }
}

void JointEnd::tell() {
  if (std::exchange(told_, true)) return;
  const std::int64_t next = at_place_ ? places_ : places_ + 1;
  last_ = std::max(last_, next);
  for (int rank = 0; rank < notices_->size(); ++rank) {
    if (rank == notices_->rank()) continue;
    sent_.push_back(notices_->start_send(Tensor::scalar(next), rank, kEndTag));
  }
}

}  // namespace d5::detail
