// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "d5/level3_distributed/node/node_memory.hpp"
#include "level3_distributed/communicator/boot_id.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"

namespace d5 {

std::string node_identity(const Communicator& ranks) {
  if (!ranks.shares_nodes()) {
    return fmt::format("one of its own, rank {}", ranks.outermost_rank(ranks.rank()));
  }
  if (const auto* strands = detail::nodes_of_strands()) {
    return strands->identity(ranks.outermost_rank(ranks.rank()));
  }
  struct stat memory = {}, processes = {};
  stat("/dev/shm", &memory);
  stat("/proc/self/ns/pid", &processes);
  return fmt::format("boot {}, memory {}, processes {}", detail::boot_id(), memory.st_dev,
                     processes.st_ino);
}

std::shared_ptr<Communicator> node_group(Communicator& ranks) {
  const auto nodes = detail::gather_texts(ranks, node_identity(ranks));
  // The color of a node is its first rank.
  const auto mine = nodes[static_cast<std::size_t>(ranks.rank())];
  return ranks.split(static_cast<int>(std::ranges::find(nodes, mine) - nodes.begin()));
}

}  // namespace d5
