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

/// A call that is under way. Destroying it waits, except while an exception unwinds: then the job
/// is about to end, and waiting for the others might never.
class Request {
 public:
  /// When the transport took the call, and when it was complete, on the clock of
  /// `Trace::now_ns`; 0 where nobody knows better than who asked.
  struct Times {
    std::int64_t begun_ns = 0, ended_ns = 0;
  };

  virtual ~Request() = default;
  virtual void wait() = 0;
  /// Whether it is complete. Asking also moves it on: nothing else does while the caller computes.
  [[nodiscard]] virtual bool done() = 0;
  [[nodiscard]] virtual Times times() const { return {}; }
  /// With what resources, once it is done; nothing where none were asked for.
  [[nodiscard]] virtual std::optional<UsedResources> used() const { return {}; }
  /// Waits no longer than `deadline`: whether it is complete.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline);
};

/// A group of ranks. Collectives are called by all of them in the same order, blocking and started
/// ones alike, with tensors of the same type and, where nothing else is said, the same size.
///
/// Every call has a form that is under way when it returns (`start_...`): its tensors are the
/// library's until the request is done.
///
/// Throws: CommunicationError, ShapeError, TypeError, ValueError, naming the rank. A rank of
/// `world()` that lets an exception out of `main` prints `rank N: message` and ends the job; one
/// that exits with a status other than 0 ends it too, if the others do not exit as well within 3 s.
/// Thread safety: none; one thread at a time.
class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// In place, on all ranks, the same bits on each. float16 and bfloat16 are added in float32, and
  /// each sum is rounded.
  void all_reduce(Tensor& data, Reduction reduction = Reduction::sum);
  /// Overwrites `data` with that of rank `root`.
  void broadcast(Tensor& data, int root);
  /// Shapes: `all` holds every rank's `mine`, one after the other; `counts` tells their elements
  /// where they differ, here and below.
  void all_gather(const Tensor& mine, Tensor& all, const RankCounts& counts = {});
  /// Shapes: `all` holds a part for each rank; rank r gets part r, reduced.
  void reduce_scatter(const Tensor& all, Tensor& mine, Reduction reduction = Reduction::sum,
                      const RankCounts& counts = {});
  /// As `all_gather`, to `root` alone; elsewhere `all` may be undefined.
  void gather(const Tensor& mine, Tensor& all, int root, const RankCounts& counts = {});
  /// The parts of root's `all`, one to each; elsewhere `all` may be undefined.
  void scatter(const Tensor& all, Tensor& mine, int root, const RankCounts& counts = {});
  /// Shapes: `to_each` holds a part for each rank, `from_each` gets one of each.
  void all_to_all(const Tensor& to_each, Tensor& from_each, const RankCounts& to_counts = {},
                  const RankCounts& from_counts = {});
  void barrier();
  void send(const Tensor& data, int to, int tag = 0);
  /// `from` may be `kAnyRank`. With `received`, the message may have fewer elements than `data`:
  /// how many, and whose they are, is told there. Throws: CommunicationError for a longer message,
  /// and for a shorter one without it.
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
  /// `received` is filled when the request is done, and lives until then.
  [[nodiscard]] std::unique_ptr<Request> start_receive(Tensor& data, int from, int tag = 0,
                                                       Received* received = nullptr);

  /// The group of the ranks that name the same `color`, in the order of `order`, then of rank; null
  /// for a color below 0: this rank belongs to none. What a group says counts, and is heard, in
  /// this communicator too, which lives as long. A collective of all ranks.
  [[nodiscard]] std::shared_ptr<Communicator> split(int color, int order = 0);
  /// The group of these ranks, in this order; otherwise as that of `split`. A collective of them
  /// alone: the others do not call it. Throws: Unsupported where ranks cannot meet without the
  /// others; ValueError for ranks that are not there, stand there twice, or lack this one.
  [[nodiscard]] std::shared_ptr<Communicator> group(const std::vector<int>& ranks);
  /// "world"; of a group "world/COLOR", or "world/[0, 2]".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Which rank of the outermost communicator a rank of this one is.
  [[nodiscard]] int outermost_rank(int rank) const;

  /// By what its messages go, for whom times are kept: "Open MPI v4.1.4, wire modelled 50us,1GB/s".
  [[nodiscard]] virtual std::string medium() const { return "one process"; }
  /// Whether ranks of one machine may meet in its memory: not where they stand for others.
  [[nodiscard]] virtual bool shares_nodes() const { return true; }
  /// After which a wait for others is an error; 0: never.
  [[nodiscard]] virtual std::chrono::nanoseconds longest_wait() const { return {}; }

  /// What `start` starts takes these options, an algorithm of several calls as a whole; what is
  /// started afterwards does not. Costs no more than a shared pointer.
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
  /// Those of what is being started; null: none. For algorithms.
  [[nodiscard]] const std::shared_ptr<const CallOptions>& options() const { return options_; }
  /// Tells observers of an algorithm that `start` starts as of one call.
  [[nodiscard]] std::unique_ptr<Request> observe_schedule(
      const std::function<std::unique_ptr<Request>()>& start);

  /// A tag that no send or receive with a tag below `kFirstOwnTag` uses: for an algorithm of
  /// several messages that may be under way beside others of its kind. Ranks that ask in the same
  /// order get the same.
  [[nodiscard]] int own_tag();
  static constexpr int kFirstOwnTag = 16384, kLargestTag = 32767;  // what all of MPI's allow

  /// What algorithms do with a rank's own memory goes through its communicator: a simulated rank
  /// charges time for it, and its tensors may have no elements. `scratch` is memory beside `like`,
  /// contents undefined. `reduce_local`: into ⊕ other, of one type and size, in `into`.
  [[nodiscard]] virtual Tensor scratch(const TensorDesc& desc, const Tensor& like);
  virtual void copy_local(Tensor& into, const Tensor& from);
  virtual void reduce_local(Tensor& into, const Tensor& other,
                            Reduction reduction = Reduction::sum);
  virtual void scale_local(Tensor& data, double factor);

  /// Exact counts of this rank since the communicator was made, those of its groups among them.
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  /// What an algorithm waits for otherwise than by calls, as if `call` had been started: whoever
  /// watches waits (`CallTimeout`) watches this one too. On all ranks in the same order.
  [[nodiscard]] virtual std::unique_ptr<Request> watch(const CommunicationCall& call,
                                                       std::unique_ptr<Request> request) {
    (void)call;
    return request;
  }
  /// Tells the other ranks that this one will come to no further call: where waits are watched
  /// (`CallTimeout`), theirs on this communicator and its groups end with a CommunicationError.
  /// Without, they wait until this rank's exit ends the job.
  virtual void tell_failure() {}
  /// What was told before holds no longer: ranks begin anew, all of them.
  virtual void forget_failures() {}
  /// Whether all ranks end here what they do, because one of them `wishes` it. They ask at the same
  /// places in the same order, and end at the first place that none of them has passed; one that
  /// never asks (a server) hears of it while it waits. Where nobody wishes, nobody waits. From the
  /// end on every place is one. Several ranks end nowhere where waits are not watched
  /// (`CallTimeout`).
  [[nodiscard]] virtual bool end_together(bool wishes) { return size() == 1 && wishes; }
  /// Answers ranks that look for their end; for a wait that is not watched.
  virtual void answer_end() {}
  /// Counts what this rank gave others, and took from them, otherwise than by calls: "put", ...
  void note_traffic(std::string_view what, std::int64_t bytes_sent, std::int64_t bytes_received);
  [[nodiscard]] EventList& events() { return events_; }
  /// Prints `rank N: reason` and ends the job on all ranks.
  [[noreturn]] virtual void abort(const std::string& reason) = 0;

 protected:
  friend CommunicatorDecorator;
  // What a transport does; sizes, types, ranks and tags were checked, and the bytes are counted.
  [[nodiscard]] virtual std::unique_ptr<Request> do_start(const CommunicationCall& call) = 0;
  /// Where a transport is faster when it need not return in between.
  virtual void do_run(const CommunicationCall& call) { do_start(call)->wait(); }
  [[nodiscard]] virtual std::shared_ptr<Communicator> do_split(int color, int order) = 0;
  /// Checked likewise; called by the group's ranks alone.
  [[nodiscard]] virtual std::shared_ptr<Communicator> do_group(const std::vector<int>& ranks);

 private:
  class Observation;
  class ObservedRequest;
  class OptionsInForce {
   public:
    OptionsInForce(Communicator& ranks, std::shared_ptr<const CallOptions> options)
        : ranks_(ranks), before_(std::exchange(ranks.options_, std::move(options))) {}
    ~OptionsInForce() { ranks_.options_ = std::move(before_); }
    OptionsInForce(const OptionsInForce&) = delete;
    OptionsInForce& operator=(const OptionsInForce&) = delete;

   private:
    Communicator& ranks_;
    std::shared_ptr<const CallOptions> before_;
  };
  friend std::unique_ptr<Request> run_schedule(Communicator& ranks, CommunicationSchedule schedule,
                                               const ScheduleFacts& facts);
  /// Those of the outermost communicator.
  [[nodiscard]] detail::SchedulesUnderWay& schedules();
  /// Makes it a group of this one.
  void adopt(Communicator& group, std::string name, std::vector<int> outermost_ranks);
  void run(CommunicationCall call);
  [[nodiscard]] std::unique_ptr<Request> start(CommunicationCall call);
  void describe(Span& span, const CommunicationCall& call) const;
  void count(CommunicationCall& call);
  void add_bytes(CallKind kind, std::int64_t sent, std::int64_t received);
  [[nodiscard]] std::vector<std::shared_ptr<CommunicationEvent>> listeners() const;

  std::string name_ = "world";
  std::shared_ptr<Communicator> parent_;
  std::vector<int> outermost_ranks_;  // of a group
  std::shared_ptr<detail::SchedulesUnderWay> schedules_;
  int own_tags_ = 0;
  std::shared_ptr<const CallOptions> options_;
  std::int64_t collectives_ = 0;  // that were asked for
  std::mutex counting_;           // schedules may call on a thread of their own
  Traffic traffic_;
  EventList events_;
};

/// All ranks of the job: under mpirun those of Open MPI, otherwise this process alone, without
/// starting MPI. Made on the first call, ended when the process exits.
/// Throws: Unsupported under mpirun with several ranks if d5 was built without MPI.
[[nodiscard]] std::shared_ptr<Communicator> world();
/// `world()` is this from now on: itself, with decorators around it, which count in its place and
/// are observed in its place. On all ranks, before others ask for it.
void set_world(std::shared_ptr<Communicator> ranks);
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
