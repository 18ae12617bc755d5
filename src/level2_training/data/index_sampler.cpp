// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/index_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "level2_training/data/batches/batch_loader.hpp"

namespace d5 {
namespace {

/// Fails in the sampler's own read-ahead thread, which would wait for itself.
void expect_outside(const detail::BatchLoader* loader) {
  if (loader) loader->expect_outside();
}

/// Samples 0, 1, 2, ... in even batches.
void fill_evenly(EpochOrder& order, std::int64_t samples, const EpochSize& size,
                 std::int64_t batch_size) {
  order.samples.resize(std::size_t(samples));
  std::iota(order.samples.begin(), order.samples.end(), std::int64_t{0});
  order.ends.resize(std::size_t(size.batches));
  for (std::size_t i = 0; i < order.ends.size(); ++i) {
    order.ends[i] = std::min(std::int64_t(i + 1) * batch_size, size.draws);
  }
}

std::string_view bytes_of(const std::vector<std::int64_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t)};
}

std::string who(const Dataset& dataset) {
  return fmt::format("sampler of '{}'", printable(dataset.name()));
}

}  // namespace

EpochSize IndexSampler::even_batches(const Dataset& dataset, const SamplerOptions& options,
                                     std::int64_t draws) {
  const std::int64_t batch_size = options.batch_size;
  if (dataset.size() < 1) throw ValueError(who(dataset) + ": the dataset is empty");
  if (batch_size < 1) {
    throw ValueError(
        fmt::format("{}: batch size is {}, expected at least 1", who(dataset), batch_size));
  }
  const std::int64_t batches = draws / batch_size;
  if (options.tail == Tail::keep) return {draws, batches + (draws % batch_size != 0)};
  if (batches == 0) {
    throw ValueError(
        fmt::format("{}: {} samples make no whole batch of {}; keep the tail or choose "
                    "a smaller batch",
                    who(dataset), draws, batch_size));
  }
  return {batches * batch_size, batches, draws % batch_size};
}

IndexSampler::IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options)
    : IndexSampler(dataset, options, even_batches(*dataset, options, dataset->size())) {}

IndexSampler::IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options,
                           EpochSize size)
    : dataset_(std::move(dataset)), options_(options), size_(size), batches_(size.batches) {
  for (const auto& field : dataset_->fields()) {
    if (field.desc.shape.is_static()) continue;
    const std::string length = detail::length_field(field.name);
    if (std::ranges::find(dataset_->fields(), length, &Dataset::Field::name) ==
        dataset_->fields().end()) {
      continue;
    }
    throw ValueError(
        fmt::format("{}: the lengths of its field '{}' are called '{}', which is a "
                    "field of its own; give that another name",
                    who(*dataset_), printable(field.name), printable(length)));
  }
}

IndexSampler::~IndexSampler() = default;

SamplerLaw IndexSampler::law() const {
  SamplerLaw law = promise();
  if (ranks_ == 1 && each_batch_ == 1) return law;
  law.draws = 0;
  for (const auto& plan : plans_) law.draws += std::int64_t(plan.samples.size());
  law.least = 0;
  return law;
}

std::map<std::string, std::string> IndexSampler::settings() const {
  // An order depends on epoch and seed alone: `arrange` keeps nothing but scratch memory.
  EpochOrder order;
  fill_evenly(order, dataset_->size(), size_, options_.batch_size);
  const_cast<IndexSampler&>(*this).arrange(0, order);
  const std::string digest =
      detail::Sha256().add(bytes_of(order.samples)).add(bytes_of(order.ends)).digest();
  return {{"batch_size", fmt::to_string(options_.batch_size)},
          {"order of the first epoch", "SHA-256 " + digest.substr(0, 8)},
          {"samples", fmt::to_string(dataset_->size())},
          {"seed", fmt::to_string(options_.seed)},
          {"tail", options_.tail == Tail::keep ? "keep" : "drop"}};
}

void IndexSampler::expect_part(int rank, int ranks) const {
  expect_outside(loader_.get());
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    throw ValueError(fmt::format("{}: part {} of {} was asked for; parts count from 0",
                                 who(*dataset_), rank, ranks));
  }
}

void IndexSampler::take_part(int rank, int ranks) {
  expect_part(rank, ranks);
  rank_ = rank;
  ranks_ = ranks;
  cut_anew();
}

void IndexSampler::take_batches(int rank, int ranks) {
  expect_part(rank, ranks);
  first_batch_ = rank;
  each_batch_ = ranks;
  cut_anew();
}

void IndexSampler::cut_anew() {
  loader_.reset();
  arrange_epoch();
  batches_ = std::int64_t(plans_.size());
}

void IndexSampler::read_ahead(int threads) {
  constexpr int kMost = 1024;
  if (threads < 0 || threads > kMost) {
    throw ValueError(fmt::format("{}: {} threads were asked for to read ahead; expected 0 to {}",
                                 who(*dataset_), threads, kMost));
  }
  expect_outside(loader_.get());
  threads_ = threads;
  loader_.reset();
}

void IndexSampler::arrange_epoch() {
  fill_evenly(order_, dataset_->size(), size_, options_.batch_size);
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
  count_draws();
  plan_batches();
  arranged_ = true;
}

void IndexSampler::count_draws() {
  const std::int64_t most = promise().most;
  draws_.clear();
  if (most <= 1) return;
  std::vector<std::int64_t> drawn(std::size_t(dataset_->size()), epoch_ * most);
  for (const std::int64_t sample : std::span(order_.samples).first(std::size_t(size_.draws))) {
    if (sample < 0 || sample >= dataset_->size()) {
      throw ValueError(fmt::format("{}: epoch {} draws sample {}, but there are {}", who(*dataset_),
                                   epoch_, sample, dataset_->size()));
    }
    draws_.push_back(drawn[std::size_t(sample)]++);
  }
}

void IndexSampler::plan_batches() {
  plans_.clear();
  std::int64_t begin = 0, batch = 0;
  for (const std::int64_t end : order_.ends) {
    const bool mine = batch++ % each_batch_ == first_batch_;
    // Part r starts after r shares, plus one sample for each earlier part among the first T mod n.
    const std::int64_t whole = end - begin, share = whole / ranks_, more = whole % ranks_;
    if (mine) {
      const auto first = std::size_t(begin + rank_ * share + std::min<std::int64_t>(rank_, more));
      const auto count = std::size_t(share + (rank_ < more ? 1 : 0));
      plans_.push_back({.epoch = epoch_,
                        .index = std::int64_t(plans_.size()),
                        .global_size = ranks_ > 1 ? whole : 0,
                        .samples = std::span(order_.samples).subspan(first, count)});
      if (!draws_.empty()) plans_.back().draws = std::span(draws_).subspan(first, count);
    }
    begin = end;
  }
}

const Batch* IndexSampler::next() {
  expect_outside(loader_.get());
  given_.reset();  // its memory is free
  if (index_ >= batches_) return nullptr;
  if (!arranged_) arrange_epoch();
  if (!loader_) {
    loader_ = std::make_unique<detail::BatchLoader>(detail::BatchSource{.dataset = dataset_,
                                                                        .seed = options_.seed,
                                                                        .pad = options_.pad,
                                                                        .one_draw = draws_.empty()},
                                                    threads_);
  }
  if (!loader_->started()) loader_->start(std::span(plans_).subspan(std::size_t(index_)));
  given_ = loader_->next();
  ++index_;
  return given_.get();
}

void IndexSampler::seek(std::int64_t epoch, std::int64_t index) {
  expect_outside(loader_.get());
  if (index < 0 || index > batches_ || epoch < 0) {
    throw ValueError(
        fmt::format("{}: epoch {}, batch {} was asked for; an epoch has batches 0 to {}",
                    who(*dataset_), epoch, index, batches_ - 1));
  }
  if (epoch == epoch_ && index == index_) return;
  if (loader_) loader_->stop();
  if (epoch != epoch_) arranged_ = false;
  epoch_ = epoch;
  index_ = index;
}

}  // namespace d5
