// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/dataset_metrics.hpp"
#include "d5/level2_training/validation/training_validation.hpp"

namespace d5 {
namespace {

Measurement sampler_record(const std::string& subject, const std::string& metric,
                           const std::string& unit, Quantity quantity, Statistic::Of statistic) {
  Measurement result;
  result.subject = subject;
  result.level = "training";
  result.framework = "reference";
  result.metric = metric;
  result.unit = unit;
  result.quantity = quantity;
  result.statistic = {.of = statistic};
  return result;
}

/// The same samples without reading them: an order can be checked without the data.
class Unread final : public Dataset {
 public:
  explicit Unread(std::shared_ptr<const Dataset> data) : data_(std::move(data)) {}
  [[nodiscard]] std::string name() const override { return data_->name(); }
  [[nodiscard]] std::int64_t size() const override { return data_->size(); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return data_->fields(); }
  [[nodiscard]] Shape sample_shape(std::size_t field, std::int64_t index) const override {
    return data_->sample_shape(field, index);
  }
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view field) const override {
    return data_->labels(field);
  }
  void read(std::span<const std::int64_t>, const Draw&, std::span<Tensor> batch) const override {
    for (std::size_t f = 0; f < batch.size(); ++f) {
      if (batch[f].defined()) continue;  // known shape
      Shape none{1};
      for (const std::int64_t dim : fields()[f].desc.shape)
        none.push_back(std::max<std::int64_t>(dim, 0));
      batch[f] = Tensor::empty(fields()[f].desc.dtype, none);
    }
  }

 private:
  std::shared_ptr<const Dataset> data_;
};

using Batches = std::vector<std::vector<std::int64_t>>;

Batches rest_of_epoch(Sampler& sampler) {
  Batches batches;
  while (const Batch* batch = sampler.next()) {
    if (std::int64_t(batch->samples.size()) != batch->size) {
      throw Unsupported(
          fmt::format("the sampler of '{}' does not say which samples are in a batch "
                      "(Batch::samples), so its order cannot be judged",
                      printable(sampler.dataset().name())));
    }
    batches.emplace_back(batch->samples.begin(), batch->samples.end());
  }
  return batches;
}

/// The number of draws too many or too few by the law for one epoch, and a reason; empty if the law
/// holds.
struct Breach {
  std::int64_t wrong = 0;
  std::string reason;
};

Breach breach(const SamplerLaw& law, const Batches& batches, std::int64_t samples) {
  std::vector<std::int64_t> drawn(std::size_t(samples), 0);
  std::int64_t draws = 0;
  for (const auto& batch : batches) {
    for (const std::int64_t sample : batch) ++drawn[std::size_t(sample)];
    draws += std::int64_t(batch.size());
  }
  std::int64_t often = 0, seldom = 0;
  for (const std::int64_t times : drawn) {
    often += std::max<std::int64_t>(0, times - law.most);
    seldom += std::max<std::int64_t>(0, law.least - times);
  }
  const std::int64_t may_be_missing = std::max<std::int64_t>(0, law.least * samples - law.draws);
  Breach result;
  result.wrong =
      often + std::max<std::int64_t>(0, seldom - may_be_missing) + std::abs(draws - law.draws);
  if (result.wrong == 0) return result;
  result.reason = fmt::format(
      "{} draws, {} promised; {} samples are drawn more often than {}, {} less often than {}, of "
      "which {} may be missing",
      draws, law.draws, often, law.most, seldom, law.least, may_be_missing);
  return result;
}

/// Pearson's statistic of the number of draws of each sample, over as many epochs, in standard
/// deviations from its expectation: its mean is n - 1, its variance 2 (n - 1).
double surprise(const std::vector<double>& chances, const std::vector<std::int64_t>& drawn) {
  std::int64_t draws = 0;
  for (const std::int64_t times : drawn) draws += times;
  double sum = 0;
  std::int64_t possible = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const double expected = chances[i] * double(draws);
    if (expected == 0) {
      if (drawn[i] > 0) return INFINITY;
      continue;
    }
    sum += (double(drawn[i]) - expected) * (double(drawn[i]) - expected) / expected;
    ++possible;
  }
  const double freedom = double(possible - 1);
  return freedom > 0 ? (sum - freedom) / std::sqrt(2 * freedom) : 0;
}

}  // namespace

std::vector<Measurement> test_sampler(const SamplerEntry& entry,
                                      std::shared_ptr<const Dataset> data, const Settings& settings,
                                      std::int64_t epochs) {
  if (epochs < 1) {
    throw ValueError(fmt::format("test_sampler: {} epochs, expected 1 or more", epochs));
  }
  const std::string subject = fmt::format("sampler over {}", printable(data->name()));
  Measurement coverage =
      sampler_record(subject, "sampler_coverage", "1", Quantity::error, Statistic::Of::maximum);
  Measurement repeatability = sampler_record(subject, "sampler_repeatability", "1", Quantity::error,
                                             Statistic::Of::maximum);
  const auto unread = std::make_shared<Unread>(data);
  const auto order = entry.make(unread, settings);
  const SamplerLaw law = order->law();
  std::vector<std::int64_t> drawn(std::size_t(data->size()), 0);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    order->reset(epoch);
    const Batches batches = rest_of_epoch(*order);
    for (const auto& batch : batches) {
      for (const std::int64_t sample : batch) ++drawn[std::size_t(sample)];
    }
    const Breach found = breach(law, batches, data->size());
    coverage.samples.push_back(double(found.wrong));
    if (found.wrong > 0) {
      coverage.status = Status::failed;
      coverage.reason = fmt::format("epoch {}: {}", epoch, found.reason);
    }

    const auto again = entry.make(unread, settings);
    const std::int64_t middle = std::int64_t(batches.size()) / 2;
    again->seek(epoch, middle);
    const auto second_half = rest_of_epoch(*again);
    again->reset(epoch);
    const auto whole = rest_of_epoch(*again);
    std::int64_t different = std::abs(std::int64_t(whole.size()) - std::int64_t(batches.size()));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      different += i >= whole.size() || whole[i] != batches[i] ? 1 : 0;
      if (std::int64_t(i) < middle) continue;
      const std::size_t j = i - std::size_t(middle);
      different += j >= second_half.size() || second_half[j] != batches[i] ? 1 : 0;
    }
    repeatability.samples.push_back(double(different));
    if (different > 0) {
      repeatability.status = Status::failed;
      repeatability.reason =
          fmt::format("epoch {}: {} batches differ when it is drawn again", epoch, different);
    }
  }

  // A fair sampler is as far off once in 10^9: the tails of Pearson's statistic are wider than
  // normal.
  constexpr double kMostSurprise = 8;
  if (!law.chances.empty() && surprise(law.chances, drawn) > kMostSurprise) {
    coverage.status = Status::failed;
    coverage.reason = fmt::format(
        "samples do not follow their probabilities: {:.1f} standard deviations off, {} at most",
        surprise(law.chances, drawn), kMostSurprise);
  }
  std::vector<Measurement> results{coverage, repeatability};
  Measurement latency =
      sampler_record(subject, "dataset_latency", "s", Quantity::time, Statistic::Of::quantile);
  DatasetBias bias;
  bool labelled = false;
  for (const auto& field : data->fields()) labelled |= field.name == "label";
  const auto sampler = entry.make(data, settings);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    sampler->reset(epoch);
    for (;;) {
      // The measured time is that of one call of the sampler, including the reading of the dataset.
      const double begin = now_seconds();
      const Batch* batch = sampler->next();
      const double end = now_seconds();
      if (!batch) break;
      latency.samples.push_back(end - begin);
      if (labelled) bias.count(*batch);
    }
  }
  results.push_back(std::move(latency));
  if (labelled) {
    Measurement shares =
        sampler_record(subject, bias.name(), bias.unit(), bias.quantity(), bias.statistic().of);
    shares.direction = bias.direction();
    bias.summarise(shares);
    results.push_back(std::move(shares));
  }
  return results;
}

}  // namespace d5
