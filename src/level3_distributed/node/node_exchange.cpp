// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/node/node_exchange.hpp"

#include <algorithm>
#include <exception>

#include "d5/core/tensor/arena.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "level3_distributed/communicator/patience.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"

namespace d5::detail {
namespace {

class NodeRequest final : public Request {
 public:
  NodeRequest(NodeExchange& exchange, std::int64_t operation,
              std::shared_ptr<std::atomic<std::int64_t>> ended_ns = {})
      : exchange_(exchange), operation_(operation), ended_ns_(std::move(ended_ns)) {}
  ~NodeRequest() override {
    if (std::uncaught_exceptions() == exceptions_) wait();
  }
  void wait() override {
    for (Patience patience(Patience::kOfWork); !done();) patience.pause();
  }
  bool done() override { return exchange_.is_done(operation_); }
  /// The end time is shared, because later operations progress during polls of earlier ones.
  Times times() const override { return {0, ended_ns_ ? ended_ns_->load() : 0}; }

 private:
  NodeExchange& exchange_;
  std::int64_t operation_;
  std::shared_ptr<std::atomic<std::int64_t>> ended_ns_;
  int exceptions_ = std::uncaught_exceptions();
};

CommunicationSchedule all_come(Communicator& ranks) {
  const auto barrier = ranks.start_barrier();
  co_await barrier;
}

}  // namespace

void meet(Communicator& ranks) { run_schedule(ranks, all_come(ranks))->wait(); }

/// A chunk of `data`, cut at cache lines into one segment per rank.
struct NodeExchange::Chunk {
  Tensor data;
  std::int64_t number;
  int ranks;

  [[nodiscard]] std::int64_t begin(int segment) const {
    const auto line = static_cast<std::int64_t>(Arena::kAlignment / size_of(data.dtype()));
    if (segment == ranks) return data.elements();
    return data.elements() * segment / ranks / line * line;
  }
  [[nodiscard]] std::size_t offset(int segment) const {
    return static_cast<std::size_t>(begin(segment)) * size_of(data.dtype());
  }
  [[nodiscard]] Tensor of(int segment) const {
    return data.slice(begin(segment), begin(segment + 1));
  }
  /// The segment of this chunk in a slot.
  [[nodiscard]] Tensor in(std::byte* slot, int segment) const {
    return Tensor::borrow({data.dtype(), {begin(segment + 1) - begin(segment)}},
                          slot + offset(segment));
  }
  [[nodiscard]] std::byte* bytes() const {
    Tensor shared = data;
    return static_cast<std::byte*>(shared.raw());
  }
  /// Copies from or to a slot.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
    copy_in_node(to, from, bytes, !is_phantom(data));
  }
};

struct NodeExchange::Counters {
  NodeCounter written, reduced, read;
};

NodeExchange::NodeExchange(Communicator& ranks, const NodeExchangeOptions& options)
    : ranks_(ranks),
      rank_(ranks.rank()),
      size_(ranks.size()),
      chunk_bytes_(
          static_cast<std::int64_t>(Arena::aligned(static_cast<std::size_t>(options.chunk_bytes)))),
      stages_(options.stages) {
  const auto n = static_cast<std::size_t>(size_);
  memory_ = NodeMemory::make(
      ranks, n * (sizeof(Counters) + static_cast<std::size_t>(stages_ * chunk_bytes_)));
  counters_ = reinterpret_cast<Counters*>(memory_->data());
  slots_ = memory_->data() + n * sizeof(Counters);
}

std::int64_t NodeExchange::chunk_bytes(std::int64_t asked) const {
  if (asked <= 0) return chunk_bytes_;
  return std::min(chunk_bytes_,
                  static_cast<std::int64_t>(Arena::aligned(static_cast<std::size_t>(asked))));
}

std::unique_ptr<Request> NodeExchange::queue_all_reduce(const Tensor& data, Reduction reduction,
                                                        std::int64_t chunk_bytes) {
  return queue({.data = data.reshaped({data.elements()}),
                .reduction = reduction,
                .chunk_bytes = chunk_bytes});
}

std::unique_ptr<Request> NodeExchange::start_all_reduce(const Tensor& data, Reduction reduction,
                                                        std::int64_t chunk_bytes) {
  const auto moved = Traffic::of_all_reduce(static_cast<std::int64_t>(data.bytes()), size_);
  ranks_.note_traffic("node_memory", moved, moved);
  return ranks_.watch({.kind = CallKind::all_reduce, .output = data},
                      start({.data = data.reshaped({data.elements()}),
                             .reduction = reduction,
                             .chunk_bytes = chunk_bytes}));
}

std::unique_ptr<Request> NodeExchange::start_broadcast(
    const Tensor& data, int root, std::shared_ptr<std::atomic<bool>> may_begin) {
  const auto bytes = static_cast<std::int64_t>(data.bytes());
  ranks_.note_traffic("node_memory", rank_ == root ? (size_ - 1) * bytes : 0,
                      rank_ == root ? 0 : bytes);
  return ranks_.watch({.kind = CallKind::broadcast, .output = data},
                      start({.data = data.reshaped({data.elements()}),
                             .root = root,
                             .may_begin = std::move(may_begin)}));
}

std::unique_ptr<Request> NodeExchange::queue(Operation operation) {
  if (operation.data.elements() == 0) return std::make_unique<NodeRequest>(*this, -1);
  operation.chunk_bytes = chunk_bytes(operation.chunk_bytes);
  auto ended_ns = operation.ended_ns = std::make_shared<std::atomic<std::int64_t>>(0);
  const auto lock = lock_against_threads();
  operations_.push_back(std::move(operation));
  return std::make_unique<NodeRequest>(*this, started_++, std::move(ended_ns));
}

std::unique_ptr<Request> NodeExchange::start(Operation operation) {
  auto request = queue(std::move(operation));
  (void)request->done();  // begins
  return request;
}

std::unique_lock<std::mutex> NodeExchange::lock_against_threads() {
  return nodes_of_strands() ? std::unique_lock<std::mutex>() : std::unique_lock(mutex_);
}

bool NodeExchange::is_done(std::int64_t operation) {
  const auto lock = lock_against_threads();
  if (operation >= read_at_.operation) advance();
  return operation < read_at_.operation;
}

void NodeExchange::advance() {
  if (advancing_) return;  // another strand of this rank is in here
  advancing_ = true;
  // The later step goes first, because it frees a buffer.
  while (read_one() || reduce_one() || write_one()) {
  }
  advancing_ = false;
}

const NodeExchange::Operation* NodeExchange::at(const Place& place) const {
  if (place.operation == started_) return nullptr;
  const auto behind = started_ - place.operation;  // at least 1
  return &operations_[operations_.size() - static_cast<std::size_t>(behind)];
}

NodeExchange::Chunk NodeExchange::chunk_at(const Place& place) const {
  const Tensor& data = at(place)->data;
  const std::int64_t most =
      at(place)->chunk_bytes / static_cast<std::int64_t>(size_of(data.dtype()));
  return {data.slice(place.begin, std::min(place.begin + most, data.elements())), place.chunk,
          size_};
}

void NodeExchange::pass(Place& place) const {
  const Tensor& data = at(place)->data;
  place.begin += at(place)->chunk_bytes / static_cast<std::int64_t>(size_of(data.dtype()));
  ++place.chunk;
  if (place.begin < data.elements()) return;
  place.begin = 0;
  ++place.operation;
}

std::byte* NodeExchange::slot(std::int64_t chunk, int rank) const {
  return slots_ + (chunk % stages_ * size_ + rank) * chunk_bytes_;
}

template <class Step>
bool NodeExchange::all_through(Step step, std::int64_t chunks) const {
  if (chunks <= 0) return true;
  if (auto* strands = nodes_of_strands()) strands->look();
  for (int r = 0; r < size_; ++r) {
    if ((counters_[r].*step).read() < chunks) return false;
  }
  return true;
}

bool NodeExchange::write_one() {
  const Operation* operation = at(write_at_);
  if (!operation || (operation->may_begin && !*operation->may_begin)) return false;
  if (!all_through(&Counters::read, write_at_.chunk + 1 - stages_)) return false;
  const Chunk chunk = chunk_at(write_at_);
  std::byte* mine = slot(chunk.number, rank_);
  const std::byte* from = chunk.bytes();
  if (operation->root == rank_) {
    chunk.copy(mine, from, chunk.data.bytes());
  } else if (operation->root == kNoRoot) {
    const std::size_t begin = chunk.offset(rank_), end = chunk.offset(rank_ + 1);
    chunk.copy(mine, from, begin);
    chunk.copy(mine + end, from + end, chunk.data.bytes() - end);
  }
  pass(write_at_);
  publish(counters_[rank_].written, write_at_.chunk);
  return true;
}

bool NodeExchange::reduce_one() {
  if (reduce_at_.chunk == write_at_.chunk ||
      !all_through(&Counters::written, reduce_at_.chunk + 1)) {
    return false;
  }
  if (at(reduce_at_)->root == kNoRoot) reduce(chunk_at(reduce_at_));
  pass(reduce_at_);
  publish(counters_[rank_].reduced, reduce_at_.chunk);
  return true;
}

/// Reduces in rank order; with two ranks either may come first.
void NodeExchange::reduce(const Chunk& chunk) {
  const Reduction reduction = at(reduce_at_)->reduction;
  Tensor own = chunk.of(rank_), result = chunk.in(slot(chunk.number, rank_), rank_);
  const auto copy = [&](Tensor& to, const Tensor& from) {
    chunk.copy(static_cast<std::byte*>(to.raw()), static_cast<const std::byte*>(from.raw()),
               from.bytes());
  };
  const auto add = [&](Tensor& into, int rank) {
    reduce_in_node(ranks_, into, rank == rank_ ? own : chunk.in(slot(chunk.number, rank), rank_),
                   reduction, !is_phantom(chunk.data));
  };
  if (rank_ <= 1) {
    for (int r = 0; r < size_; ++r) {
      if (r != rank_) add(own, r);
    }
    return copy(result, own);
  }
  copy(result, chunk.in(slot(chunk.number, 0), rank_));
  for (int r = 1; r < size_; ++r) add(result, r);
  copy(own, result);
}

bool NodeExchange::read_one() {
  if (read_at_.chunk == reduce_at_.chunk || !all_through(&Counters::reduced, read_at_.chunk + 1)) {
    return false;
  }
  const int root = at(read_at_)->root;
  const Chunk chunk = chunk_at(read_at_);
  std::byte* to = chunk.bytes();
  for (int r = 0; r < size_ && root == kNoRoot; ++r) {
    if (r == rank_) continue;
    chunk.copy(to + chunk.offset(r), slot(chunk.number, r) + chunk.offset(r),
               chunk.offset(r + 1) - chunk.offset(r));
  }
  if (root != kNoRoot && root != rank_) {
    chunk.copy(to, slot(chunk.number, root), chunk.data.bytes());
  }
  const std::int64_t operation = read_at_.operation;
  pass(read_at_);
  publish(counters_[rank_].read, read_at_.chunk);
  if (read_at_.operation != operation) {
    operations_.front().ended_ns->store(Trace::now_ns());
    operations_.pop_front();
  }
  return true;
}

}  // namespace d5::detail
