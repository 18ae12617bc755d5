// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/files/owned_descriptor.hpp"
#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// The processors of one judgement: those of the judged process, and one for the judge. No other
/// judgement on this machine gets them, in any process, until this object's end.
///
/// The calling thread is bound to the judge's processor, and with it the compiler, if the judge has
/// one thread. With more threads it is not bound, because frameworks' threads inherit its mask.
class CoreLease {
 public:
  /// Waits until enough are free. With no more than `threads` processors it takes them all, and
  /// judge and process share them. Throws: Interrupted; IoError.
  CoreLease(int threads, const Interrupt& interrupt);
  ~CoreLease();
  CoreLease(const CoreLease&) = delete;
  CoreLease& operator=(const CoreLease&) = delete;

  /// The processors of the judged process.
  [[nodiscard]] const std::vector<int>& own() const { return own_; }
  /// "1", "0-1, shared with the judge".
  [[nodiscard]] std::string words() const;

 private:
  std::vector<OwnedDescriptor> taken_;
  std::vector<int> own_, before_;  ///< `before_`: processors of the calling thread before
  bool shared_ = false;
};

}  // namespace d5::detail
