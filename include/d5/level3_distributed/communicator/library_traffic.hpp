// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace d5 {

/// What a transport's library really sends, the inside of its collectives included: a part that a
/// framework may bring beside its `Transport`.
///
///     framework.part<std::unique_ptr<LibraryTraffic>>() = std::make_unique<MyLibraryTraffic>();
class LibraryTraffic {
 public:
  virtual ~LibraryTraffic() = default;
  /// As `count_library_traffic`.
  virtual void enable() = 0;
  /// As `library_bytes_sent`.
  [[nodiscard]] virtual std::vector<std::int64_t> bytes_sent() = 0;
};

/// Has the library count from its start on, which costs it time in each message: before anybody
/// asked for `world`, on every rank. Nothing where no launcher started this process.
/// Throws: ValueError where the library runs already; Unsupported where it is missing or does not
/// count.
void count_library_traffic();

/// Bytes that this rank's library has sent so far to each rank of the job, for whatever
/// communicator; payload without headers. It talks to nobody.
/// Throws: Unsupported, with the reason, where nobody counts.
///
///     count_library_traffic();                            // first of all
///     world()->all_reduce(gradient);
///     library_bytes_sent()[1];                            // of it, what went to rank 1
[[nodiscard]] std::vector<std::int64_t> library_bytes_sent();

}  // namespace d5
