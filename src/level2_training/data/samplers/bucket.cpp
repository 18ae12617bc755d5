// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/index_sampler.hpp"

namespace d5 {
namespace {

struct BucketOptions : SamplerOptions {
  std::string field;
  std::int64_t dimension = 0;
  std::vector<double> boundaries;
  void declare(OptionList& options) {
    SamplerOptions::declare(options);
    options.add("field", field,
                "field whose length counts; default: the first with an open dimension");
    options.add("dimension", dimension, "dimension of that field that is its length", {.least = 0});
    options.add("boundaries", boundaries, "lengths at which a bucket begins, ascending",
                {.least = 1});
  }
};

/// The length of every sample; 0 for all if no field is named and none has an open dimension.
std::vector<std::int64_t> lengths_of(const Dataset& dataset, const BucketOptions& options) {
  const auto& fields = dataset.fields();
  const auto chosen = std::ranges::find_if(fields, [&](const Dataset::Field& field) {
    return options.field.empty() ? !field.desc.shape.is_static() : field.name == options.field;
  });
  std::vector<std::int64_t> lengths(std::size_t(dataset.size()), 0);
  if (chosen == fields.end() && options.field.empty()) return lengths;
  if (chosen == fields.end()) {
    throw NotFound(fmt::format("sampler bucket: dataset '{}' has no field '{}'",
                               printable(dataset.name()), printable(options.field)));
  }
  if (options.dimension >= std::int64_t(chosen->desc.shape.rank())) {
    throw ValueError(
        fmt::format("sampler bucket: dimension {} of field '{}' was asked for, which "
                    "is {}; they count from 0",
                    options.dimension, printable(chosen->name), to_string(chosen->desc.shape)));
  }
  const auto field = std::size_t(chosen - fields.begin());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = dataset.sample_shape(field, std::int64_t(i))[std::size_t(options.dimension)];
  }
  return lengths;
}

/// The samples of each bucket.
using Buckets = std::vector<std::vector<std::int64_t>>;

Buckets buckets_of(const Dataset& dataset, const BucketOptions& options) {
  const auto& bounds = options.boundaries;
  if (std::ranges::adjacent_find(bounds, std::greater_equal<>{}) != bounds.end()) {
    throw ValueError(
        fmt::format("sampler bucket: boundaries {} do not rise; expected each to be "
                    "larger than the one before",
                    fmt::join(bounds, ",")));
  }
  Buckets buckets(bounds.size() + 1);
  const auto lengths = lengths_of(dataset, options);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto bucket = std::ranges::upper_bound(bounds, double(lengths[i])) - bounds.begin();
    buckets[std::size_t(bucket)].push_back(std::int64_t(i));
  }
  return buckets;
}

/// Batches of samples of similar length, for little padding. A batch is drawn within a bucket, and
/// the batches of all buckets come in random order. Each bucket has its own tail.
class BucketSampler final : public IndexSampler {
 public:
  using Options = BucketOptions;
  BucketSampler(std::shared_ptr<const Dataset> dataset, const Options& options)
      : BucketSampler(dataset, options, buckets_of(*dataset, options)) {}

 private:
  BucketSampler(std::shared_ptr<const Dataset> dataset, const Options& options, Buckets buckets)
      : IndexSampler(dataset, options, size_of_all(*dataset, options, buckets)),
        buckets_(std::move(buckets)) {}

  static EpochSize size_of_all(const Dataset& dataset, const Options& options,
                               const Buckets& buckets) {
    EpochSize all;
    std::int64_t largest = 0;
    for (const auto& bucket : buckets) {
      const auto samples = std::int64_t(bucket.size());
      largest = std::max(largest, samples);
      if (options.tail == Tail::drop && samples < options.batch_size) all.left_out += samples;
      if (samples == 0 || (options.tail == Tail::drop && samples < options.batch_size)) continue;
      const EpochSize one = even_batches(dataset, options, samples);
      all.draws += one.draws;
      all.batches += one.batches;
      all.left_out += one.left_out;
    }
    if (all.batches == 0) return even_batches(dataset, options, largest);  // says what is wrong
    return all;
  }

  void arrange(std::int64_t epoch, EpochOrder& order) override {
    RandomStream random = stream("bucket sampler", epoch);
    shuffled_.clear();
    batches_.clear();
    for (const auto& bucket : buckets_) {
      const std::size_t begin = shuffled_.size();
      shuffled_.insert(shuffled_.end(), bucket.begin(), bucket.end());
      const auto mine = std::span(shuffled_).subspan(begin);
      random.shuffle(mine);
      const auto most = std::size_t(options().batch_size);
      for (std::size_t first = 0; first < mine.size(); first += most) {
        const std::size_t count = std::min(most, mine.size() - first);
        if (count == most || options().tail == Tail::keep) {
          batches_.push_back({begin + first, count});
        }
      }
    }
    places_.resize(batches_.size());
    std::iota(places_.begin(), places_.end(), std::int64_t{0});
    random.shuffle(places_);
    order = {};
    for (const std::int64_t place : places_) {
      const auto [first, count] = batches_[std::size_t(place)];
      const auto begin = shuffled_.begin() + std::ptrdiff_t(first);
      order.samples.insert(order.samples.end(), begin, begin + std::ptrdiff_t(count));
      order.ends.push_back(std::int64_t(order.samples.size()));
    }
  }

  struct Range {
    std::size_t first, count;  // range in `shuffled_`
  };
  Buckets buckets_;
  std::vector<std::int64_t> shuffled_, places_;
  std::vector<Range> batches_;
};

}  // namespace

namespace sampler {

void register_bucket(Registry<SamplerEntry>& registry) {
  registry.add("bucket",
               SamplerEntry::of<BucketSampler>("bucketing: batches of samples of similar length"));
}

}  // namespace sampler
}  // namespace d5
