// SPDX-License-Identifier: Apache-2.0
#include "prediction/training/compressor_probe.hpp"

#include <time.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/prediction/graph/operation_kind.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"

namespace d5::detail {
namespace {

constexpr std::int64_t kSide = 1024, kElements = kSide * kSide;
constexpr double kGradientBytes = 4.0 * kElements;

/// This rank's calls since `before`, by kind.
std::vector<CompressorCost::Call> calls_since(const Traffic& before, const Traffic& now) {
  std::vector<CompressorCost::Call> calls;
  for (const auto& [kind, line] : now.by_call) {
    const auto place = before.by_call.find(kind);
    const Traffic::Line earlier = place == before.by_call.end() ? Traffic::Line{} : place->second;
    const std::int64_t number = line.calls - earlier.calls;
    if (!operation_kinds().find(kind))
      continue;  // skips algorithms, whose calls are counted one by one
    const double share = static_cast<double>(line.bytes_sent - earlier.bytes_sent) /
                         static_cast<double>(number) / kGradientBytes;
    for (std::int64_t i = 0; i < number; ++i) calls.push_back({kind, share});
  }
  return calls;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Processor time of one sum on all `n` ranks, and the calls of rank 0.
double seconds_of(const EntryChoice& choice, int n, std::vector<CompressorCost::Call>& calls) {
  ClusterDescription cluster;
  cluster.name = "probe";
  cluster.hosts = n;
  cluster.bandwidth.value = 1e9;
  double begin = 0, end = 0;
  run_simulated(n, cluster, [&](SimulatedRank& self, const std::shared_ptr<Communicator>& ranks) {
    const auto compressor = gradient_compressors().at(choice.name).make(choice.settings);
    const auto library = all_reduces().at("mpi").make();
    Tensor value = Tensor::empty(DType::float32, {kElements});
    Tensor rest = compressor->leaves_rest() ? Tensor::zeros(DType::float32, {kElements}) : Tensor();
    RandomStream random(1, static_cast<std::uint64_t>(self.rank()));
    for (float& number : value.span<float>()) number = static_cast<float>(random.normal());
    ranks->barrier();  // the compressor's work only from here
    const GradientPart whole{0, {kSide, kSide}};
    const Traffic before = ranks->traffic();
    // All ranks run on this thread: timed from the first one's start to the last one's end.
    if (begin == 0) begin = processor_seconds();
    compressor->start(*ranks, *library, value, rest, {.bucket = 0, .step = 0, .parts = {&whole, 1}})
        ->wait();
    end = processor_seconds();
    if (self.rank() == 0) calls = calls_since(before, ranks->traffic());
  });
  return end - begin;
}

}  // namespace

CompressorCost probe_compressor(const EntryChoice& compressor) {
  constexpr int kTimes = 3;
  CompressorCost cost;
  double one = std::numeric_limits<double>::infinity(), two = one;
  for (int i = 0; i < kTimes; ++i) {  // the minimum, without disturbances by other processes
    std::vector<CompressorCost::Call> ignored;
    one = std::min(one, seconds_of(compressor, 1, ignored));
    two = std::min(two, seconds_of(compressor, 2, cost.calls));
  }
  // A rank among n takes compress + n decompress: 1 and 2 ranks determine both. Each is at most the
  // total of a single rank, as a safeguard against a disturbed measurement.
  cost.decompress = std::clamp(two / 2 - one, 0.0, one) / kGradientBytes;
  cost.compress = one / kGradientBytes - cost.decompress;
  return cost;
}

}  // namespace d5::detail
