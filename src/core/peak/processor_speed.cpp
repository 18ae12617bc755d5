// SPDX-License-Identifier: Apache-2.0
#include "core/peak/processor_speed.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/files/cache_folder.hpp"
#include "core/machine/machine.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "d5 processor speed";
constexpr std::int64_t kRounds = 4000, kOperationsARound = 18;

/// Six chains, so that all units for whole numbers are busy.
std::uint64_t compute(std::uint64_t seed) {
  std::uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3, e = seed + 4, f = seed + 5;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    const auto round = std::uint64_t(i);
    a = (a ^ (a << 13)) + round, b = (b ^ (b << 13)) + round, c = (c ^ (c << 13)) + round;
    d = (d ^ (d << 13)) + round, e = (e ^ (e << 13)) + round, f = (f ^ (f << 13)) + round;
  }
  return a ^ b ^ c ^ d ^ e ^ f;
}

fs::path kept_file() {
  return measured_file("speed", machine().cpu + "\n" __VERSION__ "\n" D5_CXX_FLAGS);
}

double kept_speed() {
  std::error_code ignored;
  const fs::path file = kept_file();
  if (file.empty() || !fs::is_regular_file(file, ignored)) return 0;
  try {  // one that is damaged is none
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
  using Clock = std::chrono::steady_clock;
  constexpr int kTries = 5;
  static volatile std::uint64_t kept = 1;  // so that it is computed
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const auto begin = Clock::now();
    kept = compute(kept);
    shortest = std::min(shortest, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return double(kRounds * kOperationsARound) / shortest;
}

namespace {

struct Best {
  std::mutex mutex;
  double speed = kept_speed();
};
Best& best() {
  static Best of_process;
  return of_process;
}

}  // namespace

double best_processor_speed() {
  const std::lock_guard lock(best().mutex);
  return best().speed;
}

void keep_processor_speed(double speed) {
  constexpr double kMore = 1.01;  // less is the clock's own error, and not worth a file
  const std::lock_guard lock(best().mutex);
  if (!(speed > kMore * best().speed)) return;
  best().speed = speed;
  try {
    const Json json = {{"format", kFormat}, {"operations_per_second", speed}};
    keep_measured(kept_file(), json.dump(1) + "\n");
  } catch (const IoError&) {
  }
}

}  // namespace d5::detail
