// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/simulated_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "prediction/simulation/simulated_world.hpp"

namespace d5::detail {
namespace {

using Group = std::shared_ptr<const std::vector<int>>;  // ranks of the world

class MessageRequest final : public Request {
 public:
  MessageRequest(std::shared_ptr<SimulatedWorld> world, const CommunicationCall& call, Group group,
                 std::shared_ptr<MessageEnd> end)
      : world_(std::move(world)),
        group_(std::move(group)),
        end_(std::move(end)),
        peer_(call.peer),
        received_(call.received) {}
  ~MessageRequest() override {
    if (end_->told || std::uncaught_exceptions() > exceptions_) return;
    try {
      until_complete();
    } catch (const SimulationStopped&) {
      return;
    }
  }

  void wait() override {
    const double begun = world_->scheduler.current().time;
    until_complete();
    tell(begun);
  }

  bool done() override {
    if (end_->told) return true;
    auto& scheduler = world_->scheduler;
    scheduler.catch_up();
    world_->move_library_calls_on(end_->rank);
    if (!end_->complete) {
      scheduler.current().time += world_->look;
      return false;
    }
    tell(scheduler.current().time);
    return true;
  }

 private:
  void until_complete() {
    auto& scheduler = world_->scheduler;
    for (scheduler.catch_up(); !end_->complete;) {
      if (world_->library_calls[static_cast<std::size_t>(end_->rank)].empty()) {
        end_->waiter = &scheduler.current();
        scheduler.wait();
      } else {
        world_->move_library_calls_on(end_->rank);
        if (!end_->complete) world_->board.wait_for_change();
      }
    }
  }

  /// Reports the completion to a rank that has been waiting since `begun`, during which it has
  /// processed arrivals.
  void tell(double begun) {
    if (std::exchange(end_->told, true)) return;
    if (end_->sends) return;
    double& time = world_->scheduler.current().time;
    time = std::max(time, begun + static_cast<double>(end_->bytes) * world_->end_seconds_per_byte);
    time += world_->overhead;
    if (end_->error) std::rethrow_exception(std::exchange(end_->error, nullptr));
    const auto space = static_cast<std::int64_t>(end_->data.bytes());
    if (end_->bytes > space || (end_->bytes < space && !received_)) {
      throw CommunicationError(fmt::format(
          "rank {}: {}: {} bytes came from rank {}, but {} were expected", rank_of(end_->rank),
          to_string(CommunicationCall{
              .kind = CallKind::receive, .output = end_->data, .peer = peer_, .tag = end_->tag}),
          end_->bytes, rank_of(end_->from), space));
    }
    if (!received_) return;
    *received_ = {rank_of(end_->from),
                  end_->bytes / static_cast<std::int64_t>(size_of(end_->data.dtype()))};
  }

  [[nodiscard]] int rank_of(int world_rank) const {
    return static_cast<int>(std::ranges::find(*group_, world_rank) - group_->begin());
  }

  std::shared_ptr<SimulatedWorld> world_;
  Group group_;
  std::shared_ptr<MessageEnd> end_;
  int peer_;
  Received* received_;
  int exceptions_ = std::uncaught_exceptions();
};

class NoRequest final : public Request {
 public:
  void wait() override {}
  bool done() override { return true; }
};

class SimulatedCommunicator final : public Communicator {
 public:
  SimulatedCommunicator(std::shared_ptr<SimulatedWorld> world, Group group, int rank, int context)
      : world_(std::move(world)), group_(std::move(group)), rank_(rank), context_(context) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(group_->size()); }
  std::string medium() const override { return world_->medium; }
  bool shares_nodes() const override { return world_->nodes.share_memory(); }
  int ranks_per_node() const override {
    return group_ == world_->all_ranks ? world_->ranks_per_node : 0;
  }
  void abort(const std::string& reason) override {
    throw CommunicationError(fmt::format("rank {}: {}", rank_, reason));
  }

  Tensor scratch(const TensorDesc& desc, const Tensor& like) override {
    return is_phantom(like) ? phantom_tensor(desc) : Tensor::empty(desc);
  }
  void copy_local(Tensor& into, const Tensor& from) override {
    if (has_elements(into, from)) into.copy_from(from);
    world_->nodes.work(into.bytes(), world_->options.rates.copy_bandwidth);
  }
  void reduce_local(Tensor& into, const Tensor& other, Reduction reduction) override {
    if (has_elements(into, other)) Communicator::reduce_local(into, other, reduction);
    world_->nodes.work(into.bytes(), world_->options.rates.reduce_bandwidth);
  }
  void scale_local(Tensor& data, double factor) override {
    if (has_elements(data, data)) Communicator::scale_local(data, factor);
    world_->nodes.work(data.bytes(), world_->options.rates.scale_bandwidth);
  }

 protected:
  std::unique_ptr<Request> do_start(const CommunicationCall& call) override {
    expect_running(call);
    expect_alike(call);
    if (is_message(call)) return start_message(call);
    if (takes_no_time(call)) return std::make_unique<NoRequest>();
    return library_call(call, &LibraryAlgorithms::start);
  }

  void do_run(const CommunicationCall& call) override {
    expect_running(call);
    expect_alike(call);
    if (is_message(call)) return start_message(call)->wait();
    if (takes_no_time(call)) return;
    library_call(call, &LibraryAlgorithms::run)->wait();
  }

  std::shared_ptr<Communicator> do_split(int color, int order) override {
    expect_alike({.kind = CallKind::split});
    const int split = splits_++;
    Tensor mine = Tensor::of<std::int64_t>({2}, {color, order});
    Tensor all = Tensor::empty(DType::int64, {2 * std::int64_t{size()}});
    do_start({.kind = CallKind::all_gather, .input = mine, .output = all})->wait();
    if (color < 0) return nullptr;
    std::vector<std::pair<std::int64_t, int>> members;
    for (int rank = 0; rank < size(); ++rank) {
      const auto* const of = all.data<std::int64_t>() + 2 * rank;
      if (of[0] == color) members.emplace_back(of[1], rank);
    }
    std::ranges::sort(members);
    std::vector<int> group;
    int own = 0;
    for (const auto& [place, rank] : members) {
      if (rank == rank_) own = static_cast<int>(group.size());
      group.push_back(world_rank(rank));
    }
    return std::make_shared<SimulatedCommunicator>(
        world_, std::make_shared<const std::vector<int>>(std::move(group)), own,
        world_->context_of(context_, split, color));
  }

 private:
  static bool has_elements(const Tensor& into, const Tensor& from) {
    return !is_phantom(into) && !is_phantom(from);
  }
  static bool is_message(const CommunicationCall& call) {
    return call.kind == CallKind::send || call.kind == CallKind::receive;
  }
  /// Throws: RanksDiffer for calls that are not alike on all ranks, if ranks are folded.
  void expect_alike(const CommunicationCall& call) const {
    using enum CallKind;
    const bool differs = call.kind == split || call.kind == gather || call.kind == scatter ||
                         (call.kind == receive && call.peer == kAnyRank);
    if (!differs || !world_->folded.folds()) return;
    throw RanksDiffer(fmt::format("rank {}: {} is not alike on all ranks", rank_, to_string(call)));
  }
  [[nodiscard]] bool takes_no_time(const CommunicationCall& call) const {
    return call.kind == CallKind::broadcast && world_->folded.folds();
  }
  void expect_running(const CommunicationCall& call) const {
    if (world_->scheduler.is_running()) return;
    throw CommunicationError(
        fmt::format("rank {}: {}: the simulation that the communicator belongs to has ended", rank_,
                    to_string(call)));
  }
  std::unique_ptr<Request> library_call(const CommunicationCall& call,
                                        std::unique_ptr<Request> (LibraryAlgorithms::*begin)(
                                            Communicator&, const CommunicationCall&)) {
    return std::make_unique<LibraryRequest>(world_, world_rank(rank_), to_string(call), [&] {
      return (world_->algorithms.*begin)(library(), call);
    });
  }
  [[nodiscard]] int world_rank(int rank) const { return (*group_)[static_cast<std::size_t>(rank)]; }

  std::unique_ptr<Request> start_message(const CommunicationCall& call) {
    auto end = std::make_shared<MessageEnd>();
    end->rank = world_rank(rank_);
    end->peer = call.peer == kAnyRank ? kAnyRank : world_rank(call.peer);
    end->context = context_;
    end->tag = call.tag;
    end->sends = call.kind == CallKind::send;
    end->data = end->sends ? call.input : call.output;
    auto& scheduler = world_->scheduler;
    if (end->sends) scheduler.current().time += world_->overhead;
    scheduler.catch_up();
    world_->move_library_calls_on(end->rank);
    if (end->sends) {
      world_->board.start_send(end);
      // The first byte leaves at once; the rank continues after the last one.
      scheduler.current().time +=
          static_cast<double>(end->data.bytes()) * world_->end_seconds_per_byte;
    } else {
      world_->board.start_receive(end);
    }
    return std::make_unique<MessageRequest>(world_, call, group_, std::move(end));
  }

  /// A duplicate of the communicator for the transport's own collectives.
  Communicator& library() {
    if (!library_) {
      library_ = std::make_shared<SimulatedCommunicator>(world_, group_, rank_, context_ + 1);
    }
    return *library_;
  }

  std::shared_ptr<SimulatedWorld> world_;
  Group group_;
  int rank_, context_;
  int splits_ = 0;
  std::shared_ptr<Communicator> library_;
};

}  // namespace

std::shared_ptr<Communicator> make_simulated_communicator(
    const std::shared_ptr<SimulatedWorld>& world, int rank) {
  return std::make_shared<SimulatedCommunicator>(world, world->all_ranks, rank, 0);
}

}  // namespace d5::detail
