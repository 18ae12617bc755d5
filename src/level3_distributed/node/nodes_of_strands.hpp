// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "d5/level3_distributed/node/node_memory.hpp"

namespace d5::detail {

/// Where ranks are strands of one thread, as in a simulation: which of them share memory, and what
/// using it takes of their time.
class NodesOfStrands {
 public:
  virtual ~NodesOfStrands() = default;
  /// Tells the node of an outermost rank from the others.
  [[nodiscard]] virtual std::string identity(int outermost_rank) const = 0;
  /// Before the strand that runs reads what others publish.
  virtual void look() = 0;
  /// Before it publishes something itself, and after it.
  virtual void publishes() = 0;
  virtual void published() = 0;
  /// It copies so much from or to memory that ranks share, or adds what is there.
  virtual void copies(std::size_t bytes) = 0;
  virtual void sums(std::size_t bytes) = 0;
};
/// Those of this thread; null: its rank is a process.
[[nodiscard]] NodesOfStrands*& nodes_of_strands();

inline std::int64_t look_at(const NodeCounter& counter) {
  if (auto* strands = nodes_of_strands()) strands->look();
  return counter.read();
}

inline void publish(NodeCounter& counter, std::int64_t value) {
  auto* strands = nodes_of_strands();
  if (strands) strands->publishes();
  counter.write(value);
  if (strands) strands->published();
}

/// Between a rank's own memory and what it shares. `is_there`: own memory has elements.
inline void copy_in_node(std::byte* to, const std::byte* from, std::size_t bytes, bool is_there) {
  if (auto* strands = nodes_of_strands()) strands->copies(bytes);
  if (is_there) std::memcpy(to, from, bytes);
}

/// `other`, or `into`, is memory that ranks share.
inline void reduce_in_node(Communicator& ranks, Tensor& into, const Tensor& other,
                           Reduction reduction, bool is_there) {
  auto* strands = nodes_of_strands();
  if (!strands) return ranks.reduce_local(into, other, reduction);
  strands->sums(into.bytes());
  if (is_there) ranks.Communicator::reduce_local(into, other, reduction);
}

}  // namespace d5::detail
