// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/checked_call.hpp"

#include <fmt/format.h>

#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/communicator/transport.hpp"

namespace d5 {
namespace {

std::string text_of(const Tensor& tensor) {
  return fmt::format("{} x {}", tensor.elements(), name_of(tensor.dtype()));
}

}  // namespace

std::string_view name_of(CallKind kind) {
  switch (kind) {
    case CallKind::all_reduce:
      return "all_reduce";
    case CallKind::broadcast:
      return "broadcast";
    case CallKind::all_gather:
      return "all_gather";
    case CallKind::reduce_scatter:
      return "reduce_scatter";
    case CallKind::gather:
      return "gather";
    case CallKind::scatter:
      return "scatter";
    case CallKind::all_to_all:
      return "all_to_all";
    case CallKind::send:
      return "send";
    case CallKind::receive:
      return "receive";
    case CallKind::barrier:
      return "barrier";
    case CallKind::split:
      return "split";
    case CallKind::schedule:
      return "schedule";
  }
  return "?";
}

std::string to_string(const CommunicationCall& call) {
  std::string text(name_of(call.kind));
  if (call.input.defined() || call.output.defined()) {
    text += " of " + text_of(call.input.defined() ? call.input : call.output);
  }
  if (call.kind == CallKind::send) text += fmt::format(" to rank {}", call.peer);
  if (call.kind == CallKind::receive) {
    text += call.peer == kAnyRank ? " from any rank" : fmt::format(" from rank {}", call.peer);
  }
  if (!is_collective(call.kind)) return text + fmt::format(", tag {}", call.tag);
  if (call.peer != kAnyRank) text += fmt::format(", root {}", call.peer);
  return text;
}

namespace detail {
namespace {

/// The checks of one call.
class CallCheck {
 public:
  CallCheck(CommunicationCall& call, int rank, int size) : call_(call), rank_(rank), size_(size) {}

  void check() {
    const bool at_root = call_.peer == rank_;
    switch (call_.kind) {
      case CallKind::all_reduce:
        data(call_.output);
        return moved(Traffic::of_all_reduce(bytes(call_.output), size_));
      case CallKind::broadcast:
        data(call_.output);
        root();
        return moved(at_root ? others() * bytes(call_.output) : 0,
                     at_root ? 0 : bytes(call_.output));
      case CallKind::all_gather:
        parts(call_.output, call_.output_counts, call_.input);
        return moved(others() * bytes(call_.input), bytes(call_.output) - bytes(call_.input));
      case CallKind::reduce_scatter:
        parts(call_.input, call_.input_counts, call_.output);
        return moved(bytes(call_.input) - bytes(call_.output), others() * bytes(call_.output));
      case CallKind::gather:
        root();
        data(call_.input);
        if (!at_root) return moved(bytes(call_.input), 0);
        parts(call_.output, call_.output_counts, call_.input);
        return moved(0, bytes(call_.output) - bytes(call_.input));
      case CallKind::scatter:
        root();
        data(call_.output);
        if (!at_root) return moved(0, bytes(call_.output));
        parts(call_.input, call_.input_counts, call_.output);
        return moved(bytes(call_.input) - bytes(call_.output), 0);
      case CallKind::all_to_all:
        return all_to_all();
      case CallKind::send:
        data(call_.input);
        peer();
        return moved(bytes(call_.input), 0);
      case CallKind::receive:
        data(call_.output);
        peer();
        return moved(0, call_.received ? 0 : bytes(call_.output));
      case CallKind::barrier:
      case CallKind::split:
      case CallKind::schedule:
        return;
    }
  }

 private:
  [[nodiscard]] std::string who() const {
    return fmt::format("rank {}: {}", rank_, name_of(call_.kind));
  }
  static std::int64_t bytes(const Tensor& tensor) {
    return static_cast<std::int64_t>(tensor.bytes());
  }

  [[nodiscard]] std::int64_t others() const { return size_ - 1; }

  void moved(std::int64_t both_ways) { moved(both_ways, both_ways); }
  void moved(std::int64_t sent, std::int64_t received) {
    if (size_ == 1) return;
    call_.bytes_sent = sent;
    call_.bytes_received = received;
  }

  void data(const Tensor& tensor) const {
    if (tensor.dtype() == DType::undefined || tensor.dtype() == DType::string) {
      throw TypeError(fmt::format("{} of a tensor of type {}; only numbers can be sent", who(),
                                  name_of(tensor.dtype())));
    }
    if (tensor.device().kind != DeviceKind::cpu || tensor.desc().layout != Layout::row_major) {
      throw Unsupported(fmt::format("{} of {} on {}; copy it to dense host memory first", who(),
                                    to_string(tensor.desc()), to_string(tensor.device())));
    }
  }

  void root() const {
    if (call_.peer >= 0 && call_.peer < size_) return;
    throw ValueError(
        fmt::format("{} with rank {}, but the ranks are 0 to {}", who(), call_.peer, size_ - 1));
  }

  void peer() const {
    const bool any = call_.kind == CallKind::receive && call_.peer == kAnyRank && size_ > 1;
    if (!any) root();
    if (call_.peer == rank_) {
      throw ValueError(fmt::format("{} with itself; copy the tensor instead", who()));
    }
    if (call_.tag < 0 || call_.tag > Communicator::kLargestTag) {
      throw ValueError(fmt::format("{} with tag {}, but tags are 0 to {}", who(), call_.tag,
                                   Communicator::kLargestTag));
    }
  }

  void counts(const RankCounts& counts, const Tensor& all) const {
    if (counts.empty()) {
      if (all.elements() % size_ == 0) return;
      throw ShapeError(fmt::format(
          "{} with {} elements, which {} ranks cannot share equally; give each one's count", who(),
          all.elements(), size_));
    }
    if (counts.size() != static_cast<std::size_t>(size_)) {
      throw ShapeError(fmt::format("{} with {} counts for {} ranks", who(), counts.size(), size_));
    }
    std::int64_t sum = 0;
    for (const std::int64_t count : counts) {
      if (count < 0 || count > all.elements() - sum) {
        throw ShapeError(
            fmt::format("{}: counts of {} and more elements, but the tensor of all "
                        "ranks has {}; counts are at least 0 and sum to it",
                        who(), sum + (count < 0 ? count : 0), all.elements()));
      }
      sum += count;
    }
    if (sum == all.elements()) return;
    throw ShapeError(
        fmt::format("{}: the counts sum to {}, but the tensor of all ranks has {} "
                    "elements",
                    who(), sum, all.elements()));
  }

  void same_type(const Tensor& a, const Tensor& b) const {
    if (a.dtype() == b.dtype()) return;
    throw TypeError(fmt::format("{} between {} and {}; the element types must agree", who(),
                                name_of(a.dtype()), name_of(b.dtype())));
  }

  void parts(const Tensor& all, const RankCounts& of_ranks, const Tensor& mine) const {
    data(mine);
    data(all);
    same_type(mine, all);
    if (of_ranks.empty() && all.elements() != mine.elements() * size_) {
      throw ShapeError(
          fmt::format("{} with {} elements of this rank and {} of all; {} ranks need {}", who(),
                      mine.elements(), all.elements(), size_, mine.elements() * size_));
    }
    counts(of_ranks, all);
    if (of_ranks.empty()) return;
    const std::int64_t expected = of_ranks[static_cast<std::size_t>(rank_)];
    if (expected == mine.elements()) return;
    throw ShapeError(fmt::format("{} with {} elements of this rank, whose count says {}", who(),
                                 mine.elements(), expected));
  }

  void all_to_all() {
    data(call_.input);
    data(call_.output);
    same_type(call_.input, call_.output);
    counts(call_.input_counts, call_.input);
    counts(call_.output_counts, call_.output);
    const auto own = [&](const RankCounts& of_ranks, const Tensor& all) {
      return of_ranks.empty() ? all.elements() / size_ : of_ranks[static_cast<std::size_t>(rank_)];
    };
    const std::int64_t stays = own(call_.input_counts, call_.input);
    if (stays != own(call_.output_counts, call_.output)) {
      throw ShapeError(fmt::format("{} with {} elements for itself, of which it expects {}", who(),
                                   stays, own(call_.output_counts, call_.output)));
    }
    const auto size = static_cast<std::int64_t>(size_of(call_.input.dtype()));
    moved(bytes(call_.input) - stays * size, bytes(call_.output) - stays * size);
  }

  CommunicationCall& call_;
  int rank_, size_;
};

}  // namespace

void check_call(CommunicationCall& call, int rank, int size) {
  CallCheck(call, rank, size).check();
}

}  // namespace detail

RankParts::RankParts(const RankCounts& of_ranks, std::int64_t elements, int size)
    : counts(of_ranks) {
  if (counts.empty()) counts.assign(static_cast<std::size_t>(size), elements / size);
  std::int64_t begin = 0;
  for (const std::int64_t count : counts) {
    begins.push_back(begin);
    begin += count;
  }
}

}  // namespace d5
