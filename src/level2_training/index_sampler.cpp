// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/index_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"

namespace d5 {
namespace {

std::string who(const Dataset& dataset) {
  return fmt::format("sampler of '{}'", printable(dataset.name()));
}

}  // namespace

EpochSize IndexSampler::even_batches(const Dataset& dataset, const SamplerOptions& options,
                                     std::int64_t draws) {
  const auto& [batch_size, tail, seed] = options;
  if (dataset.size() < 1) throw ValueError(who(dataset) + ": the dataset is empty");
  if (batch_size < 1) {
    throw ValueError(
        fmt::format("{}: batch size is {}, expected at least 1", who(dataset), batch_size));
  }
  if (tail == Tail::keep) return {draws, (draws + batch_size - 1) / batch_size};
  const std::int64_t batches = draws / batch_size;
  if (batches == 0) {
    throw ValueError(
        fmt::format("{}: {} samples make no whole batch of {}; keep the tail or choose "
                    "a smaller batch",
                    who(dataset), draws, batch_size));
  }
  return {batches * batch_size, batches};
}

IndexSampler::IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options)
    : IndexSampler(dataset, options, even_batches(*dataset, options, dataset->size())) {}

IndexSampler::IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options,
                           EpochSize size)
    : dataset_(std::move(dataset)), options_(options), size_(size), batches_(size.batches) {
  buffer_of(std::min(options_.batch_size, size_.draws));
}

SamplerLaw IndexSampler::law() const {
  SamplerLaw law = promise();
  if (ranks_ == 1) return law;
  law.draws = 0;
  for (const Part& part : parts_) law.draws += part.size;
  law.least = 0;
  return law;
}

void IndexSampler::take_part(int rank, int ranks) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    throw ValueError(fmt::format("{}: part {} of {} was asked for; parts count from 0",
                                 who(*dataset_), rank, ranks));
  }
  rank_ = rank;
  ranks_ = ranks;
  arrange_epoch();
  batches_ = std::int64_t(parts_.size());
  buffers_.clear();
}

void IndexSampler::arrange_epoch() {
  order_.samples.resize(std::size_t(dataset_->size()));
  std::iota(order_.samples.begin(), order_.samples.end(), std::int64_t{0});
  order_.ends.resize(std::size_t(size_.batches));
  for (std::size_t i = 0; i < order_.ends.size(); ++i) {
    order_.ends[i] = std::min(std::int64_t(i + 1) * options_.batch_size, size_.draws);
  }
  arrange(epoch_, order_);
  const bool as_promised = std::int64_t(order_.ends.size()) == size_.batches &&
                           order_.ends.back() == size_.draws &&
                           std::int64_t(order_.samples.size()) >= size_.draws;
  if (!as_promised) {
    throw ValueError(
        fmt::format("{}: epoch {} has {} batches of {} samples, but {} of {} were "
                    "promised; every epoch has to be of the same size",
                    who(*dataset_), epoch_, order_.ends.size(), order_.ends.back(), size_.batches,
                    size_.draws));
  }
  parts_.clear();
  std::int64_t begin = 0;
  for (const std::int64_t end : order_.ends) {
    // Part r begins after r shares and one sample more for each of the first T mod n.
    const std::int64_t whole = end - begin, share = whole / ranks_, more = whole % ranks_;
    if (share > 0) {
      parts_.push_back({.begin = begin + rank_ * share + std::min<std::int64_t>(rank_, more),
                        .size = share + (rank_ < more ? 1 : 0),
                        .whole = whole});
    }
    begin = end;
  }
  arranged_ = true;
}

IndexSampler::Buffer& IndexSampler::buffer_of(std::int64_t size) {
  for (const auto& buffer : buffers_) {
    if (buffer->batch.size == size) return *buffer;
  }
  Buffer& buffer = *buffers_.emplace_back(std::make_unique<Buffer>());
  buffer.batch.size = size;
  buffer.fields = empty_batch(*dataset_, size);
  for (std::size_t f = 0; f < buffer.fields.size(); ++f) {
    buffer.batch.values[dataset_->fields()[f].name] = buffer.fields[f];
  }
  return buffer;
}

const Batch* IndexSampler::next() {
  if (index_ >= batches_) return nullptr;
  if (!arranged_) arrange_epoch();
  const Part& part = parts_[std::size_t(index_)];
  Buffer& buffer = buffer_of(part.size);
  const Span span("data", [&] { return "read " + dataset_->name(); });
  buffer.batch.samples = {order_.samples.data() + part.begin, std::size_t(part.size)};
  dataset_->read(buffer.batch.samples, {.seed = options_.seed, .epoch = epoch_}, buffer.fields);
  buffer.batch.epoch = epoch_;
  buffer.batch.global_size = ranks_ > 1 ? part.whole : 0;
  buffer.batch.index = index_++;
  return &buffer.batch;
}

void IndexSampler::seek(std::int64_t epoch, std::int64_t index) {
  if (index < 0 || index > batches_ || epoch < 0) {
    throw ValueError(
        fmt::format("{}: epoch {}, batch {} was asked for; an epoch has batches 0 to {}",
                    who(*dataset_), epoch, index, batches_ - 1));
  }
  if (epoch != epoch_) arranged_ = false;
  epoch_ = epoch;
  index_ = index;
}

}  // namespace d5
