// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/process/launcher.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/collectives/collective_kind.hpp"
#include "d5/level3_distributed/communicator/gather_records.hpp"

namespace d5 {
namespace {

/// Fewer elements than ranks, one per rank, odd numbers, and more than an eager message.
constexpr std::array<std::int64_t, 8> kSizes{0, 1, 2, 3, 5, 64, 1000, 70'001};

/// Limit for 16-bit floats, which are converted one by one; larger messages behave as those of
/// other types.
constexpr std::int64_t kMostSmallFloats = 1000;

void expect_at_most(Measurement& result, double most, double found, const std::string& what) {
  result.samples.push_back(found);
  if (found <= most || result.status == Status::failed) return;
  result.status = Status::failed;
  result.reason = what;
}

/// Unit roundoff: half the distance from 1 to the next number.
template <class T>
constexpr double kRounding = std::numeric_limits<T>::epsilon() / 2;
template <>
constexpr double kRounding<Float16> = 0x1p-11;
template <>
constexpr double kRounding<BFloat16> = 0x1p-8;

/// The check of one algorithm on one rank.
class CollectiveTrial {
 public:
  CollectiveTrial(const CollectiveKind& kind, const EntryChoice& choice, Communicator& ranks,
                  std::uint64_t seed)
      : kind_(kind), one_(kind.make(choice)), ranks_(ranks), seed_(seed) {}

  std::vector<Measurement> run() {
    int root = 0;
    for (const std::int64_t size : kSizes) {
      root = (root + 1) % ranks_.size();
      random<float>(size, root);
      random<double>(size, root);
      if (size <= kMostSmallFloats) random<Float16>(size, root);
      if (size <= kMostSmallFloats) random<BFloat16>(size, root);
      if (kind_.reduces()) extremes(size);
    }
    several();
    std::vector<Measurement> results{error_};
    if (kind_.call == CallKind::all_reduce) results.push_back(agreement_);
    if (kind_.reduces()) results.push_back(extremes_);
    results.push_back(under_way_);
    if (!volume_.samples.empty()) results.push_back(volume_);
    return results;
  }

 private:
  [[nodiscard]] Measurement record(const std::string& metric) const {
    Measurement result;
    result.metric = fmt::format("{}_{}", name_of(kind_.call), metric);
    result.unit = "1";
    result.quantity = Quantity::error;
    result.statistic = {.of = Statistic::Of::maximum};
    result.over_ranks = OverRanks::maximum;
    return result;
  }

  /// The contribution of rank `rank`: numbers whose sums are rounded.
  template <class T>
  std::vector<T> contribution(int rank, std::int64_t size) const {
    RandomStream random(seed_, static_cast<std::uint32_t>(rank));
    std::vector<T> values(static_cast<std::size_t>(size));
    for (T& value : values) value = T(static_cast<float>(random.normal_double()));
    return values;
  }

  [[nodiscard]] Parts parts(std::int64_t size) const { return {size, ranks_.size()}; }

  /// A call with this rank's contribution from `values`.
  template <class T>
  CommunicationCall call_with(const std::vector<T>& values) {
    const Parts all = parts(std::int64_t(values.size()));
    CommunicationCall call = kind_.call_of(dtype_of<T>, ranks_.rank(), all);
    const ElementRange range = kind_.brings(ranks_.rank(), all);
    std::copy(values.begin() + range.begin, values.begin() + range.end,
              CollectiveKind::brought(call).template data<T>());
    return call;
  }

  /// Whether rank `rank` contributes to element `element` of the result.
  [[nodiscard]] bool contributes(int rank, std::int64_t element, int root, const Parts& all) const {
    if (kind_.reduces()) return true;
    if (kind_.call == CallKind::broadcast) return rank == root;
    return all[rank].begin <= element && element < all[rank].end;
  }

  /// The error in units of the bound. The reference sum has a significand of 64 bits.
  template <class T>
  void random(std::int64_t size, int root) {
    CommunicationCall call = call_with(contribution<T>(ranks_.rank(), size));
    call.peer = root;
    const Traffic before = ranks_.traffic();
    one_.start(ranks_, call)->wait();
    count(ranks_.traffic().since(before).total(), size, size_of(dtype_of<T>), root);

    const Parts all = parts(size);
    const ElementRange range = kind_.gets(ranks_.rank(), all);
    std::vector<long double> expected(static_cast<std::size_t>(range.size())), magnitude(expected);
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const auto values = contribution<T>(rank, size);
      for (std::int64_t i = 0; i < range.size(); ++i) {
        if (!contributes(rank, range.begin + i, root, all)) continue;
        const auto value = static_cast<long double>(values[std::size_t(range.begin + i)]);
        expected[std::size_t(i)] += value;
        magnitude[std::size_t(i)] += std::abs(value);
      }
    }
    double worst = 0;
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto found = static_cast<long double>(call.output.data<T>()[i]);
      const auto error = double(std::abs(found - expected[i]) / magnitude[i]);
      wrong += found == expected[i] ? 0 : 1;
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    if (!kind_.reduces()) {
      return expect_at_most(
          error_, 0, double(wrong),
          fmt::format("{} elements of {}: {} are wrong", size, name_of(dtype_of<T>), wrong));
    }
    // k additions in any order: within k u / (1 - k u) of the sum of magnitudes (Higham, 2002).
    const double additions = kRounding<T> * (ranks_.size() - 1);
    if (worst > 0) worst /= additions / (1 - additions);
    expect_at_most(
        error_, 1, worst,
        fmt::format("sum of {} elements of {}: the error is {:.3g} times the rounding bound", size,
                    name_of(dtype_of<T>), worst));
    if (kind_.call == CallKind::all_reduce) agree(call.output);
  }

  void count(const Traffic::Line& counted, std::int64_t size, std::size_t element_bytes, int root) {
    const auto told = one_.algorithm->volume({.rank = ranks_.rank(),
                                              .ranks = ranks_.size(),
                                              .elements = size,
                                              .element_bytes = std::int64_t(element_bytes),
                                              .root = root});
    if (!told) return;
    const auto off = std::abs(counted.calls - told->calls) +
                     std::abs(counted.bytes_sent - told->bytes_sent) +
                     std::abs(counted.bytes_received - told->bytes_received);
    expect_at_most(
        volume_, 0, double(off),
        fmt::format("{} elements of {} bytes: {} calls with {} bytes out and {} in; the algorithm "
                    "predicts {}, {} and {}",
                    size, element_bytes, counted.calls, counted.bytes_sent, counted.bytes_received,
                    told->calls, told->bytes_sent, told->bytes_received));
    volume_.conditions["calls"] = aside(told->calls);
    volume_.conditions["bytes_sent"] = aside(told->bytes_sent);
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

  /// Element i of rank r is (r + i) modulo n, so every rank has the maximum somewhere.
  void extremes(std::int64_t size) {
    const int last = ranks_.size() - 1;
    std::vector<std::int32_t> values(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = std::int32_t((ranks_.rank() + std::int64_t(i)) % ranks_.size());
    }
    for (const Reduction reduction : {Reduction::maximum, Reduction::minimum}) {
      CommunicationCall call = call_with(values);
      call.reduction = reduction;
      one_.start(ranks_, call)->wait();
      const bool largest = reduction == Reduction::maximum;
      const auto wrong = call.output.elements() -
                         std::ranges::count(call.output.span<std::int32_t>(), largest ? last : 0);
      expect_at_most(extremes_, 0, double(wrong),
                     fmt::format("{} of {} elements: {} are wrong", largest ? "maximum" : "minimum",
                                 size, wrong));
    }
  }

  void several() {
    constexpr std::size_t kSeveral = 6;
    std::vector<CommunicationCall> calls;
    std::vector<std::unique_ptr<Request>> requests;
    for (std::size_t i = 0; i < kSeveral; ++i) {
      calls.push_back(call_with(std::vector<double>(100 * (i + 1), double(i) + ranks_.rank())));
    }
    for (auto& call : calls) requests.push_back(one_.start(ranks_, call));
    for (std::size_t k = 0; k < kSeveral; ++k) {
      const std::size_t i = ranks_.rank() % 2 ? k : kSeveral - 1 - k;
      while (!requests[i]->done()) {
        for (auto& other : requests) (void)other->done();
      }
    }
    for (std::size_t i = 0; i < kSeveral; ++i) {
      const Parts all = parts(std::int64_t(100 * (i + 1)));
      const std::int64_t first = kind_.gets(ranks_.rank(), all).begin;
      std::int64_t wrong = 0;
      for (std::int64_t j = 0; j < calls[i].output.elements(); ++j) {
        double expected = 0;
        for (int rank = 0; rank < ranks_.size(); ++rank) {
          if (contributes(rank, first + j, calls[i].peer, all)) expected += double(i) + rank;
        }
        wrong += calls[i].output.data<double>()[j] == expected ? 0 : 1;
      }
      expect_at_most(under_way_, 0, double(wrong),
                     fmt::format("{} under way: {} of {} elements of number {} are wrong", kSeveral,
                                 wrong, calls[i].output.elements(), i + 1));
    }
  }

  const CollectiveKind& kind_;
  CollectiveKind::Algorithm one_;
  Communicator& ranks_;
  std::uint64_t seed_;
  Measurement error_ = record("error"), agreement_ = record("agreement"),
              extremes_ = record("extremes"), under_way_ = record("under_way"),
              volume_ = record("volume");
};

}  // namespace

std::vector<Measurement> check_collective(CallKind call, const EntryChoice& choice,
                                          Communicator& ranks, std::uint64_t seed) {
  const CollectiveKind& kind = collective_kind(call);
  auto results = CollectiveTrial(kind, choice, ranks, seed).run();
  const bool alone = ranks.size() == 1;
  CommandLine line(kind.word + " check");
  line.word(to_words(choice)).option("--threads", threads()).option("--seed", seed);
  for (Measurement& result : results) {
    result.subject = kind.word + " " + to_words(choice);
    result.command = (alone ? "" : detail::launcher_line(ranks.size())) + line.text();
    result.level = "distributed";
    result.framework = "reference";
    result.conditions["ranks"] = identity(ranks.size());
    result.conditions["seed"] = setting(seed);
    if (!alone || result.status != Status::passed) continue;
    result.status = Status::skipped;
    result.reason =
        "it ran on a single rank; start it by mpirun -np 2 "
        "(--oversubscribe for more ranks than cores)";
  }
  return gather_records(std::move(results), ranks);
}

}  // namespace d5
