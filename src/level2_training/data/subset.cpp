// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/subset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/batch_check.hpp"

namespace d5 {
namespace {

/// 0, 1, 2, ... in an order determined by `seed`.
std::vector<std::int64_t> drawn_order(std::int64_t size, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  RandomStream(seed, stream_of("split")).shuffle(order);
  return order;
}

std::shared_ptr<const Dataset> subset(std::shared_ptr<const Dataset> base,
                                      std::vector<std::int64_t> samples) {
  std::ranges::sort(samples);
  return std::make_shared<SubsetDataset>(std::move(base), std::move(samples));
}

}  // namespace

SubsetDataset::SubsetDataset(std::shared_ptr<const Dataset> base, std::vector<std::int64_t> samples)
    : base_(std::move(base)), samples_(std::move(samples)) {
  for (const std::int64_t sample : samples_) {
    if (sample >= 0 && sample < base_->size()) continue;
    throw ValueError(fmt::format("subset of dataset '{}': sample {} was asked for, but it has {}",
                                 printable(base_->name()), sample, base_->size()));
  }
}

std::string SubsetDataset::description() const {
  return fmt::format("{} samples of {}", size(), base_->description());
}

std::int64_t SubsetDataset::place(std::int64_t index) const {
  detail::check_index(*this, index);
  return samples_[std::size_t(index)];
}

std::string SubsetDataset::sample_name(std::int64_t index) const {
  return base_->sample_name(place(index));
}

Shape SubsetDataset::sample_shape(std::size_t field, std::int64_t index) const {
  return base_->sample_shape(field, place(index));
}

std::vector<std::int64_t> SubsetDataset::labels(std::string_view field) const {
  const std::vector<std::int64_t> all = base_->labels(field);
  std::vector<std::int64_t> some;
  some.reserve(samples_.size());
  for (const std::int64_t sample : samples_) some.push_back(all[std::size_t(sample)]);
  return some;
}

void SubsetDataset::read(std::span<const std::int64_t> indices, const Draw& draw,
                         std::span<Tensor> batch) const {
  // A buffer per thread, moved out while in use because the base may be a subset too.
  thread_local std::vector<std::int64_t> kept;
  std::vector<std::int64_t> places = std::move(kept);
  places.clear();
  for (const std::int64_t index : indices) places.push_back(place(index));
  base_->read(places, draw, batch);
  kept = std::move(places);
}

DatasetPair split(std::shared_ptr<const Dataset> dataset, double share, std::uint64_t seed) {
  const auto size = dataset->size();
  const std::int64_t second = share > 0 && share < 1 ? std::llround(double(size) * share) : 0;
  if (second < 1 || second >= size) {
    throw ValueError(
        fmt::format("split of dataset '{}': a share of {} of {} samples leaves a part "
                    "without samples; expected more than 0 and less than 1",
                    printable(dataset->name()), share, size));
  }
  std::vector<std::int64_t> order = drawn_order(size, seed);
  const auto middle = order.end() - second;
  std::vector<std::int64_t> held_out(middle, order.end());
  order.erase(middle, order.end());
  return {subset(dataset, std::move(order)), subset(dataset, std::move(held_out))};
}

std::shared_ptr<const Dataset> first_samples(std::shared_ptr<const Dataset> dataset,
                                             std::int64_t count) {
  if (count >= dataset->size()) return dataset;
  std::vector<std::int64_t> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), std::int64_t{0});
  return subset(std::move(dataset), std::move(samples));
}

std::shared_ptr<const Dataset> drawn_samples(std::shared_ptr<const Dataset> dataset,
                                             std::int64_t count, std::uint64_t seed) {
  if (count >= dataset->size()) return dataset;
  std::vector<std::int64_t> samples = drawn_order(dataset->size(), seed);
  samples.resize(std::size_t(count));
  return subset(std::move(dataset), std::move(samples));
}

void DatasetOptions::declare(OptionList& options) {
  options.add("train_samples", train_samples, "number of training samples to use; 0: all",
              {.least = 0});
  options.add("test_samples", test_samples, "number of test samples to use; 0: all", {.least = 0});
  options.add("choice", choice, "selection of these samples: the first, or drawn by split_seed",
              {"first", "drawn"});
  options.add("validation", validation,
              "share of the training samples, drawn by split_seed, that replaces the test part",
              {.least = 0, .below = 1});
  options.add("split_seed", split_seed, "seed of these draws, independent of training.seed");
}

DatasetPair DatasetOptions::parts_of(DatasetPair whole) const {
  if (validation > 0) whole = split(std::move(whole.train), validation, split_seed);
  const auto some = [&](std::shared_ptr<const Dataset>& part, std::int64_t count,
                        const char* name) {
    if (!part || count == 0) return;
    if (count > part->size()) {
      throw ValueError(fmt::format("data set '{}': {} is {}, but it has {} samples; 0 takes all",
                                   printable(part->name()), name, count, part->size()));
    }
    part = choice == Choice::first ? first_samples(std::move(part), count)
                                   : drawn_samples(std::move(part), count, split_seed);
  };
  some(whole.train, train_samples, "train_samples");
  some(whole.test, test_samples, "test_samples");
  return whole;
}

}  // namespace d5
