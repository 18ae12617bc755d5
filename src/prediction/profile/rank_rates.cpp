// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/rank_rates.hpp"

#include <fmt/format.h>

#include <vector>

#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "d5/core/statistics.hpp"

namespace d5 {
namespace {

/// Bytes a second of `work`, which is told which part of the arena it is to take.
template <class Work>
double rate_of(Communicator& ranks, const RankRateOptions& options, const Work& work) {
  constexpr int kWarmUp = 3;
  const std::int64_t parts = options.arena / options.bytes;
  std::vector<double> seconds;
  ranks.barrier();
  for (int i = -kWarmUp; i < options.repetitions; ++i) {
    const std::int64_t part = (i + kWarmUp) % parts;
    const double begin = now_seconds();  // one pass over one part
    work(part);
    const double end = now_seconds();
    if (i >= 0) seconds.push_back(end - begin);
  }
  ranks.barrier();
  const double median = summarise(seconds).median;
  double rate = median > 0 ? static_cast<double>(options.bytes) / median : 0;  // 0: virtual time
  Tensor sum = Tensor::borrow({DType::float64, {1}}, &rate, nullptr);
  ranks.all_reduce(sum, Reduction::sum);
  return rate / ranks.size();
}

}  // namespace

RankRates time_rank_rates(Communicator& ranks, const RankRateOptions& options) {
  if (options.bytes < 4 || options.arena < 2 * options.bytes || options.repetitions < 1) {
    throw ValueError(fmt::format(
        "rates of a rank: parts of {} bytes in {}, {} repetitions; expected parts of 4 bytes or "
        "more, two of them at least, and a repetition",
        options.bytes, options.arena, options.repetitions));
  }
  const std::int64_t elements = options.bytes / 4;
  const Tensor arena = Tensor::zeros(DType::float32, {options.arena / options.bytes * elements});
  Tensor received = Tensor::zeros(DType::float32, {elements});
  const auto part = [&](std::int64_t index) {
    return arena.slice(index * elements, (index + 1) * elements);
  };
  RankRates rates;
  rates.reduce_bandwidth = rate_of(ranks, options, [&](std::int64_t index) {
    Tensor into = part(index);
    ranks.reduce_local(into, received);
  });
  rates.scale_bandwidth = rate_of(ranks, options, [&](std::int64_t index) {
    Tensor into = part(index);
    ranks.scale_local(into, 0.5);
  });
  rates.copy_bandwidth = rate_of(ranks, options, [&](std::int64_t index) {
    Tensor into = part(index);
    ranks.copy_local(into, received);
  });
  return rates;
}

}  // namespace d5
