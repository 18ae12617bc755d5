// SPDX-License-Identifier: Apache-2.0
// Time to sum the gradients of a network of 25 million parameters in 160 tensors over the ranks of
// one machine, by algorithm, compared with MPI_Allreduce called for each tensor in order:
//
//     mpirun -np 2 bench_gradient_exchange --samples 15
//
// Each sample runs all contestants, in rotating order. A sample is the time of the slowest rank
// from a barrier until all its sums are complete; tensors are started one after another, then
// waited for. `of the bound` compares it with reading and writing each rank's data in memory once,
// at the rate that `d5 env --peak` measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/command_line.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/peak/machine_peak.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace {

using namespace d5;

/// Alternating small and large gradients, as of biases and weights: 25 million floats.
std::vector<Tensor> gradients() {
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < 80; ++i) {
    all.push_back(Tensor::zeros(DType::float32, {256 * (1 + i % 8)}));
    all.push_back(Tensor::zeros(DType::float32, {7690 * (i + 1)}));
  }
  return all;
}

struct Contestant {
  std::string name;
  std::function<void(std::vector<Tensor>&)> exchange;
  std::vector<double> seconds = {};
};

std::vector<Contestant> contestants(const std::vector<std::string>& names) {
  std::vector<Contestant> all;
  all.push_back({"MPI_Allreduce", [](std::vector<Tensor>& tensors) {
                   for (Tensor& tensor : tensors) world()->all_reduce(tensor);
                 }});
  for (const auto& [name, entry] : all_reduces().entries()) {
    if (!names.empty() && std::ranges::find(names, name) == names.end()) continue;
    const auto algorithm = entry.make({});
    all.push_back({name, [algorithm](std::vector<Tensor>& tensors) {
                     std::vector<std::unique_ptr<Request>> under_way;
                     for (Tensor& tensor : tensors) {
                       under_way.push_back(algorithm->start(*world(), tensor));
                     }
                     for (auto& request : under_way) request->wait();
                   }});
  }
  return all;
}

double sample(const Contestant& contestant, std::vector<Tensor>& tensors) {
  world()->barrier();
  const double begin = now_seconds();  // inside: the exchange alone
  contestant.exchange(tensors);
  Tensor seconds = Tensor::scalar(now_seconds() - begin);
  world()->all_reduce(seconds, Reduction::maximum);
  return seconds.item<double>();
}

void print(const std::vector<Contestant>& all, double bound_seconds) {
  TextTable table({"all-reduce",
                   {"ms", TextTable::Align::right},
                   "95%",
                   {"times as fast as MPI_Allreduce", TextTable::Align::right},
                   "95%",
                   {"of the bound", TextTable::Align::right}});
  for (const Contestant& contestant : all) {
    const Summary time = summarise(contestant.seconds);
    const Comparison ratio = compare(all.front().seconds, contestant.seconds);
    table.add({contestant.name, fmt::format("{:.1f}", time.median * 1e3),
               fmt::format("[{:.1f}, {:.1f}]", time.median_interval.low * 1e3,
                           time.median_interval.high * 1e3),
               fmt::format("{:.2f}", ratio.ratio),
               fmt::format("[{:.2f}, {:.2f}]", ratio.ratio_interval.low, ratio.ratio_interval.high),
               fmt::format("{:.0f}%", bound_seconds / time.median * 100)});
  }
  fmt::print("{}", table.to_text(Format::table));
}

}  // namespace

int main(int argc, char** argv) {
  benchmarks::CommandLine line(
      "The time to sum 25 million gradients over the ranks of one machine.");
  int samples = 15;
  std::vector<std::string> names;
  bool plain = false;
  line.add("--samples", &samples, "samples per contestant");
  line.add("--algorithms", &names, "algorithms to compare; default: all");
  line.add("--plain", &plain, "NAME SECONDS... a line, for other programs");
  if (const auto status = line.parse(argc, argv)) return *status;

  const int n = world()->size(), rank = world()->rank();
  double byte_rate = 0;
  if (rank == 0 && !plain) byte_rate = measure_machine_peak().byte_rate;
  set_threads(1);
  auto all = contestants(names);
  auto tensors = gradients();
  double bytes = 0;
  for (const Tensor& tensor : tensors) bytes += 2.0 * n * static_cast<double>(tensor.bytes());
  for (const auto& contestant : all) (void)sample(contestant, tensors);  // makes what it keeps
  for (int i = 0; i < samples; ++i) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      auto& contestant = all[(k + static_cast<std::size_t>(i)) % all.size()];
      contestant.seconds.push_back(sample(contestant, tensors));
    }
  }
  if (rank != 0) return 0;
  if (!plain) {
    fmt::print("{} ranks, {:.1f} GB/s\n", n, byte_rate / 1e9);
    print(all, bytes / byte_rate);
  }
  for (const auto& contestant : all) {
    if (plain) fmt::print("{} {}\n", contestant.name, fmt::join(contestant.seconds, " "));
  }
}
