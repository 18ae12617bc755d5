// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/decorators/node_calls.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr NodeExchangeOptions kRoom{.chunk_bytes = std::int64_t{16} << 10, .stages = 4};

Tensor bytes_of(const Tensor& tensor) {
  return Tensor::borrow({DType::uint8, {static_cast<std::int64_t>(tensor.bytes())}},
                        const_cast<void*>(tensor.raw()), tensor.owner());
}

}  // namespace

NodeCalls::NodeCalls(std::shared_ptr<Communicator> ranks, std::unique_ptr<NodeExchange> exchange)
    : ranks_(std::move(ranks)),
      exchange_(std::move(exchange)),
      token_(Tensor::zeros(DType::uint8, {1})) {}

std::unique_ptr<NodeCalls> NodeCalls::make(std::shared_ptr<Communicator> ranks) {
  try {  // what is refused, is on all ranks alike
    auto exchange = std::make_unique<NodeExchange>(*ranks, kRoom);
    return std::unique_ptr<NodeCalls>(new NodeCalls(std::move(ranks), std::move(exchange)));
  } catch (const Unsupported&) {
  } catch (const MemoryError&) {
  } catch (const IoError&) {
  }
  return nullptr;
}

std::unique_ptr<Request> NodeCalls::start(const CommunicationCall& call) {
  if (call.output.defined() && call.output.bytes() > kMostBytes) return nullptr;
  switch (call.kind) {
    case CallKind::all_reduce:
      return exchange_->start_all_reduce(call.output, call.reduction);
    case CallKind::broadcast:
      return exchange_->start_broadcast(call.output, call.peer,
                                        std::make_shared<std::atomic<bool>>(true));
    case CallKind::all_gather:
      return call.output_counts.empty() ? start_all_gather(call) : nullptr;
    case CallKind::barrier:
      return exchange_->start_all_reduce(token_, Reduction::maximum);
    default:
      return nullptr;
  }
}

/// The sum of what is 0 but for the own part.
std::unique_ptr<Request> NodeCalls::start_all_gather(const CommunicationCall& call) {
  Tensor all = bytes_of(call.output);
  auto* bytes = all.data<std::uint8_t>();
  const std::size_t size = call.input.bytes();
  const std::size_t begin = size * static_cast<std::size_t>(ranks_->rank());
  if (size > 0) std::memmove(bytes + begin, call.input.raw(), size);
  std::memset(bytes, 0, begin);
  std::memset(bytes + begin + size, 0, all.bytes() - begin - size);
  return exchange_->start_all_reduce(all, Reduction::sum);
}

}  // namespace d5::detail
