// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace d5 {

class Communicator;

/// What one rank said to others, by kind of call. The counts are exact, and depend on the calls
/// alone, never on the algorithm that a library picks inside a call.
///
/// Units: bytes of payload: what the rank hands in for others, and what it gets from others. With n
/// ranks, n > 1 (a rank alone counts its calls, and no bytes):
///
///     call              handed in and got out       bytes_sent         bytes_received
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
/// An algorithm that d5 runs itself over `send` and `receive` (collectives/) is counted in these,
/// and so byte by byte as it goes over the wire.
struct Traffic {
  struct Line {
    std::int64_t calls = 0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
    bool operator==(const Line&) const = default;
  };
  std::map<std::string, Line, std::less<>> by_call;  ///< "all_reduce", "send", ...

  void add(std::string_view call, std::int64_t bytes_sent, std::int64_t bytes_received);
  /// Of a call that is counted already.
  void add_bytes(std::string_view call, std::int64_t bytes_sent, std::int64_t bytes_received);
  [[nodiscard]] Line total() const;
  /// What was added since `earlier`; kinds without a call in between are left out.
  [[nodiscard]] Traffic since(const Traffic& earlier) const;
};

/// Every rank's `mine`, in their order, the same on each: `communicator.traffic()`, or what was
/// added since some moment. A collective: all ranks call it.
[[nodiscard]] std::vector<Traffic> gather_traffic(Communicator& communicator, const Traffic& mine);

}  // namespace d5
