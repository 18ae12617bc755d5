// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/class_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "level2_training/training/classification.hpp"

namespace d5::detail {
namespace {

constexpr std::int64_t kMostClasses = 1'000'000;

double& of_class(std::int64_t label, std::vector<double>& counts) {
  if (label < 0 || label >= kMostClasses) {
    throw ValueError(fmt::format("dataset_bias: label {} is not a class; expected 0 to {}", label,
                                 kMostClasses - 1));
  }
  if (std::size_t(label) >= counts.size()) counts.resize(std::size_t(label) + 1);
  return counts[std::size_t(label)];
}

}  // namespace

void count_classes(const Batch& batch, const std::string& label, std::vector<double>& counts) {
  if (batch.size == 0) return;
  const Tensor& labels = named(batch.values, label, "dataset_bias: field");
  dispatch(Types<std::int64_t, std::int32_t>{}, labels.dtype(), "dataset_bias", [&]<class T>() {
    for (const std::int64_t one : labels.span<T>()) ++of_class(one, counts);
  });
}

std::vector<double> promised_shares(const Sampler& sampler, const std::string& label) {
  const std::vector<std::int64_t> labels = sampler.dataset().labels(label);
  const SamplerLaw law = sampler.law();
  std::vector<double> shares;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    of_class(labels[i], shares) += law.chances.empty() ? 1 / double(labels.size()) : law.chances[i];
  }
  return shares;
}

GoodnessOfFit goodness_of_fit(const std::vector<double>& counts,
                              const std::vector<double>& shares) {
  double draws = 0;
  for (const double count : counts) draws += count;
  GoodnessOfFit result;
  int possible = 0;
  for (std::size_t i = 0; i < std::max(counts.size(), shares.size()); ++i) {
    const double count = i < counts.size() ? counts[i] : 0;
    const double expected = i < shares.size() ? shares[i] * draws : 0;
    if (expected > 0) {
      ++possible;
      result.chi_squared += (count - expected) * (count - expected) / expected;
    } else if (count > 0) {
      result.chi_squared = std::numeric_limits<double>::infinity();
    }
  }
  if (result.chi_squared == std::numeric_limits<double>::infinity()) {
    result.p_value = 0;
  } else if (possible > 1) {
    const boost::math::chi_squared law(possible - 1);
    result.p_value = boost::math::cdf(boost::math::complement(law, result.chi_squared));
  }
  return result;
}

}  // namespace d5::detail
