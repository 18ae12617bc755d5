// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/all_reduce_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "core/text/launcher.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/entry_words.hpp"
#include "d5/core/random.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/gather_records.hpp"

namespace d5 {
namespace {

/// Fewer than ranks, one a rank, odd ones, and more than a message holds that is sent at once.
constexpr std::array<std::int64_t, 8> kSizes{0, 1, 2, 3, 5, 64, 1000, 70'001};

Measurement record(const std::string& metric) {
  Measurement result;
  result.metric = metric;
  result.unit = "1";
  result.quantity = Quantity::error;
  result.statistic = {.of = Statistic::Of::maximum};
  result.over_ranks = OverRanks::maximum;
  return result;
}

void expect_at_most(Measurement& result, double most, double found, const std::string& what) {
  result.samples.push_back(found);
  if (found <= most || result.status == Status::failed) return;
  result.status = Status::failed;
  result.reason = what;
}

/// One rank's view of one algorithm.
class AllReduceTrial {
 public:
  AllReduceTrial(AllReduce& all_reduce, Communicator& ranks, std::uint64_t seed)
      : all_reduce_(all_reduce), ranks_(ranks), seed_(seed) {}

  std::vector<Measurement> run() {
    for (const std::int64_t size : kSizes) {
      sum<float>(size);
      sum<double>(size);
      extremes(size);
    }
    several();
    return {error_, agreement_, extremes_, under_way_};
  }

 private:
  /// What rank `rank` brings: numbers whose sums round.
  template <class T>
  std::vector<T> contribution(int rank, std::int64_t size) const {
    RandomStream random(seed_, static_cast<std::uint32_t>(rank));
    std::vector<T> values(static_cast<std::size_t>(size));
    for (T& value : values) value = T(random.normal_double());
    return values;
  }

  void reduce(Tensor& data, Reduction reduction) {
    all_reduce_.start(ranks_, data, reduction)->wait();
  }

  /// In units of the bound. The sum that it is compared with has 64 bits of significand.
  template <class T>
  void sum(std::int64_t size) {
    Tensor data = Tensor::vector(contribution<T>(ranks_.rank(), size));
    reduce(data, Reduction::sum);
    std::vector<long double> expected(static_cast<std::size_t>(size)), magnitude(expected);
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const auto values = contribution<T>(rank, size);
      for (std::size_t i = 0; i < values.size(); ++i) {
        expected[i] += values[i];
        magnitude[i] += std::abs(values[i]);
      }
    }
    const double rounding = std::numeric_limits<T>::epsilon() / 2 * (ranks_.size() - 1);
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto error = double(std::abs(data.data<T>()[i] - expected[i]) / magnitude[i]);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    if (worst > 0) worst /= rounding;
    expect_at_most(error_, 1, worst,
                   fmt::format("sum of {} elements of {}: the error is {:.3g} times what rounding "
                               "can do",
                               size, name_of(data.dtype()), worst));
    agree(data);
  }

  /// Compares bits with rank 0's.
  void agree(const Tensor& data) {
    Tensor first = data.copy();
    ranks_.broadcast(first, 0);
    const std::size_t size = size_of(data.dtype());
    const auto* mine = static_cast<const std::byte*>(data.raw());
    const auto* theirs = static_cast<const std::byte*>(first.raw());
    std::int64_t different = 0;
    for (std::size_t byte = 0; byte < data.bytes(); byte += size) {
      different += std::memcmp(mine + byte, theirs + byte, size) != 0 ? 1 : 0;
    }
    expect_at_most(agreement_, 0, double(different),
                   fmt::format("sum of {} elements of {}: {} differ from rank 0's", data.elements(),
                               name_of(data.dtype()), different));
  }

  /// Element i of rank r is (r + i) modulo n: every rank has the largest somewhere.
  void extremes(std::int64_t size) {
    const int last = ranks_.size() - 1;
    for (const Reduction reduction : {Reduction::maximum, Reduction::minimum}) {
      Tensor data = Tensor::empty(DType::int32, {size});
      for (std::int64_t i = 0; i < size; ++i) {
        data.data<std::int32_t>()[i] = std::int32_t((ranks_.rank() + i) % ranks_.size());
      }
      reduce(data, reduction);
      const bool largest = reduction == Reduction::maximum;
      const auto wrong = size - std::ranges::count(data.span<std::int32_t>(), largest ? last : 0);
      expect_at_most(extremes_, 0, double(wrong),
                     fmt::format("{} of {} elements: {} are wrong", largest ? "maximum" : "minimum",
                                 size, wrong));
    }
  }

  void several() {
    constexpr std::size_t kSeveral = 6;
    std::vector<Tensor> data;
    std::vector<std::unique_ptr<Request>> requests;
    for (std::size_t i = 0; i < kSeveral; ++i) {
      data.push_back(Tensor::zeros(DType::float64, {std::int64_t(100 * (i + 1))}));
      std::ranges::fill(data.back().span<double>(), double(i));
    }
    for (Tensor& one : data) requests.push_back(all_reduce_.start(ranks_, one));
    for (std::size_t k = 0; k < kSeveral; ++k) {
      const std::size_t i = ranks_.rank() % 2 ? k : kSeveral - 1 - k;
      while (!requests[i]->done()) {
        for (auto& other : requests) (void)other->done();
      }
    }
    for (std::size_t i = 0; i < kSeveral; ++i) {
      const auto right = std::ranges::count(data[i].span<double>(), double(i) * ranks_.size());
      const auto wrong = data[i].elements() - right;
      expect_at_most(under_way_, 0, double(wrong),
                     fmt::format("{} under way: {} of {} elements of number {} are wrong", kSeveral,
                                 wrong, data[i].elements(), i + 1));
    }
  }

  AllReduce& all_reduce_;
  Communicator& ranks_;
  std::uint64_t seed_;
  Measurement error_ = record("all_reduce_error"), agreement_ = record("all_reduce_agreement"),
              extremes_ = record("all_reduce_extremes"),
              under_way_ = record("all_reduce_under_way");
};

}  // namespace

std::vector<Measurement> check_all_reduce(const EntryChoice& choice, Communicator& ranks,
                                          std::uint64_t seed) {
  const auto all_reduce = all_reduces().at(choice.name).make(choice.settings);
  auto results = AllReduceTrial(*all_reduce, ranks, seed).run();
  const bool alone = ranks.size() == 1;
  CommandLine line("all-reduce check");
  line.word(to_words(choice)).option("--seed", seed);
  for (Measurement& result : results) {
    result.subject = "all-reduce " + to_words(choice);
    result.command = (alone ? "" : detail::launcher_line(ranks.size())) + line.text();
    result.level = "distributed";
    result.framework = "reference";
    result.conditions["ranks"] = fmt::format("{}", ranks.size());
    result.conditions["seed"] = fmt::format("{}", seed);
    if (!alone || result.status != Status::passed) continue;
    result.status = Status::skipped;
    result.reason =
        "it ran on one rank, which has nothing to sum; start it by mpirun -np 2 (--oversubscribe "
        "for more ranks than cores)";
  }
  return gather_records(std::move(results), ranks);
}

}  // namespace d5
