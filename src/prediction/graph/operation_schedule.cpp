// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/graph/operation_schedule.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "d5/prediction/graph/operation_kind.hpp"
#include "d5/prediction/graph/slowdown.hpp"

namespace d5 {
namespace {

using Id = OperationGraph::Id;

struct WaitingOperation {
  std::int64_t priority;
  double ready;
  Id id;
  /// Order for a max-heap: a later operation is less.
  bool operator<(const WaitingOperation& other) const {
    if (priority != other.priority) return priority < other.priority;
    return ready != other.ready ? ready > other.ready : id > other.id;
  }
};

struct RunningOperation {
  double end;
  Id id;
  bool operator<(const RunningOperation& other) const {
    return end != other.end ? end > other.end : id > other.id;
  }
};

template <class T>
void push_into(std::vector<T>& heap, const T& item) {
  heap.push_back(item);
  std::push_heap(heap.begin(), heap.end());
}

template <class T>
T pop_from(std::vector<T>& heap) {
  std::pop_heap(heap.begin(), heap.end());
  const T top = heap.back();
  heap.pop_back();
  return top;
}

/// What runs on a rank at the same time.
struct RankAtWork {
  bool communicates = false, computes = false;
  double all_reduce = 1;  ///< factor on communication
};

/// An operation's part in the contention of its rank.
struct Contender {
  bool communicates = false;
  Slowdown slowdown = {};
  double factor = 1;  ///< on its remaining time, at present
};

/// State of a lane. A slot runs one operation at a time and is identified by its last operation.
struct LaneAtWork {
  std::vector<WaitingOperation> waiting;
  std::vector<Id> free_places;
  bool unlimited = false, has_work = false;
};

class GraphScheduler {
 public:
  GraphScheduler(const OperationGraph& graph, Lanes lanes)
      : graph_(graph), lanes_(graph.lanes().size()) {
    constexpr double kNever = std::numeric_limits<double>::quiet_NaN();
    schedule_.begin.assign(graph.id_end(), kNever);
    schedule_.end = schedule_.begin;
    schedule_.before_on_lane.assign(graph.id_end(), OperationGraph::kNone);
    schedule_.order.reserve(graph.size());
    left_.resize(graph.id_end());
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const auto width = static_cast<std::size_t>(graph.lanes()[i].width);
      lanes_[i].unlimited = lanes == Lanes::unlimited || width == 0;
      // A file may give any width, but never more slots than operations are used.
      lanes_[i].free_places.assign(std::min(width, graph.size()), OperationGraph::kNone);
    }
    if (lanes == Lanes::as_wide_as_they_are) find_contenders();
  }

  OperationSchedule run() {
    for (Id id = 0; id < left_.size(); ++id) {
      if (!graph_.has(id)) continue;
      left_[id] = graph_.predecessors(id).size();
      if (left_[id] == 0) make_ready(id, 0);
    }
    begin_what_can(0);
    slow_what_overlaps(0);
    while (!running_.empty()) {
      const double now = running_.front().end;
      while (!running_.empty() && running_.front().end == now) finish(pop_from(running_));
      begin_what_can(now);
      slow_what_overlaps(now);
    }
    if (schedule_.order.size() < graph_.size()) graph_.check();
    return std::move(schedule_);
  }

 private:
  void find_contenders() {
    bool are_any = false;
    contenders_.resize(graph_.id_end());
    for (const Id id : graph_.ids()) {
      const Operation& operation = graph_.operation(id);
      contenders_[id] = {operation_kinds().at(operation.kind).communicates, slowdown_of(operation)};
      are_any = are_any || contenders_[id].slowdown != Slowdown{};
    }
    if (!are_any) contenders_.clear();
  }

  /// Retimes running operations by what runs beside them from `now` on.
  void slow_what_overlaps(double now) {
    if (contenders_.empty()) return;
    std::map<int, RankAtWork> ranks;
    const auto rank_of = [&](Id id) -> RankAtWork& {
      return ranks[graph_.lanes()[graph_.operation(id).lane].rank];
    };
    for (const auto& [end, id] : running_) {
      RankAtWork& rank = rank_of(id);
      const Contender& each = contenders_[id];
      if (each.communicates) {
        rank.communicates = true;
        continue;
      }
      const double factor = each.slowdown.all_reduce;
      rank.all_reduce = rank.computes ? std::max(rank.all_reduce, factor) : factor;
      rank.computes = true;
    }
    for (auto& [end, id] : running_) {
      const RankAtWork& rank = rank_of(id);
      Contender& each = contenders_[id];
      const double factor = each.communicates   ? rank.all_reduce
                            : rank.communicates ? each.slowdown.kernel
                                                : 1;
      if (factor == each.factor) continue;
      end = now + (end - now) / each.factor * factor;
      each.factor = factor;
    }
    std::make_heap(running_.begin(), running_.end());
  }

  void make_ready(Id id, double now) {
    const Operation& operation = graph_.operation(id);
    note_work(operation.lane);
    push_into(lanes_[operation.lane].waiting, {operation.priority, now, id});
  }

  void note_work(std::size_t lane) {
    if (lanes_[lane].has_work) return;
    lanes_[lane].has_work = true;
    with_work_.push_back(lane);
  }

  void finish(const RunningOperation& done) {
    schedule_.seconds = schedule_.end[done.id] = done.end;
    const std::size_t place = graph_.operation(done.id).lane;
    if (LaneAtWork& lane = lanes_[place]; !lane.unlimited) {
      lane.free_places.push_back(done.id);
      if (!lane.waiting.empty()) note_work(place);
    }
    for (const Id after : graph_.successors(done.id)) {
      if (--left_[after] == 0) make_ready(after, done.end);
    }
  }

  void begin_what_can(double now) {
    for (const std::size_t place : with_work_) {
      LaneAtWork& lane = lanes_[place];
      lane.has_work = false;
      while (!lane.waiting.empty() && (lane.unlimited || !lane.free_places.empty())) {
        const Id id = pop_from(lane.waiting).id;
        if (!lane.unlimited) {
          schedule_.before_on_lane[id] = lane.free_places.back();
          lane.free_places.pop_back();
        }
        schedule_.begin[id] = now;
        schedule_.end[id] = now + graph_.operation(id).seconds;
        schedule_.order.push_back(id);
        push_into(running_, {schedule_.end[id], id});
      }
    }
    with_work_.clear();
  }

  const OperationGraph& graph_;
  OperationSchedule schedule_;
  std::vector<LaneAtWork> lanes_;
  std::vector<std::size_t> left_;  ///< by id: number of unfinished predecessors
  std::vector<RunningOperation> running_;
  std::vector<Contender> contenders_;   ///< by id; empty: no operation has a slowdown
  std::vector<std::size_t> with_work_;  ///< lanes on which an operation may begin
};

}  // namespace

OperationSchedule schedule(const OperationGraph& graph, Lanes lanes) {
  return GraphScheduler(graph, lanes).run();
}

}  // namespace d5
