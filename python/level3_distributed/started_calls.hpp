// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "bindings.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::python {

/// A request, with everything that has to outlive it.
class StartedCall {
 public:
  explicit StartedCall(std::shared_ptr<Communicator> ranks, Tensor data = {}, Tensor result = {})
      : ranks(std::move(ranks)), data(std::move(data)), result(std::move(result)) {}
  ~StartedCall();

  void wait() { request->wait(); }
  bool done() { return request->done(); }
  bool wait_for(double seconds) {
    const std::chrono::duration<double> longest(seconds);
    return request->wait_until(
        std::chrono::steady_clock::now() +
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(longest));
  }

  std::shared_ptr<Communicator> ranks;
  std::shared_ptr<Collective> algorithm;
  Tensor data, result;
  Received received;
  std::unique_ptr<Request> request;
};

using CommunicatorClass = py::class_<Communicator, std::shared_ptr<Communicator>>;

/// Binds the non-blocking calls of a communicator.
void bind_started_calls(py::module_& m, CommunicatorClass& communicator);
void bind_scaling_study(py::module_& m);
/// Binds options for them: `with_options`.
void bind_call_options(CommunicatorClass& communicator);

}  // namespace d5::python
