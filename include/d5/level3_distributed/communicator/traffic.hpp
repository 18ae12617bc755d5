// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace d5 {

class Communicator;

/// The communication of one rank, by kind of call: bytes on the wire. A byte counts where it leaves
/// its rank, and at each rank that it reaches, so that all ranks together send what they receive.
///
/// A library's collective does not show its messages, and node memory has none. They count as the
/// least that each rank has to move: every part goes straight to each rank that gets it, and an
/// all-reduce is a reduce-scatter and an all-gather. For n ranks (a single rank counts calls and no
/// bytes):
///
///     call              given and received       bytes_sent           bytes_received
///     all_reduce        b bytes                     2 (n - 1) / n b      2 (n - 1) / n b
///     broadcast         b bytes                     root: (n - 1) b      root: 0, else b
///     all_gather        m mine, a of all            (n - 1) m            a - m
///     reduce_scatter    a of all, m mine            a - m                (n - 1) m
///     gather            m mine, a of all            root: 0, else m      root: a - m, else 0
///     scatter           a of all, m mine            root: a - m          root: 0, else m
///     all_to_all        a to, b from, m to itself   a - m                b - m
///     send, receive     b bytes                     send: b              receive: b
///     barrier, split    nothing                     0                    0
///
/// Algorithms that d5 runs itself over `send` and `receive` (collectives/) are counted as these
/// calls, message by message.
///
/// Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
/// Workstations" (JPDC 2009): the lower bound of an all-reduce.
struct Traffic {
  struct Line {
    std::int64_t calls = 0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
    bool operator==(const Line&) const = default;
  };
  std::map<std::string, Line, std::less<>> by_call;  ///< "all_reduce", "send", ...

  /// The least that each of n ranks sends, and receives, in an all-reduce of b bytes.
  [[nodiscard]] static std::int64_t of_all_reduce(std::int64_t bytes, int ranks) {
    return 2 * (ranks - 1) * bytes / ranks;
  }

  void add(std::string_view call, std::int64_t bytes_sent, std::int64_t bytes_received);
  /// Adds bytes to a call that is counted already.
  void add_bytes(std::string_view call, std::int64_t bytes_sent, std::int64_t bytes_received);
  [[nodiscard]] Line total() const;
  /// The difference to `earlier`; kinds without a call in between are left out.
  [[nodiscard]] Traffic since(const Traffic& earlier) const;
};

/// Every rank's `mine`, in rank order, on every rank. `mine` is `communicator.traffic()` or a
/// difference of two. A collective: all ranks call it.
[[nodiscard]] std::vector<Traffic> gather_traffic(Communicator& communicator, const Traffic& mine);

}  // namespace d5
