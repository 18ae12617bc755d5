// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace d5 {

class Communicator;

/// The communication of one rank, by kind of call. The counts are exact and depend on the calls
/// only, not on the algorithm that a library picks inside a call.
///
/// Units: bytes of payload that the rank gives to others and gets from others. For more than one
/// rank (a single rank counts calls and no bytes):
///
///     call              given and received       bytes_sent         bytes_received
///     all_reduce        b bytes                     b                  b
///     broadcast         b bytes                     root: b, else 0    root: 0, else b
///     all_gather        m mine, a of all            m                  a - m
///     reduce_scatter    a of all, m mine            a - m              m
///     gather            m mine, a of all            root: 0, else m    root: a - m, else 0
///     scatter           a of all, m mine            root: a - m        root: 0, else m
///     all_to_all        a to, b from, m to itself   a - m              b - m
///     send, receive     b bytes                     send: b            receive: b
///     barrier, split    nothing                     0                  0
///
/// Algorithms that d5 runs itself over `send` and `receive` (collectives/) are counted as these
/// calls, so every byte on the wire counts.
struct Traffic {
  struct Line {
    std::int64_t calls = 0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
    bool operator==(const Line&) const = default;
  };
  std::map<std::string, Line, std::less<>> by_call;  ///< "all_reduce", "send", ...

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
