// SPDX-License-Identifier: Apache-2.0
#include "d5/core/peak/machine_peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/files/cache_folder.hpp"
#include "core/machine/machine.hpp"
#include "core/peak/fused_multiply_adds.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "d5 machine peak";
constexpr double kSeconds = 0.5;  // minimum for each of the three
constexpr int kFewestWindows = 100;

/// The highest rate of `work`, which does `amount` per call on all threads. A call is a window,
/// short enough to fit between two time slices of other work.
template <class Work>
double highest_rate(double amount, const Work& work) {
  double shortest = 0;
  const double deadline = now_seconds() + kSeconds;
  for (int windows = 0; windows < kFewestWindows || now_seconds() < deadline; ++windows) {
    const double begin = now_seconds();
    work();
    const double seconds = now_seconds() - begin;
    if (shortest == 0 || seconds < shortest) shortest = seconds;
  }
  return amount / shortest;
}

template <class T>
double flop_rate_of(double (*chains)(std::int64_t rounds, T factor), std::int64_t flop_a_round) {
  constexpr std::int64_t kRounds = 200'000;  // below a millisecond
  std::vector<double> sums(static_cast<std::size_t>(
      threads()));  // stored, so that the compiler does not remove the computation
  return highest_rate(double(flop_a_round * kRounds) * threads(), [&] {
    parallel_for(threads(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        sums[std::size_t(i)] += chains(kRounds, T(0.999));
      }
    });
  });
}

double triad_rate() {
  constexpr double kTimesCache = 4, kLeast = 16e6, kMost = 256e6;  // size of an array in bytes
  constexpr std::int64_t kWindow = 1 << 17;                        // elements: some megabytes
  const auto& machine = detail::machine();
  const double bytes =
      std::clamp(kTimesCache * std::max(machine.l2_bytes, machine.l3_bytes) / 3, kLeast,
                 std::max(kLeast, std::min(kMost, machine.memory_bytes / 12)));
  const auto windows = std::int64_t(bytes / sizeof(double)) / kWindow;
  const auto count = std::size_t(windows * kWindow);
  // Uninitialised for first-touch placement: each thread's parts are in its own NUMA node.
  const std::unique_ptr<double[]> a(new double[count]), b(new double[count]), c(new double[count]);
  std::int64_t window = 0;
  const auto next_window = [&](const auto& body) {  // earlier data has left the caches
    parallel_for(kWindow, 4096, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = window * kWindow;
      for (std::int64_t i = first + begin; i < first + end; ++i) body(std::size_t(i));
    });
    window = (window + 1) % windows;
  };
  for (std::int64_t i = 0; i < windows; ++i) {
    next_window([&](std::size_t j) { a[j] = 0, b[j] = 1, c[j] = 2; });
  }
  return highest_rate(3 * sizeof(double) * double(kWindow),
                      [&] { next_window([&](std::size_t j) { a[j] = b[j] + 3 * c[j]; }); });
}

/// Description of the machine, as the key of a stored peak.
std::string machine_words() {
  const auto& machine = detail::machine();
  return fmt::format("{}, {} cores, {} hardware threads, {} threads compute", machine.cpu,
                     machine.cores, machine.hardware_threads, threads());
}

fs::path cache_file() { return detail::measured_file("peak", machine_words()); }

void keep(const MachinePeak& peak) {
  const nlohmann::ordered_json json = {{"format", kFormat},
                                       {"machine", machine_words()},
                                       {"float32_flop_rate", peak.float32_flop_rate},
                                       {"float64_flop_rate", peak.float64_flop_rate},
                                       {"byte_rate", peak.byte_rate}};
  detail::keep_measured(
      cache_file(),
      json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace

double MachinePeak::flop_rate(DType dtype) const {
  if (dtype == DType::float64) return float64_flop_rate;
  return is_floating_point(dtype) ? float32_flop_rate : 0;
}

MachinePeak machine_peak() {
  const fs::path file = cache_file();
  std::error_code ignored;
  if (file.empty() || !fs::is_regular_file(file, ignored)) return {};
  try {  // a damaged file counts as missing
    const auto json = nlohmann::ordered_json::parse(read_file(file.string(), 1 << 16));
    if (json.at("format") != kFormat || json.at("machine") != machine_words()) return {};
    return {.float32_flop_rate = json.at("float32_flop_rate"),
            .float64_flop_rate = json.at("float64_flop_rate"),
            .byte_rate = json.at("byte_rate")};
  } catch (const nlohmann::ordered_json::exception&) {
    return {};
  } catch (const IoError&) {
    return {};
  }
}

MachinePeak measure_machine_peak() {
  const auto units = detail::fused_multiply_adds();
  const MachinePeak before = machine_peak();
  const MachinePeak peak{
      .float32_flop_rate = std::max(before.float32_flop_rate,
                                    flop_rate_of<float>(units.float32, units.float32_flop)),
      .float64_flop_rate = std::max(before.float64_flop_rate,
                                    flop_rate_of<double>(units.float64, units.float64_flop)),
      .byte_rate = std::max(before.byte_rate, triad_rate())};
  keep(peak);
  return peak;
}

}  // namespace d5
