// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/distributed_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"

namespace d5 {
namespace {

constexpr const char* kNumber = "number";

/// Samples that are their own numbers: what an order is made of.
class SampleNumbers final : public Dataset {
 public:
  explicit SampleNumbers(std::int64_t size) : size_(size) {}
  std::string name() const override { return "sample numbers"; }
  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, std::span<Tensor> batch) const override {
    std::copy(indices.begin(), indices.end(), batch[0].data<std::int64_t>());
  }

 private:
  std::int64_t size_;
  std::vector<Field> fields_{{kNumber, {DType::int64, {}}}};
};

}  // namespace

DistributedSampler::DistributedSampler(std::shared_ptr<const Dataset> dataset,
                                       const SamplerEntry& order, const Settings& settings,
                                       int rank, int ranks)
    : dataset_(std::move(dataset)),
      options_(read_shared_options<SamplerOptions>(settings)),
      rank_(rank),
      ranks_(ranks) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    throw ValueError(
        fmt::format("DistributedSampler: rank {} of {}; ranks count from 0", rank, ranks));
  }
  Settings of_all = settings;
  of_all.set("batch_size", options_.batch_size * ranks);
  order_ = order.make(std::make_shared<SampleNumbers>(dataset_->size()), of_all);
  for (const auto& field : dataset_->fields()) {
    std::vector<std::int64_t> dims{options_.batch_size};
    dims.insert(dims.end(), field.desc.shape.begin(), field.desc.shape.end());
    buffers_.push_back(Tensor::empty(field.desc.dtype, Shape(dims)));
  }
}

const Batch* DistributedSampler::next() {
  const Batch* whole = order_->next();
  if (!whole || whole->size < ranks_) return nullptr;
  // Part r begins after r parts of T / n samples and one sample more for each of the first T mod n.
  const std::int64_t share = whole->size / ranks_, more = whole->size % ranks_;
  const std::int64_t begin = rank_ * share + std::min<std::int64_t>(rank_, more);
  const std::int64_t size = share + (rank_ < more ? 1 : 0);

  mine_.size = size;
  mine_.epoch = whole->epoch;
  mine_.index = whole->index;
  mine_.global_size = whole->size;
  std::vector<Tensor> parts;
  for (const auto& buffer : buffers_) parts.push_back(buffer.slice(0, size));
  const auto numbers = whole->values.find(kNumber)->second.tensor().span<std::int64_t>();
  const Span span("data", [&] { return "read " + dataset_->name(); });
  dataset_->read(numbers.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size)),
                 parts);
  for (std::size_t f = 0; f < parts.size(); ++f) {
    mine_.values[dataset_->fields()[f].name] = std::move(parts[f]);
  }
  return &mine_;
}

std::int64_t DistributedSampler::batches() const {
  const std::int64_t tail = dataset_->size() % (options_.batch_size * ranks_);
  const bool dropped = options_.tail == Tail::keep && tail > 0 && tail < ranks_;
  return order_->batches() - (dropped ? 1 : 0);
}

}  // namespace d5
