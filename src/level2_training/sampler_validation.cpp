// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "d5/core/clock.hpp"
#include "d5/level2_training/dataset_metrics.hpp"
#include "d5/level2_training/tensor_dataset.hpp"
#include "d5/level2_training/training_validation.hpp"

namespace d5 {
namespace {

Measurement record(const std::string& subject, const std::string& metric, const std::string& unit,
                   Quantity quantity, Statistic::Of statistic) {
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

/// A dataset of the same size whose samples are their own numbers.
std::shared_ptr<const Dataset> numbers(std::int64_t size) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) values[std::size_t(i)] = i;
  return std::make_shared<TensorDataset>(
      "sample numbers",
      std::vector<std::pair<std::string, Tensor>>{{"number", Tensor::vector(values)}});
}

std::vector<std::vector<std::int64_t>> rest_of_epoch(Sampler& sampler) {
  std::vector<std::vector<std::int64_t>> batches;
  while (const Batch* batch = sampler.next()) {
    const auto values = batch->values.at("number").tensor().span<std::int64_t>();
    batches.emplace_back(values.begin(), values.end());
  }
  return batches;
}

}  // namespace

std::vector<Measurement> test_sampler(const SamplerEntry& entry,
                                      std::shared_ptr<const Dataset> data, const Settings& settings,
                                      std::int64_t epochs) {
  const std::string subject = fmt::format("sampler over {}", printable(data->name()));
  Measurement coverage =
      record(subject, "sampler_coverage", "1", Quantity::error, Statistic::Of::maximum);
  Measurement repeatability =
      record(subject, "sampler_repeatability", "1", Quantity::error, Statistic::Of::maximum);
  const auto order = entry.make(numbers(data->size()), settings);
  const auto options = read_shared_options<SamplerOptions>(settings);
  const std::int64_t may_be_left =
      options.tail == Tail::drop ? data->size() % options.batch_size : 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    order->reset(epoch);
    const auto batches = rest_of_epoch(*order);
    std::vector<std::int64_t> drawn(std::size_t(data->size()), 0);
    for (const auto& batch : batches) {
      for (const std::int64_t number : batch) ++drawn[std::size_t(number)];
    }
    std::int64_t wrong = 0, left = 0;
    for (const std::int64_t times : drawn) {
      wrong += times > 1 ? times - 1 : 0;
      left += times == 0 ? 1 : 0;
    }
    coverage.samples.push_back(double(wrong + std::max<std::int64_t>(0, left - may_be_left)));
    if (coverage.samples.back() > 0) {
      coverage.status = Status::failed;
      coverage.reason = fmt::format("epoch {}: {} samples too often, {} never; {} may be left out",
                                    epoch, wrong, left, may_be_left);
    }

    const auto again = entry.make(numbers(data->size()), settings);
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

  std::vector<Measurement> results{coverage, repeatability};
  Measurement latency =
      record(subject, "dataset_latency", "s", Quantity::time, Statistic::Of::quantile);
  DatasetBias bias;
  bool labelled = false;
  for (const auto& field : data->fields()) labelled |= field.name == "label";
  const auto sampler = entry.make(data, settings);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    sampler->reset(epoch);
    for (;;) {
      // Inside the clock: one call of the sampler, the dataset's reading within.
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
        record(subject, bias.name(), bias.unit(), bias.quantity(), bias.statistic().of);
    shares.direction = bias.direction();
    bias.summarise(shares);
    results.push_back(std::move(shares));
  }
  return results;
}

}  // namespace d5
