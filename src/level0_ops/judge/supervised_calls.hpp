// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "core/files/owned_descriptor.hpp"
#include "level0_ops/judge/judged_source.hpp"

struct seccomp_notif;

namespace d5::detail {

/// The judge's decisions on system calls of a confined process. Files are opened here, and only
/// their descriptors are handed over, so that the process cannot exchange a path after the check.
class SupervisedCalls {
 public:
  /// `listener` is the filter's descriptor. The source's file is opened by the judged process under
  /// `judged::kLibraryPath`. Files with a name that contains one of `forbidden` are a fault.
  SupervisedCalls(OwnedDescriptor listener, pid_t process, JudgedSource source,
                  std::vector<std::string> forbidden);

  [[nodiscard]] int descriptor() const { return listener_.get(); }
  /// Decides on one waiting call; returns at once if there is none. Throws: JudgeFault for a
  /// forbidden one, which stays unanswered: the process must be killed.
  void answer();

  /// Files that the process read.
  [[nodiscard]] const std::set<std::string>& opened() const { return opened_; }
  /// Names of refused calls and files, which the process may do without; the first hundred.
  [[nodiscard]] const std::set<std::string>& refused() const { return refused_; }

 private:
  void open_for(const seccomp_notif& asked, std::uint64_t path_address, std::uint64_t flags);
  [[nodiscard]] std::string text_at(std::uint64_t address) const;
  /// `what` is listed, if not empty.
  void refuse(const seccomp_notif& asked, int error, const std::string& what);

  OwnedDescriptor listener_;
  pid_t process_;
  JudgedSource source_;
  std::vector<std::string> forbidden_;
  std::set<std::string> opened_, refused_;
};

}  // namespace d5::detail
