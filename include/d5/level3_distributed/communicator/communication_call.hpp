// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

struct CallOptions;

enum class Reduction { sum, maximum, minimum };

/// Source of a receive that matches a message from any rank.
inline constexpr int kAnyRank = -1;

/// Elements of each rank; empty: the same number on all.
using RankCounts = std::vector<std::int64_t>;

/// Source and size of a received message.
struct Received {
  int from = kAnyRank;
  std::int64_t elements = 0;
};

enum class CallKind {
  all_reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  gather,
  scatter,
  all_to_all,
  send,
  receive,
  barrier,
  split,
  schedule  ///< an algorithm of several calls (`run_schedule`), observed as one
};
/// "all_reduce", "send", ...: the keys of `Traffic`.
[[nodiscard]] std::string_view name_of(CallKind kind);
/// Whether all ranks of the group take part.
[[nodiscard]] inline bool is_collective(CallKind kind) {
  return kind != CallKind::send && kind != CallKind::receive && kind != CallKind::schedule;
}

/// One call of a communicator. Decorators pass it on, the transport executes it.
struct CommunicationCall {
  CallKind kind = CallKind::barrier;
  Tensor input = {};   ///< all_gather, reduce_scatter, gather, scatter, all_to_all, send
  Tensor output = {};  ///< the result; for all_reduce and broadcast the input too
  Reduction reduction = Reduction::sum;
  int peer = kAnyRank;  ///< the root, or the partner of a send or receive
  int tag = 0;
  RankCounts input_counts = {};   ///< scatter, reduce_scatter, all_to_all
  RankCounts output_counts = {};  ///< gather, all_gather, all_to_all
  Received* received = nullptr;   ///< set for a receive that accepts a shorter message
  /// Sequence number of a collective in its group, from 0; the same on every rank.
  std::int64_t number = -1;
  std::int64_t bytes_sent = 0, bytes_received = 0;  ///< as `Traffic` counts them
  std::shared_ptr<const CallOptions> options = {};  ///< null: defaults
};

/// "all_reduce of 1000 x float32", "send of 3 x int64 to rank 1, tag 7": for messages.
[[nodiscard]] std::string to_string(const CommunicationCall& call);

}  // namespace d5
