// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/graph/communication_operators.hpp"

#include <fmt/format.h>

#include <memory>
#include <mutex>

#include "d5/abi.h"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/graph/communication_group.hpp"
#include "level0_ops/operator/custom/c_status.hpp"
#include "level0_ops/operator/custom/operator_communicators.hpp"

/// A request, and the memory that belongs to the library until it is done.
struct d5_request {
  d5::Tensor data;
  std::unique_ptr<d5::Request> under_way;  // destroyed first
};
namespace d5::detail {
namespace {

struct CCommunicator {
  d5_communicator table;
  std::shared_ptr<Communicator> ranks;
};

Communicator& ranks_of(const d5_communicator* group) {
  return *static_cast<CCommunicator*>(group->self)->ranks;
}

Tensor tensor_of(const d5_tensor* given) {
  if (!given || given->dtype <= 0 || given->dtype >= kDTypeCount || given->rank < 0 ||
      DType(given->dtype) == DType::string || (given->rank > 0 && !given->dims)) {
    throw TypeError(
        "a call to other ranks was given no tensor; expected one with an element type and sizes");
  }
  Shape shape;
  for (std::int32_t d = 0; d < given->rank; ++d) shape.push_back(given->dims[d]);
  if (!given->data && shape.elements() > 0) {
    throw ValueError(fmt::format("a call to other ranks was given no data for {}",
                                 to_string(TensorDesc{DType(given->dtype), shape})));
  }
  return Tensor::borrow(TensorDesc{DType(given->dtype), shape}, given->data);
}

Reduction reduction_numbered(std::int32_t number) {
  switch (number) {
    case D5_SUM:
      return Reduction::sum;
    case D5_MAXIMUM:
      return Reduction::maximum;
    case D5_MINIMUM:
      return Reduction::minimum;
    default:
      throw ValueError(
          fmt::format("reduction {}, expected D5_SUM, D5_MAXIMUM or D5_MINIMUM", number));
  }
}

/// Checks a tag. Higher tags belong to d5's own algorithms.
int checked(std::int32_t tag) {
  if (tag >= 0 && tag < Communicator::kFirstOwnTag) return tag;
  throw ValueError(fmt::format("tag {}, expected 0 to {}", tag, Communicator::kFirstOwnTag - 1));
}

template <class Start>
d5_status start(const d5_tensor* data, d5_request** request, d5_error* error, const Start& start) {
  return answer_in_c(error, [&] {
    auto started = std::make_unique<d5_request>();
    started->data = tensor_of(data);
    started->under_way = start(started->data);
    *request = started.release();
  });
}

d5_status all_reduce(const d5_communicator* group, const d5_tensor* data, std::int32_t reduction,
                     d5_error* error) {
  return answer_in_c(error, [&] {
    Tensor tensor = tensor_of(data);
    ranks_of(group).all_reduce(tensor, reduction_numbered(reduction));
  });
}

d5_status broadcast(const d5_communicator* group, const d5_tensor* data, std::int32_t root,
                    d5_error* error) {
  return answer_in_c(error, [&] {
    Tensor tensor = tensor_of(data);
    ranks_of(group).broadcast(tensor, root);
  });
}

d5_status all_gather(const d5_communicator* group, const d5_tensor* mine, const d5_tensor* all,
                     d5_error* error) {
  return answer_in_c(error, [&] {
    Tensor result = tensor_of(all);
    ranks_of(group).all_gather(tensor_of(mine), result);
  });
}

d5_status reduce_scatter(const d5_communicator* group, const d5_tensor* all, const d5_tensor* mine,
                         std::int32_t reduction, d5_error* error) {
  return answer_in_c(error, [&] {
    Tensor result = tensor_of(mine);
    ranks_of(group).reduce_scatter(tensor_of(all), result, reduction_numbered(reduction));
  });
}

d5_status all_to_all(const d5_communicator* group, const d5_tensor* to_each,
                     const d5_tensor* from_each, d5_error* error) {
  return answer_in_c(error, [&] {
    Tensor result = tensor_of(from_each);
    ranks_of(group).all_to_all(tensor_of(to_each), result);
  });
}

d5_status barrier(const d5_communicator* group, d5_error* error) {
  return answer_in_c(error, [&] { ranks_of(group).barrier(); });
}

d5_status send(const d5_communicator* group, const d5_tensor* data, std::int32_t to,
               std::int32_t tag, d5_error* error) {
  return answer_in_c(error, [&] { ranks_of(group).send(tensor_of(data), to, checked(tag)); });
}

d5_status receive(const d5_communicator* group, const d5_tensor* data, std::int32_t from,
                  std::int32_t tag, d5_error* error) {
  return answer_in_c(error, [&] {
    Tensor tensor = tensor_of(data);
    ranks_of(group).receive(tensor, from, checked(tag));
  });
}

d5_status start_all_reduce(const d5_communicator* group, const d5_tensor* data,
                           std::int32_t reduction, d5_request** request, d5_error* error) {
  return start(data, request, error, [&](Tensor& tensor) {
    return ranks_of(group).start_all_reduce(tensor, reduction_numbered(reduction));
  });
}

d5_status start_send(const d5_communicator* group, const d5_tensor* data, std::int32_t to,
                     std::int32_t tag, d5_request** request, d5_error* error) {
  return start(data, request, error, [&](Tensor& tensor) {
    return ranks_of(group).start_send(tensor, to, checked(tag));
  });
}

d5_status start_receive(const d5_communicator* group, const d5_tensor* data, std::int32_t from,
                        std::int32_t tag, d5_request** request, d5_error* error) {
  return start(data, request, error, [&](Tensor& tensor) {
    return ranks_of(group).start_receive(tensor, from, checked(tag));
  });
}

d5_status wait(const d5_communicator*, d5_request* request, d5_error* error) {
  const std::unique_ptr<d5_request> ended(request);
  return answer_in_c(error, [&] { ended->under_way->wait(); });
}

/// The C interface to ranks for operators built against `d5/abi.h`. Every call goes to the
/// communicator, which checks, counts and observes it.
std::shared_ptr<const d5_communicator> c_communicator(std::shared_ptr<Communicator> ranks) {
  auto result = std::make_shared<CCommunicator>();
  result->table = {.size = sizeof(d5_communicator),
                   .rank = ranks->rank(),
                   .ranks = ranks->size(),
                   .all_reduce = all_reduce,
                   .broadcast = broadcast,
                   .all_gather = all_gather,
                   .reduce_scatter = reduce_scatter,
                   .all_to_all = all_to_all,
                   .barrier = barrier,
                   .send = send,
                   .receive = receive,
                   .start_all_reduce = start_all_reduce,
                   .start_send = start_send,
                   .start_receive = start_receive,
                   .wait = wait,
                   .self = result.get()};
  result->ranks = std::move(ranks);
  return {result, &result->table};
}

}  // namespace
}  // namespace d5::detail

namespace d5 {

namespace communication_operator {
void register_all(OperatorRegistry& registry);  // generated
}
namespace communication_transform {
void register_all(Registry<TransformEntry>& registry);  // generated
}

void add_communication_operators() {
  static std::once_flag added;
  std::call_once(added, [] {
    communication_operator::register_all(custom_operators());
    communication_transform::register_all(transforms());
    detail::set_operator_communicators([](const std::string& group) {
      return detail::c_communicator(communication_group(group));
    });
  });
}

}  // namespace d5
