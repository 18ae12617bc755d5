// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "d5/level3_distributed/node/node_memory.hpp"

namespace d5::detail {

/// Shared memory between ranks that are strands of one thread, as in a simulation: which ranks
/// share it, and the virtual time of its use.
class NodesOfStrands {
 public:
  virtual ~NodesOfStrands() = default;
  /// Identifies the node of an outermost rank.
  [[nodiscard]] virtual std::string identity(int outermost_rank) const = 0;
  /// Called before the running strand reads published data of others.
  virtual void look() = 0;
  /// Called before and after the running strand publishes data.
  virtual void publishes() = 0;
  virtual void published() = 0;
  /// Called when it copies `bytes` from or to shared memory, or adds data there.
  virtual void copies(std::size_t bytes) = 0;
  virtual void sums(std::size_t bytes) = 0;
};
/// The nodes of this thread's strands; null: the rank is a process.
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

/// Copies between private and shared memory. `is_there`: the private memory has elements.
inline void copy_in_node(std::byte* to, const std::byte* from, std::size_t bytes, bool is_there) {
  if (auto* strands = nodes_of_strands()) strands->copies(bytes);
  if (is_there) std::memcpy(to, from, bytes);
}

/// Reduces `other` into `into`, of which one is in shared memory.
inline void reduce_in_node(Communicator& ranks, Tensor& into, const Tensor& other,
                           Reduction reduction, bool is_there) {
  auto* strands = nodes_of_strands();
  if (!strands) return ranks.reduce_local(into, other, reduction);
  strands->sums(into.bytes());
  if (is_there) ranks.Communicator::reduce_local(into, other, reduction);
}

}  // namespace d5::detail
