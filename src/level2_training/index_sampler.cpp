// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "d5/core/trace.hpp"
#include "d5/level2_training/sampler.hpp"

namespace d5 {

void SamplerOptions::declare(OptionList& options) {
  options.add("batch_size", batch_size, "samples in a batch", {.least = 1});
  options.add("tail", tail, "the last batch, if it is shorter", {"keep", "drop"});
  options.add("seed", seed, "of a random order");
}

IndexSampler::IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options)
    : dataset_(std::move(dataset)), options_(options) {
  const std::int64_t samples = dataset_->size();
  const auto& [batch_size, tail, seed] = options_;
  const auto who = [&] { return fmt::format("sampler of '{}'", printable(dataset_->name())); };
  if (samples < 1) throw ValueError(who() + ": the dataset is empty");
  if (batch_size < 1) {
    throw ValueError(fmt::format("{}: batch size is {}, expected at least 1", who(), batch_size));
  }
  const std::int64_t rest = samples % batch_size;
  batches_ = samples / batch_size + (tail == Tail::keep && rest > 0 ? 1 : 0);
  if (batches_ == 0) {
    throw ValueError(
        fmt::format("{}: {} samples make no whole batch of {}; keep the tail or choose "
                    "a smaller batch",
                    who(), samples, batch_size));
  }
  order_.resize(std::size_t(samples));
  full_ = make_buffer(std::min(batch_size, samples));
  if (tail == Tail::keep && rest > 0) tail_ = make_buffer(rest);
}

IndexSampler::Buffer IndexSampler::make_buffer(std::int64_t size) const {
  Buffer buffer;
  buffer.batch.size = size;
  for (const auto& [name, desc] : dataset_->fields()) {
    Shape shape{buffer.batch.size};
    for (const std::int64_t dim : desc.shape) shape.push_back(dim);
    buffer.fields.push_back(Tensor::empty(desc.dtype, shape));
    buffer.batch.values[name] = buffer.fields.back();
  }
  return buffer;
}

const Batch* IndexSampler::next() {
  if (index_ >= batches_) return nullptr;
  if (!arranged_) {
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    arrange(epoch_, order_);
    arranged_ = true;
  }
  const std::int64_t begin = index_ * options_.batch_size;
  const std::int64_t size = std::min(options_.batch_size, dataset_->size() - begin);
  Buffer& buffer = size == options_.batch_size || tail_.fields.empty() ? full_ : tail_;
  const Span span("data", [&] { return "read " + dataset_->name(); });
  dataset_->read({order_.data() + begin, std::size_t(buffer.batch.size)}, buffer.fields);
  buffer.batch.epoch = epoch_;
  buffer.batch.index = index_++;
  return &buffer.batch;
}

void IndexSampler::seek(std::int64_t epoch, std::int64_t index) {
  if (index < 0 || index > batches_ || epoch < 0) {
    throw ValueError(
        fmt::format("sampler of '{}': epoch {}, batch {} was asked for; an epoch has "
                    "batches 0 to {}",
                    printable(dataset_->name()), epoch, index, batches_ - 1));
  }
  if (epoch != epoch_) arranged_ = false;
  epoch_ = epoch;
  index_ = index;
}

}  // namespace d5
