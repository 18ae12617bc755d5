// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/tensor/tensor.hpp"
#include "d5/core/trace/event.hpp"
#include "d5/level3_distributed/communicator/communication_call.hpp"
#include "d5/level3_distributed/communicator/communication_resources.hpp"
#include "d5/level3_distributed/communicator/traffic.hpp"

namespace d5 {

class CommunicationEvent;
class CommunicatorDecorator;
class Span;
class CommunicationSchedule;
struct ScheduleFacts;
namespace detail {
class SchedulesUnderWay;
}

/// A call in flight. The destructor waits for it, except during the unwinding of an exception: then
/// the job is about to end, and the other ranks may never come.
class Request {
 public:
  /// Time when the transport took the call and time when it was complete, on the clock of
  /// `Trace::now_ns`; 0 if the transport does not know better than the caller.
  struct Times {
    std::int64_t begun_ns = 0, ended_ns = 0;
  };

  virtual ~Request() = default;
  virtual void wait() = 0;
  /// Tests for completion, and progresses the call: nothing else does while the caller computes.
  [[nodiscard]] virtual bool done() = 0;
  [[nodiscard]] virtual Times times() const { return {}; }
  /// The resources used, once it is done; nullopt if none were requested.
  [[nodiscard]] virtual std::optional<UsedResources> used() const { return {}; }
  /// Waits until `deadline` at the latest; returns whether the call is complete.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline);
};

/// A group of ranks. All ranks call the collectives, blocking and started ones alike, in the same
/// order, with tensors of the same type and, unless stated otherwise, the same size.
///
/// Every call has a non-blocking form (`start_...`). Its tensors belong to the library until the
/// request is done.
///
/// Throws: CommunicationError, ShapeError, TypeError, ValueError, naming the rank. If an exception
/// leaves `main` on a rank of `world()`, the rank prints `rank N: message` and ends the job. If a
/// rank exits with a status other than 0, the job ends unless the others exit within 3 s.
/// Thread safety: none; one thread at a time.
class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Reduces in place; the result has the same bits on every rank. float16 and bfloat16 are added
  /// in float32, and each sum is rounded.
  void all_reduce(Tensor& data, Reduction reduction = Reduction::sum);
  /// Overwrites `data` with that of rank `root`.
  void broadcast(Tensor& data, int root);
  /// Shapes: `all` holds every rank's `mine`, in rank order. Here and below, `counts` are the
  /// elements of each rank if they differ.
  void all_gather(const Tensor& mine, Tensor& all, const RankCounts& counts = {});
  /// Shapes: `all` holds one part for each rank; rank r gets part r, reduced.
  void reduce_scatter(const Tensor& all, Tensor& mine, Reduction reduction = Reduction::sum,
                      const RankCounts& counts = {});
  /// `all_gather` to `root` only; on the other ranks `all` may be undefined.
  void gather(const Tensor& mine, Tensor& all, int root, const RankCounts& counts = {});
  /// Sends one part of root's `all` to each rank; on the other ranks `all` may be undefined.
  void scatter(const Tensor& all, Tensor& mine, int root, const RankCounts& counts = {});
  /// Shapes: `to_each` holds one part for each rank, `from_each` gets one part from each.
  void all_to_all(const Tensor& to_each, Tensor& from_each, const RankCounts& to_counts = {},
                  const RankCounts& from_counts = {});
  void barrier();
  void send(const Tensor& data, int to, int tag = 0);
  /// `from` may be `kAnyRank`. With `received`, the message may have fewer elements than `data`;
  /// `received` gets their number and the sender. Throws: CommunicationError for a longer message,
  /// and for a shorter one without `received`.
  void receive(Tensor& data, int from, int tag = 0, Received* received = nullptr);

  [[nodiscard]] std::unique_ptr<Request> start_all_reduce(Tensor& data,
                                                          Reduction reduction = Reduction::sum);
  [[nodiscard]] std::unique_ptr<Request> start_broadcast(Tensor& data, int root);
  [[nodiscard]] std::unique_ptr<Request> start_all_gather(const Tensor& mine, Tensor& all,
                                                          const RankCounts& counts = {});
  [[nodiscard]] std::unique_ptr<Request> start_reduce_scatter(const Tensor& all, Tensor& mine,
                                                              Reduction reduction = Reduction::sum,
                                                              const RankCounts& counts = {});
  [[nodiscard]] std::unique_ptr<Request> start_gather(const Tensor& mine, Tensor& all, int root,
                                                      const RankCounts& counts = {});
  [[nodiscard]] std::unique_ptr<Request> start_scatter(const Tensor& all, Tensor& mine, int root,
                                                       const RankCounts& counts = {});
  [[nodiscard]] std::unique_ptr<Request> start_all_to_all(const Tensor& to_each, Tensor& from_each,
                                                          const RankCounts& to_counts = {},
                                                          const RankCounts& from_counts = {});
  [[nodiscard]] std::unique_ptr<Request> start_barrier();
  [[nodiscard]] std::unique_ptr<Request> start_send(const Tensor& data, int to, int tag = 0);
  /// `received` is filled when the request is done, and must live until then.
  [[nodiscard]] std::unique_ptr<Request> start_receive(Tensor& data, int from, int tag = 0,
                                                       Received* received = nullptr);

  /// The group of the ranks that give the same `color`, sorted by `order`, then by rank; null for a
  /// color below 0 (this rank is in no group). A group keeps this communicator alive, and its calls
  /// are also counted and observed here. A collective of all ranks.
  [[nodiscard]] std::shared_ptr<Communicator> split(int color, int order = 0);
  /// The group of these ranks, in this order; otherwise like `split`. A collective of these ranks
  /// only: the others do not call it. Throws: Unsupported if the transport cannot form a group
  /// without the other ranks; ValueError for ranks out of range, duplicates, or a list without this
  /// rank.
  [[nodiscard]] std::shared_ptr<Communicator> group(const std::vector<int>& ranks);
  /// "world"; for a group "world/COLOR" or "world/[0, 2]".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The rank in the outermost communicator of a rank of this one.
  [[nodiscard]] int outermost_rank(int rank) const;

  /// The medium of its messages, for the record: "Open MPI v4.1.4, wire modelled 50us,1GB/s".
  [[nodiscard]] virtual std::string medium() const { return "one process"; }
  /// Whether ranks of one machine may use its shared memory; false if ranks stand for separate
  /// machines.
  [[nodiscard]] virtual bool shares_nodes() const { return true; }
  /// Number of consecutive ranks on each node, if all have as many and the transport knows; 0: the
  /// ranks have to find out (`node_group`).
  [[nodiscard]] virtual int ranks_per_node() const { return 0; }
  /// Timeout of a wait for other ranks; 0: none.
  [[nodiscard]] virtual std::chrono::nanoseconds longest_wait() const { return {}; }

  /// Calls `start`. The calls that it starts take these options, an algorithm of several calls as a
  /// whole; later calls do not. Costs a shared pointer.
  ///
  ///     static const auto options = std::make_shared<const CallOptions>(...);
  ///     auto request = ranks->with(options, [&] { return ring->start(*ranks, gradient); });
  ///
  /// Throws: ValueError (`expect_usable`).
  template <class Start>
  auto with(std::shared_ptr<const CallOptions> options, const Start& start) {
    if (options) expect_usable(options->resources);
    const OptionsInForce in_force(*this, std::move(options));
    return start();
  }
  template <class Start>
  auto with(CallOptions options, const Start& start) {
    return with(std::make_shared<const CallOptions>(std::move(options)), start);
  }
  /// Options of the call being started by this thread; null: none. For algorithms.
  [[nodiscard]] std::shared_ptr<const CallOptions> options() const;
  /// Calls `start`; observers see the algorithm that it starts as one call.
  [[nodiscard]] std::unique_ptr<Request> observe_schedule(
      const std::function<std::unique_ptr<Request>()>& start);

  /// A new tag, at least `kFirstOwnTag`, for an algorithm whose messages may be in flight beside
  /// those of others. Ranks that call it in the same order get the same tags.
  [[nodiscard]] int own_tag();
  static constexpr int kFirstOwnTag = 16384, kLargestTag = 32767;  // the tags that every MPI allows

  /// Local work of algorithms on a rank's own memory. It goes through the communicator because a
  /// simulated rank charges time for it and its tensors may have no elements. `scratch` allocates
  /// memory on the device of `like`, contents undefined. `reduce_local` stores into ⊕ other in
  /// `into`; both have the same type and size.
  [[nodiscard]] virtual Tensor scratch(const TensorDesc& desc, const Tensor& like);
  virtual void copy_local(Tensor& into, const Tensor& from);
  virtual void reduce_local(Tensor& into, const Tensor& other,
                            Reduction reduction = Reduction::sum);
  virtual void scale_local(Tensor& data, double factor);

  /// Exact counts of this rank since the communicator was made, its groups included.
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  /// Registers a wait that is not a call, as if `call` had been started, so that decorators that
  /// watch waits (`CallTimeout`) watch it too. Called on all ranks in the same order.
  [[nodiscard]] virtual std::unique_ptr<Request> watch(const CommunicationCall& call,
                                                       std::unique_ptr<Request> request) {
    (void)call;
    return request;
  }
  /// Tells the other ranks that this one will make no further call. With watched waits
  /// (`CallTimeout`) their waits on this communicator and its groups end with a CommunicationError.
  /// Without, they wait until this rank's exit ends the job.
  virtual void tell_failure() {}
  /// Clears the failures reported before, for a restart on all ranks.
  virtual void forget_failures() {}
  /// Agrees on a common stop: returns whether all ranks stop here because one of them `wishes` to.
  /// Ranks call it at the same places in the same order, and stop at the first place that none of
  /// them has passed. A rank that never calls it (a server) learns of the stop while it waits.
  /// Nobody waits unless there is a wish. After the stop every call returns true. Several ranks
  /// never stop unless waits are watched (`CallTimeout`).
  [[nodiscard]] virtual bool end_together(bool wishes) { return size() == 1 && wishes; }
  /// Answers ranks that are agreeing on a stop; for use in a wait that is not watched.
  virtual void answer_end() {}
  /// Counts bytes that this rank moved by other means than calls: "put", ...
  void note_traffic(std::string_view what, std::int64_t bytes_sent, std::int64_t bytes_received);
  [[nodiscard]] EventList& events() { return events_; }
  /// Prints `rank N: reason` and ends the job on all ranks.
  [[noreturn]] virtual void abort(const std::string& reason) = 0;

 protected:
  friend CommunicatorDecorator;
  // Implemented by transports. Sizes, types, ranks and tags are checked, and the bytes are counted.
  [[nodiscard]] virtual std::unique_ptr<Request> do_start(const CommunicationCall& call) = 0;
  /// Override if a blocking call is faster than a started one.
  virtual void do_run(const CommunicationCall& call) { do_start(call)->wait(); }
  [[nodiscard]] virtual std::shared_ptr<Communicator> do_split(int color, int order) = 0;
  /// The ranks are checked; called by the group's ranks only.
  [[nodiscard]] virtual std::shared_ptr<Communicator> do_group(const std::vector<int>& ranks);

 private:
  class Observation;
  class ObservedRequest;
  /// Options of the calls that one thread starts; another may progress schedules meanwhile.
  class OptionsInForce {
   public:
    OptionsInForce(const Communicator& ranks, std::shared_ptr<const CallOptions> options);
    ~OptionsInForce();
    OptionsInForce(const OptionsInForce&) = delete;
    OptionsInForce& operator=(const OptionsInForce&) = delete;
    [[nodiscard]] static std::shared_ptr<const CallOptions> of(const Communicator& ranks);

   private:
    static OptionsInForce*& newest();
    const Communicator& ranks_;
    std::shared_ptr<const CallOptions> options_;
    OptionsInForce* before_;
  };
  friend std::unique_ptr<Request> run_schedule(Communicator& ranks, CommunicationSchedule schedule,
                                               const ScheduleFacts& facts);
  /// The schedules of the outermost communicator.
  [[nodiscard]] detail::SchedulesUnderWay& schedules();
  /// Makes `group` a group of this communicator.
  void adopt(Communicator& group, std::string name, std::vector<int> outermost_ranks);
  void run(CommunicationCall call);
  [[nodiscard]] std::unique_ptr<Request> start(CommunicationCall call);
  void describe(Span& span, const CommunicationCall& call) const;
  void count(CommunicationCall& call);
  void add_bytes(CallKind kind, std::int64_t sent, std::int64_t received);
  [[nodiscard]] std::vector<std::shared_ptr<CommunicationEvent>> listeners() const;

  std::string name_ = "world";
  std::shared_ptr<Communicator> parent_;
  std::vector<int> outermost_ranks_;  // groups only
  std::shared_ptr<detail::SchedulesUnderWay> schedules_;
  int own_tags_ = 0;
  std::mutex counting_;           // schedules may call on a thread of their own
  std::int64_t collectives_ = 0;  // called so far
  Traffic traffic_;
  EventList events_;
};

/// All ranks of the job: Open MPI's under mpirun, otherwise this process alone, without starting
/// MPI. Created by the first call, ended when the process exits.
/// Throws: Unsupported under mpirun with several ranks if d5 was built without MPI.
[[nodiscard]] std::shared_ptr<Communicator> world();
/// Replaces `world()`, usually by itself with decorators around it; the outermost decorator counts
/// and is observed instead. Call it on all ranks, before any other use of `world()`.
void set_world(std::shared_ptr<Communicator> ranks);
/// Waits until all ranks are here; with a status other than 0 it waits 3 s and then ends the job.
/// The exit of a process does this by itself. Call it in a program that finalises MPI before its
/// exit handlers run, as an interpreter does: there a failed rank would wait for ever.
void leave_world(int status);

/// Whether a transport is present, and its version ("Open MPI 4.1.4") or the reason why there is
/// none.
struct TransportInfo {
  bool present;
  std::string description;
};
[[nodiscard]] TransportInfo transport();

}  // namespace d5
