// SPDX-License-Identifier: Apache-2.0
// Which memory a window is in.
#include <algorithm>

#include "core/text/launcher.hpp"
#include "d5/core/error.hpp"
#include "d5/level3_distributed/memory_window.hpp"
#include "d5/level3_distributed/node_memory.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"
#include "level3_distributed/communicator/transport/loaded_part.hpp"
#include "level3_distributed/node/node_memory_window.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"

namespace d5 {
namespace {

bool share_a_node(Communicator& ranks) {
  const auto nodes = detail::gather_texts(ranks, node_identity(ranks));
  return std::ranges::all_of(nodes, [&](const auto& node) { return node == nodes.front(); });
}

}  // namespace

std::shared_ptr<MemoryWindow> make_memory_window(std::shared_ptr<Communicator> ranks,
                                                 std::size_t bytes, MemoryWindowKind kind) {
  if (detail::nodes_of_strands()) {
    throw Unsupported(
        "a memory window: simulated ranks have none, for what they write has no time");
  }
  if (kind == MemoryWindowKind::automatic) {
    kind = share_a_node(*ranks) ? MemoryWindowKind::node : MemoryWindowKind::library;
  }
  if (kind == MemoryWindowKind::node) {
    return detail::make_node_memory_window(std::move(ranks), bytes);
  }
  if (detail::launched_ranks() == 0) {
    throw Unsupported("a library's window: no launcher started this process; ask for `node`");
  }
  return detail::loaded_part<LibraryWindows>("windows").make(std::move(ranks), bytes);
}

}  // namespace d5
