// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "d5/core/event.hpp"
#include "d5/core/tensor.hpp"
#include "d5/level3_distributed/traffic.hpp"

namespace d5 {

enum class Reduction { sum, maximum, minimum };

/// A call that is under way. Destroying it waits, except while an exception unwinds: then the job
/// is about to end, and waiting for the others might never.
class Request {
 public:
  virtual ~Request() = default;
  virtual void wait() = 0;
  /// Whether it is complete. Asking also moves it on: nothing else does while the caller computes.
  [[nodiscard]] virtual bool done() = 0;
};

/// A group of ranks. Collectives are called by all of them in the same order, blocking and started
/// ones alike, with tensors of the same description.
///
/// Throws: CommunicationError, ShapeError, TypeError, ValueError, naming the rank. A rank of
/// `world()` that lets an exception out of `main` prints `rank N: message` and ends the job; one
/// that exits with a status other than 0 ends it too, if the others do not exit as well within 3 s.
/// Thread safety: none; one thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// In place, on all ranks, the same bits on each.
  void all_reduce(Tensor& data, Reduction reduction = Reduction::sum);
  /// As `all_reduce`, under way when it returns; `data` is the library's until the request is done.
  [[nodiscard]] std::unique_ptr<Request> start_all_reduce(Tensor& data,
                                                          Reduction reduction = Reduction::sum);
  /// Overwrites `data` with that of rank `root`.
  void broadcast(Tensor& data, int root);
  /// Shapes: `all` holds `size()` times the elements of `mine`, rank by rank.
  void all_gather(const Tensor& mine, Tensor& all);
  /// Shapes: `all` holds `size()` times the elements of `mine`; rank r gets part r, reduced.
  void reduce_scatter(const Tensor& all, Tensor& mine, Reduction reduction = Reduction::sum);
  void send(const Tensor& data, int to, int tag = 0);
  void receive(Tensor& data, int from, int tag = 0);
  /// `data` stays untouched until the request is done.
  [[nodiscard]] std::unique_ptr<Request> start_send(const Tensor& data, int to, int tag = 0);
  [[nodiscard]] std::unique_ptr<Request> start_receive(Tensor& data, int from, int tag = 0);
  void barrier();

  /// Exact counts of this rank since the communicator was made.
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  [[nodiscard]] EventList& events() { return events_; }
  /// Prints `rank N: reason` and ends the job on all ranks.
  [[noreturn]] virtual void abort(const std::string& reason) = 0;

 protected:
  // What a transport does; sizes, types, ranks and tags were checked, and the bytes are counted.
  virtual void do_all_reduce(Tensor& data, Reduction reduction) = 0;
  virtual std::unique_ptr<Request> do_start_all_reduce(Tensor& data, Reduction reduction) = 0;
  virtual void do_broadcast(Tensor& data, int root) = 0;
  virtual void do_all_gather(const Tensor& mine, Tensor& all) = 0;
  virtual void do_reduce_scatter(const Tensor& all, Tensor& mine, Reduction reduction) = 0;
  virtual std::unique_ptr<Request> do_start_send(const Tensor& data, int to, int tag) = 0;
  virtual std::unique_ptr<Request> do_start_receive(Tensor& data, int from, int tag) = 0;
  virtual void do_barrier() = 0;

 private:
  void check_data(std::string_view call, const Tensor& data) const;
  void check_rank(std::string_view call, int rank) const;
  void check_peer(std::string_view call, int rank, int tag) const;
  void check_parts(std::string_view call, const Tensor& mine, const Tensor& all) const;
  /// Counts, tells the observers before and after, and calls `work` in between.
  template <class Work>
  auto call(std::string_view name, std::int64_t sent, std::int64_t received, const Work& work);

  Traffic traffic_;
  EventList events_;
};

/// All ranks of the job: under mpirun those of Open MPI, otherwise this process alone, without
/// starting MPI. Made on the first call, ended when the process exits.
/// Throws: Unsupported under mpirun with several ranks if d5 was built without MPI.
[[nodiscard]] std::shared_ptr<Communicator> world();
/// Waits until all ranks have come here; with a status other than 0 for 3 s, and ends the job then.
/// The exit of a process does it by itself. It is for a program that finalises MPI before its exit
/// handlers run, as an interpreter does, where a rank that failed would wait for ever.
void leave_world(int status);

/// "Open MPI 4.1.4", or why there is none.
struct TransportInfo {
  bool present;
  std::string description;
};
[[nodiscard]] TransportInfo transport();

}  // namespace d5
