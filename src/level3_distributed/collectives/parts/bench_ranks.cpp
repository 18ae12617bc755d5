// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/bench_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// The number of calls in a sample that makes its time much longer than the clock's resolution.
std::size_t repetitions_of(std::int64_t bytes) {
  constexpr std::int64_t kBytes = 64 << 10, kMost = 64;
  return std::size_t(std::clamp<std::int64_t>(kBytes / std::max<std::int64_t>(bytes, 1), 1, kMost));
}

}  // namespace

BenchRanks::BenchRanks(const CollectiveKind& kind,
                       std::vector<CollectiveKind::Algorithm> algorithms, std::int64_t elements,
                       Communicator& ranks, CallTimeout& watched)
    : kind_(kind),
      algorithms_(std::move(algorithms)),
      parts_(elements, ranks.size()),
      ranks_(ranks),
      watched_(watched) {
  for (std::size_t i = 0; i < repetitions_of(elements * 4); ++i) {
    calls_.push_back(kind_.call_of(DType::float32, ranks_.rank(), parts_));
  }
}

void BenchRanks::follow() {
  double seconds = 0;
  for (;;) {
    Tensor order = Tensor::zeros(DType::int64, {2});
    watched_.broadcast(order, 0);
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
        watched_.all_reduce(most, Reduction::maximum);
        break;
      }
      case Order::judge:
        try {
          (void)judge();
        } catch (const Error&) {
          if (apart_) throw;
        }
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
  guarded([&] { watched_.broadcast(words, 0); });
}

void BenchRanks::prepare(std::size_t algorithm) {
  if (!tried_.contains(algorithm)) (void)wrong_elements(algorithm);
  if (const auto& refusal = tried_.at(algorithm)) std::rethrow_exception(refusal);
  give(Order::call, algorithm);
  fill();
  guarded([&] { ranks_.barrier(); });
}

void BenchRanks::call() {
  guarded([&] { run(ranks_); });
}

void BenchRanks::run(Communicator& ranks) {
  for (auto& call : calls_) algorithms_[algorithm_].start(ranks, call)->wait();
}

/// Runs `F`. An exception on one rank alone leaves the ranks out of step: they do nothing more
/// together.
template <class F>
void BenchRanks::guarded(const F& what) {
  if (apart_) std::rethrow_exception(apart_);
  try {
    what();
  } catch (...) {
    apart_ = std::current_exception();
    throw;
  }
}

double BenchRanks::slowest(double seconds) {
  give(Order::slowest, algorithm_);
  Tensor most = Tensor::scalar(seconds);
  guarded([&] { watched_.all_reduce(most, Reduction::maximum); });
  return most.item<double>();
}

std::int64_t BenchRanks::wrong_elements(std::size_t algorithm) {
  give(Order::judge, algorithm);
  try {
    const std::int64_t wrong = judge();
    tried_[algorithm] = nullptr;
    return wrong;
  } catch (...) {
    tried_[algorithm] = std::current_exception();
    throw;
  }
}

void BenchRanks::end() {
  if (apart_) std::rethrow_exception(apart_);
  give(Order::end, 0);
}

void BenchRanks::fill() {
  ++fills_;
  const std::int64_t first = kind_.brings(ranks_.rank(), parts_).begin;
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    Tensor& brought = CollectiveKind::brought(calls_[c]);
    float* data = brought.data<float>();
    for (std::int64_t i = 0; i < brought.elements(); ++i) {
      data[i] = float(value(ranks_.rank(), first + i, c));
    }
    // Clears separate outputs, because results of the last call would pass as correct.
    if (calls_[c].input.defined()) {
      std::ranges::fill(calls_[c].output.span<float>(), -1.0F);
    }
  }
}

/// Whole numbers below 64 that differ by rank, element and call: float32 sums them exactly in any
/// order.
double BenchRanks::value(int rank, std::int64_t element, std::size_t call) const {
  return double((element + 7 * rank + 5 * fills_ + std::int64_t(call)) & 63);
}

std::int64_t BenchRanks::judge() {
  constexpr std::int64_t kByItself = 1, kByOthers = 2;
  std::exception_ptr error;
  Tensor sums =
      Tensor::zeros(DType::int64, {1 + ranks_.size()});  // wrong elements; how each failed
  auto* wrong = sums.data<std::int64_t>();
  const auto failed = sums.span<std::int64_t>().subspan(1);
  auto& mine = failed[std::size_t(ranks_.rank())];
  try {
    fill();
    run(watched_);
    *wrong = wrong_here();
  } catch (const CommunicationError&) {
    error = std::current_exception();
    mine = kByOthers;
  } catch (...) {
    error = std::current_exception();
    mine = kByItself;
  }
  if (error) watched_.tell_failure();  // ends the waits of the others
  try {
    watched_.all_reduce(sums);
  } catch (const CommunicationError&) {
    apart_ = error ? error : std::current_exception();
    std::rethrow_exception(apart_);
  }
  const auto all_are = [&](std::int64_t how) {
    return std::ranges::all_of(failed, [=](std::int64_t one) { return one == how; });
  };
  if (all_are(0)) return *wrong;
  if (all_are(kByItself)) {
    watched_.forget_failures();
    std::rethrow_exception(error);
  }
  if (!error) {
    const auto who = std::ranges::find_if(failed, [](std::int64_t one) { return one != 0; });
    error = std::make_exception_ptr(
        CommunicationError(fmt::format("rank {}: rank {} failed alone; its own message says why",
                                       ranks_.rank(), who - failed.begin())));
  }
  apart_ = error;
  std::rethrow_exception(error);
}

std::int64_t BenchRanks::wrong_here() const {
  std::int64_t wrong = 0;
  const ElementRange range = kind_.gets(ranks_.rank(), parts_);
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    for (std::int64_t i = 0; i < range.size(); ++i) {
      const std::int64_t j = range.begin + i;
      double expected = 0;
      for (int rank = 0; rank < ranks_.size(); ++rank) {
        const bool counts =
            kind_.reduces() ||
            (kind_.call == CallKind::broadcast ? rank == 0
                                               : parts_[rank].begin <= j && j < parts_[rank].end);
        if (counts) expected += value(rank, j, c);
      }
      wrong += calls_[c].output.data<float>()[i] == expected ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace d5::detail
