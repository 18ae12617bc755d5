// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "d5/level3_distributed/node/node_memory.hpp"
#include "level3_distributed/communicator/patience.hpp"

namespace d5 {

bool wait_in_node(const std::function<bool()>& holds,
                  std::chrono::steady_clock::time_point deadline) {
  for (detail::Patience patience; !holds(); patience.pause()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
  return true;
}

NodeBarrier::NodeBarrier(std::shared_ptr<NodeMemory> memory, std::size_t offset_bytes, int rank,
                         int size)
    : memory_(std::move(memory)), rank_(rank), size_(size) {
  const Tensor place = memory_->at(
      offset_bytes, {DType::uint8, {static_cast<std::int64_t>(bytes(size))}});  // checks the bounds
  counters_ = reinterpret_cast<NodeCounter*>(memory_->data() + offset_bytes);
}

bool NodeBarrier::arrive_and_wait(std::chrono::steady_clock::time_point deadline) {
  counters_[rank_].write(++turn_);
  return wait_in_node(
      [&] {
        return std::ranges::all_of(std::span(counters_, static_cast<std::size_t>(size_)),
                                   [&](const auto& counter) { return counter.read() >= turn_; });
      },
      deadline);
}

}  // namespace d5
