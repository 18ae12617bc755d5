// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "d5/core/tensor.hpp"

namespace d5 {

enum class Reduction { sum, maximum, minimum };

/// What went over the wire, by kind of call: calls made here and bytes of their payload.
struct Traffic {
  struct Line {
    std::int64_t calls = 0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
  };
  std::map<std::string, Line, std::less<>> by_call;  ///< "all_reduce", "send", ...
  [[nodiscard]] Line total() const;
};

/// A collective that is under way. Destroying it waits.
class Request {
 public:
  virtual ~Request() = default;
  virtual void wait() = 0;
  [[nodiscard]] virtual bool done() = 0;
};

/// A group of ranks. Collectives are called by all of them in the same order.
///
/// Throws: CommunicationError naming the rank; a rank that throws out of `main`'s work ends the job.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// In place, on all ranks, the same bits on each.
  virtual void all_reduce(Tensor& data, Reduction reduction = Reduction::sum) = 0;
  /// As `all_reduce`, under way when it returns; `data` is the library's until the request is done.
  [[nodiscard]] virtual std::unique_ptr<Request> start_all_reduce(
      Tensor& data, Reduction reduction = Reduction::sum) = 0;
  virtual void broadcast(Tensor& data, int root) = 0;
  virtual void all_gather(const Tensor& mine, Tensor& all) = 0;
  virtual void reduce_scatter(const Tensor& all, Tensor& mine,
                              Reduction reduction = Reduction::sum) = 0;
  virtual void send(const Tensor& data, int to, int tag) = 0;
  virtual void receive(Tensor& data, int from, int tag) = 0;
  virtual void barrier() = 0;

  /// Exact counts of this rank. Collectives count their payload once sent and once received.
  [[nodiscard]] virtual const Traffic& traffic() const = 0;
  /// Ends the job on all ranks with `reason`, which names this rank.
  [[noreturn]] virtual void abort(const std::string& reason) = 0;
};

/// All ranks of the job: under mpirun those of Open MPI, otherwise this process alone. Without MPI
/// in the build it is always this process, and asking for more under mpirun throws Unsupported.
[[nodiscard]] std::shared_ptr<Communicator> world();

/// "Open MPI 4.1.4", or why there is none.
struct TransportInfo {
  bool present;
  std::string description;
};
[[nodiscard]] TransportInfo transport();

}  // namespace d5
