// SPDX-License-Identifier: Apache-2.0
#include "core/peak/processor_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/files/cache_folder.hpp"
#include "core/machine/machine.hpp"
#include "core/thread_pool/thread_pool.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "d5 processor speed";
constexpr std::int64_t kRounds = 4000, kOperationsARound = 18;

/// Six independent chains, so that all integer units are busy.
std::uint64_t compute(std::uint64_t seed) {
  std::uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3, e = seed + 4, f = seed + 5;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    const auto round = std::uint64_t(i);
    a = (a ^ (a << 13)) + round, b = (b ^ (b << 13)) + round, c = (c ^ (c << 13)) + round;
    d = (d ^ (d << 13)) + round, e = (e ^ (e << 13)) + round, f = (f ^ (f << 13)) + round;
  }
  return a ^ b ^ c ^ d ^ e ^ f;
}

/// The median, in operations per second.
double speed_of_thread() {
  constexpr std::size_t kTries = 5;
  // Volatile, so that the compiler does not remove the computation.
  static thread_local volatile std::uint64_t kept = 1;
  std::array<double, kTries> seconds{};
  for (double& one : seconds) {
    const double begin = now_seconds();
    kept = compute(kept);
    one = now_seconds() - begin;
  }
  std::ranges::nth_element(seconds, seconds.begin() + kTries / 2);
  return double(kRounds * kOperationsARound) / seconds[kTries / 2];
}

fs::path kept_file(int threads) {
  return measured_file("speed", fmt::format("{}\n{} threads\n" __VERSION__ "\n" D5_CXX_FLAGS,
                                            machine().cpu, threads));
}

double kept_speed(int threads) {
  std::error_code ignored;
  const fs::path file = kept_file(threads);
  if (file.empty() || !fs::is_regular_file(file, ignored)) return 0;
  try {  // a damaged file counts as missing
    const Json json = Json::parse(read_file(file.string(), 1 << 16));
    return json.at("format") == kFormat ? double(json.at("operations_per_second")) : 0.0;
  } catch (const Json::exception&) {
    return 0;
  } catch (const IoError&) {
    return 0;
  }
}

}  // namespace

double processor_speed() {
  if (ThreadPool::inside()) return 0;
  constexpr double kLongest = 1e-3;
  const int count = threads();
  std::atomic<int> begun = 0;
  std::atomic<double> slowest = std::numeric_limits<double>::infinity();
  const double end = now_seconds() + kLongest;
  parallel_for(count, 1, [&](std::int64_t first, std::int64_t last) {
    begun.fetch_add(int(last - first));
    while (begun.load() < count && now_seconds() < end) std::this_thread::yield();
    const double speed = begun.load() < count || last - first > 1 ? 0 : speed_of_thread();
    for (double least = slowest.load(); speed < least;) {
      if (slowest.compare_exchange_weak(least, speed)) break;
    }
  });
  return slowest.load();
}

namespace {

struct Best {
  std::mutex mutex;
  std::map<int, double> speeds;  ///< by number of threads

  double& of(int threads) {
    const auto [place, is_new] = speeds.try_emplace(threads, 0);
    if (is_new) place->second = kept_speed(threads);
    return place->second;
  }
};
Best& best() {
  static Best of_process;
  return of_process;
}

}  // namespace

double best_processor_speed(int threads) {
  const std::lock_guard lock(best().mutex);
  return best().of(threads);
}

void keep_processor_speed(int threads, double speed) {
  constexpr double kMore = 1.01;  // smaller gains are within the clock's error
  const std::lock_guard lock(best().mutex);
  double& kept = best().of(threads);
  if (!(speed > kMore * kept)) return;
  kept = speed;
  try {
    const Json json = {{"format", kFormat}, {"operations_per_second", speed}};
    keep_measured(kept_file(threads), json.dump(1) + "\n");
  } catch (const IoError&) {
  }
}

}  // namespace d5::detail
