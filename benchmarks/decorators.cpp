// SPDX-License-Identifier: Apache-2.0
// Overhead of watching and comparing calls: an all-reduce of the library, blocking and
// non-blocking, and one in node memory, each bare, with `CallTimeout` and with `CallOrder` around
// it:
//
//     mpirun -np 2 bench_decorators --samples 31
//
// Each sample runs all of them, in rotating order. A sample is the slowest rank's time for a few
// consecutive calls, from a barrier on, divided by their number.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/command_line.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/decorators/call_order.hpp"
#include "d5/level3_distributed/decorators/call_timeout.hpp"

namespace {

using namespace d5;

/// One way to sum, with its communicator.
struct Contestant {
  std::string way, around;
  std::function<void(Tensor&)> sum;
  std::vector<double> seconds = {};
};

std::vector<Contestant> contestants() {
  const auto own = [] { return world()->split(0); };
  std::vector<Contestant> all;
  for (const char* way : {"mpi, blocking", "mpi, started", "node_memory"}) {
    const std::vector<std::pair<std::string, std::shared_ptr<Communicator>>> decorated{
        {"bare", own()},
        {"CallTimeout", std::make_shared<CallTimeout>(own())},
        {"CallOrder", std::make_shared<CallOrder>(own())}};
    for (const auto& [around, ranks] : decorated) {
      Contestant& one = all.emplace_back(Contestant{way, around, {}});
      if (one.way == "mpi, blocking") {
        one.sum = [ranks](Tensor& data) { ranks->all_reduce(data); };
      } else {
        const auto algorithm = all_reduces().at(one.way == "node_memory" ? one.way : "mpi").make();
        one.sum = [ranks, algorithm](Tensor& data) { algorithm->start(*ranks, data)->wait(); };
      }
    }
  }
  return all;
}

double sample(const Contestant& contestant, Tensor& data, int calls) {
  world()->barrier();
  const double begin = now_seconds();  // inside: the calls alone
  for (int i = 0; i < calls; ++i) contestant.sum(data);
  Tensor seconds = Tensor::scalar((now_seconds() - begin) / calls);
  world()->all_reduce(seconds, Reduction::maximum);
  return seconds.item<double>();
}

}  // namespace

int main(int argc, char** argv) {
  benchmarks::CommandLine line(
      "What it costs to watch and to compare the calls of a communicator.");
  int samples = 31;
  line.add("--samples", &samples, "samples per contestant");
  if (const auto status = line.parse(argc, argv)) return *status;

  auto all = contestants();
  TextTable table({"bytes",
                   "all-reduce",
                   "around it",
                   {"us", TextTable::Align::right},
                   {"times as long as bare", TextTable::Align::right},
                   "95%"});
  for (const std::int64_t bytes : {std::int64_t{4}, std::int64_t{4} << 10, std::int64_t{4} << 20}) {
    Tensor data = Tensor::zeros(DType::float32, {bytes / 4});
    const int calls = static_cast<int>(std::clamp<std::int64_t>((64 << 10) / bytes, 1, 64));
    for (auto& contestant : all) {
      (void)sample(contestant, data, calls);  // makes what it keeps
      contestant.seconds.clear();
    }
    for (int i = 0; i < samples; ++i) {
      for (std::size_t k = 0; k < all.size(); ++k) {
        auto& contestant = all[(k + static_cast<std::size_t>(i)) % all.size()];
        contestant.seconds.push_back(sample(contestant, data, calls));
      }
    }
    const Contestant* bare = nullptr;
    for (const Contestant& one : all) {
      if (one.around == "bare") bare = &one;
      const Comparison ratio = compare(one.seconds, bare->seconds);
      table.add(
          {byte_words(std::size_t(bytes)), one.way, one.around,
           fmt::format("{:.2f}", summarise(one.seconds).median * 1e6),
           fmt::format("{:.2f}", ratio.ratio),
           fmt::format("[{:.2f}, {:.2f}]", ratio.ratio_interval.low, ratio.ratio_interval.high)});
    }
  }
  if (world()->rank() == 0) fmt::print("{}", table.to_text(Format::table));
}
