// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/patience.hpp"

#include "core/machine/machine.hpp"
#include "core/process/launcher.hpp"

namespace d5::detail {
namespace {

thread_local PauseInstead pause_instead = nullptr;

}  // namespace

PauseInstead& pause_instead_of_thread() { return pause_instead; }

bool ranks_have_cores() {
  static const bool have = [] {
    const int here = launched_ranks_here();
    return (here > 0 ? here : launched_ranks()) <= machine().cores;
  }();
  return have;
}

}  // namespace d5::detail
