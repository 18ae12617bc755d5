// SPDX-License-Identifier: Apache-2.0
// User-defined operators that communicate with other ranks, through a ring written here:
//
//   example.RingAllReduce     y = the sum of all ranks' x; its gradient is the sum of theirs
//   example.AveragedGradient  y = x; its gradient is the mean of all ranks'
//
// Attribute `group` names the ranks; the default is "world". With the latter after each parameter
// any optimizer is data-parallel:
//
//   d5 op check --load averaged_gradient.cpp "example.RingAllReduce 3x4"
//
// checks it on one rank; ../110_communication_operator.cpp trains with it on several.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "d5/abi.h"

namespace {

struct OverRanks {
  const d5_communicator* group;
};

d5_status refuse(d5_error* error, d5_status status, const char* message) {
  std::snprintf(error->message, sizeof error->message, "%s", message);
  return status;
}

std::int64_t elements(const d5_tensor& tensor) {
  std::int64_t result = 1;
  for (int i = 0; i < tensor.rank; ++i) result *= tensor.dims[i];
  return result;
}

d5_status create(const d5_node* node, void** self, d5_error* error) {
  if (!D5_HAS(node, communicator)) {
    return refuse(error, D5_UNSUPPORTED, "this edition of d5 gives operators no ranks");
  }
  OverRanks op{};
  const d5_status status = node->communicator(node, nullptr, &op.group, error);
  if (status != D5_OK) return status;
  *self = new (std::nothrow) OverRanks(op);
  return *self ? D5_OK : refuse(error, D5_OTHER_ERROR, "there is no memory");
}

void destroy(void* self) { delete static_cast<OverRanks*>(self); }

d5_status infer(const void*, const d5_tensor* inputs, std::size_t input_count,
                d5_tensor_desc* outputs, std::size_t output_count, d5_error* error) {
  if (input_count != 1 || output_count != 1) {
    return refuse(error, D5_SHAPE_ERROR, "it has one input and one output");
  }
  if (inputs[0].dtype != D5_FLOAT32 && inputs[0].dtype != D5_FLOAT64) {
    return refuse(error, D5_TYPE_ERROR, "the input must be float32 or float64");
  }
  outputs[0].dtype = inputs[0].dtype;
  outputs[0].rank = inputs[0].rank;
  for (int i = 0; i < inputs[0].rank; ++i) outputs[0].dims[i] = inputs[0].dims[i];
  return D5_OK;
}

/// Part `i` of a vector split into `parts`.
struct Part {
  std::int64_t begin, size;
  Part(std::int64_t elements, int i, int parts)
      : begin(elements * i / parts), size(elements * (i + 1) / parts - begin) {}
};

template <class T>
constexpr std::int32_t kType = sizeof(T) == 4 ? D5_FLOAT32 : D5_FLOAT64;

/// Sends a part to the next rank, and receives one from the previous rank.
template <class T>
d5_status pass_on(const d5_communicator& group, T* out, const Part& sent, T* in,
                  const Part& received, d5_error* error) {
  const d5_tensor from_here = {out, &sent.size, 1, kType<T>};
  const d5_tensor to_here = {in, &received.size, 1, kType<T>};
  const int next = (group.rank + 1) % group.ranks;
  const int before = (group.rank + group.ranks - 1) % group.ranks;
  d5_request *sending = nullptr, *receiving = nullptr;
  d5_status status = group.start_receive(&group, &to_here, before, 0, &receiving, error);
  if (status != D5_OK) return status;
  status = group.start_send(&group, &from_here, next, 0, &sending, error);
  if (status != D5_OK) return status;
  status = group.wait(&group, receiving, error);
  const d5_status sent_status = group.wait(&group, sending, error);
  return status != D5_OK ? status : sent_status;
}

/// Sums all ranks' `data` on each rank, bitwise equal: parts travel around the ring and collect
/// sums, then the sums travel around.
template <class T>
d5_status ring_sum(const d5_communicator& group, T* data, std::int64_t count, d5_error* error) {
  const int ranks = group.ranks;
  const auto part = [&](int i) { return Part(count, ((i % ranks) + ranks) % ranks, ranks); };
  std::vector<T> arrived(std::size_t(count / ranks + 1));
  for (int round = 0; round < ranks - 1; ++round) {
    const Part sent = part(group.rank - round), received = part(group.rank - round - 1);
    const d5_status status =
        pass_on(group, data + sent.begin, sent, arrived.data(), received, error);
    if (status != D5_OK) return status;
    for (std::int64_t i = 0; i < received.size; ++i) {
      data[received.begin + i] += arrived[std::size_t(i)];
    }
  }
  for (int round = 0; round < ranks - 1; ++round) {
    const Part sent = part(group.rank + 1 - round), received = part(group.rank - round);
    const d5_status status =
        pass_on(group, data + sent.begin, sent, data + received.begin, received, error);
    if (status != D5_OK) return status;
  }
  return D5_OK;
}

/// Calls `body` with a value of the element type; `infer` accepts only these two types.
template <class Body>
d5_status for_type(const d5_tensor& tensor, const Body& body) {
  return tensor.dtype == D5_FLOAT32 ? body(float()) : body(double());
}

/// to = from
d5_status copy(const d5_tensor& from, const d5_tensor& to) {
  const auto count = std::size_t(elements(to));
  if (count > 0) std::memcpy(to.data, from.data, count * (to.dtype == D5_FLOAT32 ? 4 : 8));
  return D5_OK;
}

/// to = `factor` times the sum of `from` over all ranks
d5_status sum_over_ranks(void* self, const d5_tensor& from, const d5_tensor& to, double factor,
                         d5_error* error) {
  (void)copy(from, to);
  return for_type(to, [&]<class T>(T) {
    T* data = static_cast<T*>(to.data);
    const std::int64_t count = elements(to);
    const d5_status status = ring_sum(*static_cast<OverRanks*>(self)->group, data, count, error);
    for (std::int64_t i = 0; factor != 1 && i < count; ++i) data[i] *= T(factor);
    return status;
  });
}

d5_status sum_forward(void* self, const d5_call* call, d5_error* error) {
  return sum_over_ranks(self, call->inputs[0], call->outputs[0], 1, error);
}

d5_status sum_backward(void* self, const d5_call* call, d5_error* error) {
  return sum_over_ranks(self, call->grad_outputs[0], call->grad_inputs[0], 1, error);
}

d5_status same_forward(void*, const d5_call* call, d5_error*) {
  return copy(call->inputs[0], call->outputs[0]);
}

d5_status mean_backward(void* self, const d5_call* call, d5_error* error) {
  const double factor = 1.0 / static_cast<OverRanks*>(self)->group->ranks;
  return sum_over_ranks(self, call->grad_outputs[0], call->grad_inputs[0], factor, error);
}

constexpr d5_operator operator_of(const char* name, decltype(d5_operator::forward) forward,
                                  decltype(d5_operator::backward) backward) {
  return {.domain = "example",
          .name = name,
          .since_version = 1,
          .until_version = 0,
          .device_kind = 0,
          .create = create,
          .destroy = destroy,
          .infer = infer,
          .flop = nullptr,
          .forward = forward,
          .backward = backward,
          .forward_cuda = nullptr,
          .backward_cuda = nullptr};
}

constexpr d5_operator kOperators[] = {
    operator_of("RingAllReduce", sum_forward, sum_backward),
    operator_of("AveragedGradient", same_forward, mean_backward),
};

}  // namespace

const d5_operator_table* d5_custom_operators() {
  static constexpr d5_operator_table kTable = {D5_ABI_VERSION, sizeof(d5_operator), 2, kOperators};
  return &kTable;
}
