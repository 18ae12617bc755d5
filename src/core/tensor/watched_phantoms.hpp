// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace d5::detail {

/// Lets code read and write the first `bytes` of all phantom tensors, and tells whether it did: a
/// simulation that would end the process can then be refused by name. Numbers read are 0, or what
/// somebody else wrote. Where the system refuses such memory, an access stays a segmentation fault.
/// Thread safety: one at a time in a process; another one watches nothing.
class WatchedPhantoms {
 public:
  explicit WatchedPhantoms(std::size_t bytes);
  ~WatchedPhantoms();
  WatchedPhantoms(const WatchedPhantoms&) = delete;
  WatchedPhantoms& operator=(const WatchedPhantoms&) = delete;

  /// Whether a phantom's data was read or written.
  [[nodiscard]] bool touched() const;

 private:
  char* begin_ = nullptr;  // null: nothing is watched
  std::size_t bytes_ = 0;
};

}  // namespace d5::detail
