// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/bench_ranks.hpp"

#include <algorithm>

#include "d5/core/clock.hpp"

namespace d5::detail {
namespace {

/// So many calls of a size that a sample is far above the clock's step.
std::size_t repetitions_of(std::int64_t bytes) {
  constexpr std::int64_t kBytes = 64 << 10, kMost = 64;
  return std::size_t(std::clamp<std::int64_t>(kBytes / std::max<std::int64_t>(bytes, 1), 1, kMost));
}

}  // namespace

BenchRanks::BenchRanks(const CollectiveKind& kind,
                       std::vector<CollectiveKind::Algorithm> algorithms, std::int64_t elements,
                       Communicator& ranks)
    : kind_(kind),
      algorithms_(std::move(algorithms)),
      parts_(elements, ranks.size()),
      ranks_(ranks) {
  for (std::size_t i = 0; i < repetitions_of(elements * 4); ++i) {
    calls_.push_back(kind_.call_of(DType::float32, ranks_.rank(), parts_));
  }
}

void BenchRanks::follow() {
  double seconds = 0;
  for (;;) {
    Tensor order = Tensor::zeros(DType::int64, {2});
    ranks_.broadcast(order, 0);
    algorithm_ = std::size_t(order.data<std::int64_t>()[1]);
    switch (Order(order.data<std::int64_t>()[0])) {
      case Order::call: {
        fill();
        ranks_.barrier();
        // The clock starts: the calls, and one reading of the clock.
        const double begin = now_seconds();
        call();
        seconds = now_seconds() - begin;
        // The clock has stopped.
        break;
      }
      case Order::slowest: {
        Tensor most = Tensor::scalar(seconds);
        ranks_.all_reduce(most, Reduction::maximum);
        break;
      }
      case Order::judge:
        (void)judge();
        break;
      case Order::end:
        return;
    }
  }
}

void BenchRanks::give(Order order, std::size_t algorithm) {
  algorithm_ = algorithm;
  Tensor words =
      Tensor::of<std::int64_t>({2}, {static_cast<std::int64_t>(order), std::int64_t(algorithm)});
  ranks_.broadcast(words, 0);
}

void BenchRanks::prepare(std::size_t algorithm) {
  give(Order::call, algorithm);
  fill();
  ranks_.barrier();
}

void BenchRanks::call() {
  for (auto& call : calls_) algorithms_[algorithm_].start(ranks_, call)->wait();
}

double BenchRanks::slowest(double seconds) {
  give(Order::slowest, algorithm_);
  Tensor most = Tensor::scalar(seconds);
  ranks_.all_reduce(most, Reduction::maximum);
  return most.item<double>();
}

std::int64_t BenchRanks::wrong_elements(std::size_t algorithm) {
  give(Order::judge, algorithm);
  return judge();
}

void BenchRanks::end() { give(Order::end, 0); }

void BenchRanks::fill() {
  ++fills_;
  const std::int64_t first = kind_.brings(ranks_.rank(), parts_).begin;
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    Tensor& brought = CollectiveKind::brought(calls_[c]);
    float* data = brought.data<float>();
    for (std::int64_t i = 0; i < brought.elements(); ++i) {
      data[i] = float(value(ranks_.rank(), first + i, c));
    }
    // Where results have a place of their own, those of the last call would pass for right.
    if (calls_[c].input.defined()) {
      std::ranges::fill(calls_[c].output.span<float>(), -1.0F);
    }
  }
}

/// Whole numbers below 64, which differ by rank, place and call: float32 sums them without rounding
/// in any order.
double BenchRanks::value(int rank, std::int64_t element, std::size_t call) const {
  return double((element + 7 * rank + 5 * fills_ + std::int64_t(call)) & 63);
}

std::int64_t BenchRanks::judge() {
  fill();
  call();
  std::int64_t wrong = 0;
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    const ElementRange range = kind_.gets(ranks_.rank(), parts_);
    for (std::int64_t i = 0; i < range.size(); ++i) {
      double expected = 0;
      for (int rank = 0; rank < ranks_.size(); ++rank) {
        const std::int64_t j = range.begin + i;
        const bool counts =
            kind_.reduces() ||
            (kind_.call == CallKind::broadcast ? rank == 0
                                               : parts_[rank].begin <= j && j < parts_[rank].end);
        if (counts) expected += value(rank, j, c);
      }
      wrong += calls_[c].output.data<float>()[i] == expected ? 0 : 1;
    }
  }
  Tensor sum = Tensor::scalar(wrong);
  ranks_.all_reduce(sum);
  return sum.item<std::int64_t>();
}

}  // namespace d5::detail
