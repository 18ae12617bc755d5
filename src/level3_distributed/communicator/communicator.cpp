// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator.hpp"

#include <fmt/format.h>

#include <vector>

#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"
#include "d5/level3_distributed/communication_event.hpp"
#include "level3_distributed/communicator/observed_request.hpp"

namespace d5 {
namespace {

/// What every implementation of the MPI standard allows.
constexpr int kLargestTag = 32767;

std::int64_t bytes_of(const Tensor& tensor) { return static_cast<std::int64_t>(tensor.bytes()); }

std::unique_ptr<Request> observed(const char* call, std::unique_ptr<Request> request,
                                  const EventList& events) {
  if (!Trace::on() && events.empty()) [[likely]]
    return request;
  return std::make_unique<detail::ObservedRequest>(call, std::move(request), events);
}

}  // namespace

template <class Work>
auto Communicator::call(std::string_view name, std::int64_t sent, std::int64_t received,
                        const Work& work) {
  if (size() == 1) sent = received = 0;
  traffic_.add(name, sent, received);
  Span span("communication", name);
  span.argument("bytes_sent", sent);
  span.argument("bytes_received", received);
  if (events_.empty()) [[likely]]
    return work();

  std::vector<CommunicationEvent*> listeners;
  events_.collect(listeners);
  for (auto* listener : listeners) listener->before_call(name, sent, received);
  if constexpr (std::is_void_v<decltype(work())>) {
    work();
    for (auto* listener : listeners) listener->after_call(name);
  } else {
    auto result = work();
    for (auto* listener : listeners) listener->after_call(name);
    return result;
  }
}

void Communicator::all_reduce(Tensor& data, Reduction reduction) {
  check_data("all_reduce", data);
  call("all_reduce", bytes_of(data), bytes_of(data), [&] { do_all_reduce(data, reduction); });
}

std::unique_ptr<Request> Communicator::start_all_reduce(Tensor& data, Reduction reduction) {
  check_data("all_reduce", data);
  return call("all_reduce", bytes_of(data), bytes_of(data), [&] {
    return observed("all_reduce", do_start_all_reduce(data, reduction), events_);
  });
}

void Communicator::broadcast(Tensor& data, int root) {
  check_data("broadcast", data);
  check_rank("broadcast", root);
  const bool sends = rank() == root;
  call("broadcast", sends ? bytes_of(data) : 0, sends ? 0 : bytes_of(data),
       [&] { do_broadcast(data, root); });
}

void Communicator::all_gather(const Tensor& mine, Tensor& all) {
  check_data("all_gather", mine);
  check_parts("all_gather", mine, all);
  call("all_gather", bytes_of(mine), bytes_of(all) - bytes_of(mine),
       [&] { do_all_gather(mine, all); });
}

void Communicator::reduce_scatter(const Tensor& all, Tensor& mine, Reduction reduction) {
  check_data("reduce_scatter", mine);
  check_parts("reduce_scatter", mine, all);
  call("reduce_scatter", bytes_of(all) - bytes_of(mine), bytes_of(mine),
       [&] { do_reduce_scatter(all, mine, reduction); });
}

std::unique_ptr<Request> Communicator::start_send(const Tensor& data, int to, int tag) {
  check_data("send", data);
  check_peer("send", to, tag);
  return call("send", bytes_of(data), 0,
              [&] { return observed("send", do_start_send(data, to, tag), events_); });
}

std::unique_ptr<Request> Communicator::start_receive(Tensor& data, int from, int tag) {
  check_data("receive", data);
  check_peer("receive", from, tag);
  return call("receive", 0, bytes_of(data),
              [&] { return observed("receive", do_start_receive(data, from, tag), events_); });
}

void Communicator::send(const Tensor& data, int to, int tag) { start_send(data, to, tag)->wait(); }

void Communicator::receive(Tensor& data, int from, int tag) {
  start_receive(data, from, tag)->wait();
}

void Communicator::barrier() {
  call("barrier", 0, 0, [&] { do_barrier(); });
}

void Communicator::check_data(std::string_view call, const Tensor& data) const {
  if (data.dtype() == DType::undefined || data.dtype() == DType::string) {
    throw TypeError(fmt::format("rank {}: {} of a tensor of type {}; only numbers can be sent",
                                rank(), call, name_of(data.dtype())));
  }
  if (data.device().kind != DeviceKind::cpu || data.desc().layout != Layout::row_major) {
    throw Unsupported(fmt::format("rank {}: {} of {} on {}; copy it to dense host memory first",
                                  rank(), call, to_string(data.desc()), to_string(data.device())));
  }
}

void Communicator::check_rank(std::string_view call, int other) const {
  if (other >= 0 && other < size()) return;
  throw ValueError(fmt::format("rank {}: {} with rank {}, but the ranks are 0 to {}", rank(), call,
                               other, size() - 1));
}

void Communicator::check_peer(std::string_view call, int other, int tag) const {
  check_rank(call, other);
  if (other == rank()) {
    throw ValueError(fmt::format("rank {}: {} with itself; copy the tensor instead", rank(), call));
  }
  if (tag < 0 || tag > kLargestTag) {
    throw ValueError(fmt::format("rank {}: {} with tag {}, but tags are 0 to {}", rank(), call, tag,
                                 kLargestTag));
  }
}

void Communicator::check_parts(std::string_view call, const Tensor& mine, const Tensor& all) const {
  if (mine.dtype() != all.dtype()) {
    throw TypeError(fmt::format("rank {}: {} between {} and {}; the element types must agree",
                                rank(), call, name_of(mine.dtype()), name_of(all.dtype())));
  }
  if (all.elements() != mine.elements() * size()) {
    throw ShapeError(fmt::format(
        "rank {}: {} with {} elements of this rank and {} of all; {} ranks "
        "need {}",
        rank(), call, mine.elements(), all.elements(), size(), mine.elements() * size()));
  }
}

}  // namespace d5
