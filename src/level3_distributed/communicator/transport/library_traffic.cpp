// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/library_traffic.hpp"

#include "core/process/launcher.hpp"
#include "d5/core/errors/error.hpp"
#include "level3_distributed/communicator/transport/loaded_part.hpp"

namespace d5 {
namespace {

LibraryTraffic& loaded_traffic() {
  return detail::loaded_part<LibraryTraffic>("counts of its library's bytes");
}

}  // namespace

void count_library_traffic() {
  if (detail::launched_ranks() > 0) loaded_traffic().enable();
}

std::vector<std::int64_t> library_bytes_sent() {
  if (detail::launched_ranks() == 0) throw Unsupported("no launcher started this process");
  return loaded_traffic().bytes_sent();
}

}  // namespace d5
