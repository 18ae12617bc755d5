// SPDX-License-Identifier: Apache-2.0
// Waiting of idle threads of OpenMP runtimes; thread_pool.hpp has that of d5's threads.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>

#include "core/thread_pool/thread_pool.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/thread_pool/waiting.hpp"

namespace d5 {
namespace {

/// GCC's runtime assumes 100 spins per microsecond; its default is 300,000 spins.
constexpr const char* kVariable = "GOMP_SPINCOUNT";
constexpr const char* kTurns = "10000";

/// Whether a runtime is loaded already, and has read its variables.
bool runtime_is_loaded() {
  void* runtime = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (runtime) dlclose(runtime);
  return runtime != nullptr;
}

std::string decide() {
  for (const char* variable : {"OMP_WAIT_POLICY", kVariable}) {
    if (const char* chosen = std::getenv(variable)) return fmt::format("{}={}", variable, chosen);
  }
  if (runtime_is_loaded()) return "set by its runtime, which was loaded before d5";
  setenv(kVariable, kTurns, 0);
  return fmt::format("{}={}, set by d5", kVariable, kTurns);
}

}  // namespace

std::string bound_waiting() {
  static std::once_flag once;
  static std::string openmp;
  std::call_once(once, [] { openmp = decide(); });
  return fmt::format("d5: spins {:.1g} ms, then sleeps; OpenMP: {}", detail::kSpinSeconds * 1e3,
                     openmp);
}

void outwait_spinning() {
  constexpr double kSeconds = 0.02;
  const double begin = now_seconds();
  while (now_seconds() - begin < kSeconds) continue;
}

}  // namespace d5
