// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/prediction/graph/operation_graph.hpp"

namespace d5 {

/// Contention of computation and communication that run on a rank at the same time: factors on
/// the time of each. 1: none.
struct Slowdown {
  double kernel = 1;      ///< factor on computation beside communication
  double all_reduce = 1;  ///< factor on communication beside computation
  bool operator==(const Slowdown&) const = default;
};
/// Throws: ValueError in the name of `who` for a factor that is not above 0 or not finite.
void expect_usable(const Slowdown& slowdown, const std::string& who);

/// The slowdown of an operation that computes, as attributes "kernel_slowdown" and
/// "all_reduce_slowdown", which `schedule` applies. Without attributes: none.
[[nodiscard]] Slowdown slowdown_of(const Operation& operation);
/// Throws: as `expect_usable`.
void set_slowdown(Operation& operation, const Slowdown& slowdown);

}  // namespace d5
