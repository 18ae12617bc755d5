// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace d5 {

/// Behaviour of a waiting thread between two polls.
enum class Waiting {
  usual,  ///< yields the core, and sleeps after a while
  spin,   ///< keeps the core
  yield,  ///< yields the core after each poll
  sleep   ///< at least 50 us
};

/// The processor resources that one started call may use on its rank. Unset fields keep the default
/// behaviour. Results are the same to the bit, whatever the resources.
///
///     ranks->with({.resources = {.threads = 1, .waiting = Waiting::spin}},
///                 [&] { return ring->start(*ranks, gradient); });
///
/// All ranks give the same `threads` and `chunk_bytes`; the other fields may differ between ranks.
struct CommunicationResources {
  /// Threads that progress the call. 0: the computing thread progresses it when it polls or waits,
  /// together with earlier calls on the same memory or thread.
  std::optional<int> threads = {};
  std::optional<std::int64_t> chunk_bytes = {};  ///< size of a message
  /// System core numbers, thread i on the i-th core; empty: all cores of the process.
  std::vector<int> cores = {};
  Waiting waiting = Waiting::usual;
  std::chrono::nanoseconds poll_interval{0};  ///< minimum time between two polls

  bool operator==(const CommunicationResources&) const = default;
};

/// "threads=1:chunk=64KiB:cores=0+1:waiting=spin:poll=10us"; "default" if no field is set.
[[nodiscard]] std::string to_words(const CommunicationResources& resources);
/// The inverse of `to_words`. `cores` may also be "shared" (the cores that the calling thread is
/// bound to) or "apart" (all other cores of the process). Throws: ValueError.
[[nodiscard]] CommunicationResources resources_of(const std::string& words);
/// Checks the values. Throws: ValueError for a negative number of threads, chunks below one byte,
/// and cores that do not exist or that the process may not use.
void expect_usable(const CommunicationResources& resources);

/// The resources that a call really ran with.
struct UsedResources {
  CommunicationResources resources;
  std::string ignored = {};  ///< "threads: no ProgressThread ..."; empty: all were used
};
/// Marks all requested resources as ignored, with the reason.
[[nodiscard]] UsedResources ignore_all(const CommunicationResources& asked,
                                       const std::string& reason);

/// Options of one started call (`Communicator::with`).
struct CallOptions {
  CommunicationResources resources = {};
  int priority = 0;        ///< requests of higher priority progress first
  std::string label = {};  ///< for observers
};

}  // namespace d5
