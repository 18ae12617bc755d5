// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace d5 {

/// Counts the bytes that a transport's library really sends, inside its collectives too. An
/// optional part of a framework, beside its `Transport`.
///
///     framework.part<std::unique_ptr<LibraryTraffic>>() = std::make_unique<MyLibraryTraffic>();
class LibraryTraffic {
 public:
  virtual ~LibraryTraffic() = default;
  /// Implements `count_library_traffic`.
  virtual void enable() = 0;
  /// Implements `library_bytes_sent`.
  [[nodiscard]] virtual std::vector<std::int64_t> bytes_sent() = 0;
};

/// Makes the library count from its start on, at a cost in time for each message. Call it on every
/// rank before the first use of `world`. Does nothing if no launcher started this process.
/// Throws: ValueError if the library is already running; Unsupported if it is missing or cannot
/// count.
void count_library_traffic();

/// Bytes that this rank's library has sent so far to each rank of the job, over all communicators;
/// payload without headers. Not a collective.
/// Throws: Unsupported, with the reason, if nothing is counted.
///
///     count_library_traffic();                            // before anything else
///     world()->all_reduce(gradient);
///     library_bytes_sent()[1];                            // the bytes that went to rank 1
[[nodiscard]] std::vector<std::int64_t> library_bytes_sent();

}  // namespace d5
