// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

#include "d5/core/tensor.hpp"
#include "prediction/simulation/fiber_scheduler.hpp"

namespace d5::detail {

/// A send or a receive of a simulated rank. Ranks are the world's.
struct MessageEnd {
  int rank = 0;
  int peer = 0;     ///< of a receive it may be `kAnyRank`
  int context = 0;  ///< messages of one group meet
  int tag = 0;
  bool sends = false;
  Tensor data = {};

  bool complete = false;
  double time = 0;                           ///< when it was complete
  int from = 0;                              ///< of a complete receive
  std::int64_t bytes = 0;                    ///< of a complete receive
  std::exception_ptr error = {};             ///< that it ended with
  FiberScheduler::Strand* waiter = nullptr;  ///< woken when it is complete
  bool told = false;                         ///< its rank has seen that it is complete
};

}  // namespace d5::detail
