// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/gradient_exchange.hpp"

#include <utility>

#include "level2_training/optimization/shared/on_host.hpp"

namespace d5::detail {

GradientExchange::GradientExchange(Communicator& communicator,
                                   std::shared_ptr<AllReduce> all_reduce, std::size_t bucket_bytes)
    : communicator_(communicator),
      all_reduce_(std::move(all_reduce)),
      bucket_bytes_(bucket_bytes) {}

void GradientExchange::lay_out(Network& network) {
  buckets_ = make_gradient_buckets(network.parameters(), bucket_bytes_);
  bucket_of_.assign(network.parameters().size(), 0);
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    for (std::size_t p = buckets_[b].begin; p < buckets_[b].end; ++p) bucket_of_[p] = b;
  }
  revision_ = network.revision();
}

void GradientExchange::begin(Network& network, double weight) {
  requests_.clear();
  if (revision_ != network.revision()) lay_out(network);
  missing_.resize(buckets_.size());
  for (std::size_t b = 0; b < buckets_.size(); ++b)
    missing_[b] = buckets_[b].end - buckets_[b].begin;
  weight_ = weight;
  started_ = 0;
  active_ = true;
}

void GradientExchange::gradient_ready(Parameter&, std::size_t index, Stream&) {
  if (!active_) return;
  // All-reduces take the host's memory, where a gradient is final at once: no stream to wait for.
  --missing_[bucket_of_[index]];
  while (started_ < buckets_.size() && missing_[started_] == 0) start_next();
  // Nothing else moves those under way on while this thread computes.
  for (auto& request : requests_) (void)request->done();
}

void GradientExchange::start_next() {
  Tensor& data = buckets_[started_++].data;
  if (weight_ != 1) scale(data, weight_);
  requests_.push_back(all_reduce_->start(communicator_, data));
}

void GradientExchange::start_rest() {
  while (started_ < buckets_.size()) start_next();
  active_ = false;
}

const GradientBucket& GradientExchange::finish(std::size_t i) {
  requests_[i]->wait();
  return buckets_[i];
}

}  // namespace d5::detail
