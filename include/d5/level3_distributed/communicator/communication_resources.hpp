// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace d5 {

/// What a thread does between two looks at what it waits for.
enum class Waiting {
  usual,  ///< gives the core away, and sleeps after a while
  spin,   ///< keeps the core
  yield,  ///< gives the core away each time
  sleep   ///< at least 50 us
};

/// What one started call may take of its rank's processor; what is left open is as ever. Results
/// do not depend on it, to the bit.
///
///     ranks->with({.resources = {.threads = 1, .waiting = Waiting::spin}},
///                 [&] { return ring->start(*ranks, gradient); });
///
/// All ranks give the same `threads` and `chunk_bytes`; the others are each rank's own affair.
struct CommunicationResources {
  /// That move it on. 0: the computing thread does, when it asks or waits; what was started before
  /// through the same memory or thread goes on with it.
  std::optional<int> threads = {};
  std::optional<std::int64_t> chunk_bytes = {};  ///< of data in a piece
  /// The system's numbers of those that its threads run on, thread i on the i-th; empty: wherever
  /// the process may.
  std::vector<int> cores = {};
  Waiting waiting = Waiting::usual;
  std::chrono::nanoseconds poll_interval{0};  ///< at least so long from look to look

  bool operator==(const CommunicationResources&) const = default;
};

/// "threads=1:chunk=64KiB:cores=0+1:waiting=spin:poll=10us"; "default" where all is left open.
[[nodiscard]] std::string to_words(const CommunicationResources& resources);
/// What `to_words` reads. `cores` may also be "shared", those that the calling thread is bound to,
/// or "apart", all others that the process may use. Throws: ValueError.
[[nodiscard]] CommunicationResources resources_of(const std::string& words);
/// Throws: ValueError for less than no thread or one byte, and for cores that do not exist or that
/// the process may not use.
void expect_usable(const CommunicationResources& resources);

/// What a call really ran with.
struct UsedResources {
  CommunicationResources resources;
  std::string ignored = {};  ///< "cores: no thread moves it on"; empty: nothing that was asked for
};
/// All that was asked for was ignored, for that reason.
[[nodiscard]] UsedResources ignore_all(const CommunicationResources& asked,
                                       const std::string& reason);

/// What may be said of one started call (`Communicator::with`).
struct CallOptions {
  CommunicationResources resources = {};
  int priority = 0;        ///< of several under way, a higher one is moved on first
  std::string label = {};  ///< for observers
};

}  // namespace d5
