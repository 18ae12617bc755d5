// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/index_sampler.hpp"

namespace d5 {
namespace {

struct WeightedOptions : SamplerOptions {
  std::string weights, balance;
  std::int64_t draws = 0;
  void declare(OptionList& options) {
    SamplerOptions::declare(options);
    options.add("weights", weights,
                "text file of weights, one number per sample, separated by white space");
    options.add("balance", balance, "label field whose classes become equally likely");
    options.add("draws", draws, "samples per epoch; 0: as many as the dataset has", {.least = 0});
  }
};

/// Reads one weight per sample; none is negative and some are positive.
std::vector<double> read_weights(const std::string& path, std::int64_t samples) {
  constexpr std::size_t kMostBytesEach = 64;
  const std::string text = read_file(path, (std::size_t(samples) + 1) * kMostBytesEach);
  const char *place = text.data(), *const end = text.data() + text.size();
  std::vector<double> weights;
  std::int64_t line = 1;
  const auto fail = [&](const std::string& what) {
    throw FormatError(fmt::format("{}:{}: {}", printable(path), line, what));
  };
  for (;; ++place) {
    for (; place != end && std::isspace(static_cast<unsigned char>(*place)); ++place) {
      line += *place == '\n' ? 1 : 0;
    }
    if (place == end) break;
    const char* const after =
        std::find_if(place, end, [](unsigned char c) { return std::isspace(c); });
    double weight = 0;
    const auto [stopped, error] = std::from_chars(place, after, weight);
    if (error != std::errc{} || stopped != after || !std::isfinite(weight) || weight < 0) {
      fail(fmt::format("weight {} is '{}', expected a number of at least 0", weights.size(),
                       printable({place, after})));
    }
    weights.push_back(weight);
    place = after - 1;
  }
  if (std::int64_t(weights.size()) != samples) {
    fail(fmt::format("has {} weights, but the dataset has {} samples; give one a sample",
                     weights.size(), samples));
  }
  if (std::ranges::all_of(weights, [](double weight) { return weight == 0; })) {
    fail("all weights are 0, so nothing can be drawn; make some positive");
  }
  return weights;
}

std::vector<double> balanced_weights(const Dataset& dataset, const std::string& field) {
  const std::vector<std::int64_t> labels = dataset.labels(field);
  std::map<std::int64_t, double> members;
  for (const std::int64_t label : labels) ++members[label];
  std::vector<double> weights;
  for (const std::int64_t label : labels) weights.push_back(1 / members[label]);
  return weights;
}

std::vector<double> weights_of(const Dataset& dataset, const WeightedOptions& options) {
  if (!options.weights.empty() && !options.balance.empty()) {
    throw ValueError(
        fmt::format("sampler weighted: weights '{}' and balance '{}' are both given; "
                    "choose one",
                    printable(options.weights), printable(options.balance)));
  }
  if (!options.weights.empty()) return read_weights(options.weights, dataset.size());
  if (!options.balance.empty()) return balanced_weights(dataset, options.balance);
  return std::vector<double>(std::size_t(dataset.size()), 1.0);
}

/// Draws with replacement: each draw is independent, with probabilities proportional to the
/// weights.
class WeightedSampler final : public IndexSampler {
 public:
  using Options = WeightedOptions;
  WeightedSampler(std::shared_ptr<const Dataset> dataset, const Options& options)
      : IndexSampler(
            dataset, options,
            even_batches(*dataset, options, options.draws > 0 ? options.draws : dataset->size())),
        weights_(weights_of(*dataset, options)) {
    double sum = 0;
    for (const double weight : weights_) sums_.push_back(sum += weight);
    if (std::isfinite(sum)) return;
    throw ValueError(
        "sampler weighted: the sum of all weights is above the largest float64; scale "
        "them down");
  }

 private:
  [[nodiscard]] SamplerLaw promise() const override {
    SamplerLaw law{.draws = size().draws, .least = 0, .most = size().draws, .chances = weights_};
    for (double& chance : law.chances) chance /= sums_.back();
    return law;
  }
  void arrange(std::int64_t epoch, EpochOrder& order) override {
    RandomStream random = stream("weighted sampler", epoch);
    order.samples.resize(std::size_t(size().draws));
    for (std::int64_t& drawn : order.samples) {
      // The first sum above the number; a weight of 0 adds nothing, so its sum is never the first.
      // The product may round to the total, which belongs to the last weight above 0.
      const double number = random.uniform_double() * sums_.back();
      auto place = std::ranges::upper_bound(sums_, number);
      if (place == sums_.end()) place = std::ranges::lower_bound(sums_, sums_.back());
      drawn = place - sums_.begin();
    }
  }

  std::vector<double> weights_, sums_;
};

}  // namespace

namespace sampler {

void register_weighted(Registry<SamplerEntry>& registry) {
  registry.add("weighted",
               SamplerEntry::of<WeightedSampler>(
                   "weighted draws with replacement, by weights or by equally likely classes"));
}

}  // namespace sampler
}  // namespace d5
