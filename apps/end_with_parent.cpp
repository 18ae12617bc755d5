// SPDX-License-Identifier: Apache-2.0
#include "apps/end_with_parent.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace d5::app {

void end_with_parent() {
  constexpr const char* kVariable = "D5_ENDS_WITH";
  const char* parent = std::getenv(kVariable);
  if (!parent) return;
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(::getppid()) != parent) std::_Exit(1);  // it ended before
  ::unsetenv(kVariable);  // what this one starts has another parent
}

}  // namespace d5::app
