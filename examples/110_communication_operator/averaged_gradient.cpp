// SPDX-License-Identifier: Apache-2.0
// Operators of one's own that talk to other ranks, by a ring of one's own:
//
//   example.RingAllReduce     y = the sum of all ranks' x; its gradient is the sum of theirs
//   example.AveragedGradient  y = x; its gradient is the mean of all ranks'
//
// Attribute `group` names the ranks, "world" where it is left out. With the latter behind each
// parameter any optimizer is data-parallel:
//
//   mpirun -np 2 d5 op check --load averaged_gradient.cpp "example.RingAllReduce 3x4"
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
  if (inputs[0].dtype != D5_FLOAT32) {
    return refuse(error, D5_TYPE_ERROR, "the input must be float32");
  }
  outputs[0].dtype = inputs[0].dtype;
  outputs[0].rank = inputs[0].rank;
  for (int i = 0; i < inputs[0].rank; ++i) outputs[0].dims[i] = inputs[0].dims[i];
  return D5_OK;
}

/// The part of a vector that is number `i` of `parts`.
struct Part {
  std::int64_t begin, size;
  Part(std::int64_t elements, int i, int parts)
      : begin(elements * i / parts), size(elements * (i + 1) / parts - begin) {}
};

/// Sends a part to the next rank, while one comes from the rank before.
d5_status pass_on(const d5_communicator& group, float* out, const Part& sent, float* in,
                  const Part& received, d5_error* error) {
  const d5_tensor from_here = {out, &sent.size, 1, D5_FLOAT32};
  const d5_tensor to_here = {in, &received.size, 1, D5_FLOAT32};
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

/// The sum of all ranks' `data`, on each, the same bits: parts travel around the ring and gather
/// sums, and then sums travel around.
d5_status ring_sum(const d5_communicator& group, float* data, std::int64_t count, d5_error* error) {
  const int ranks = group.ranks;
  const auto part = [&](int i) { return Part(count, ((i % ranks) + ranks) % ranks, ranks); };
  std::vector<float> arrived(std::size_t(count / ranks + 1));
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

/// `to` is `from`.
float* copied(const d5_tensor& to, const d5_tensor& from) {
  if (elements(to) > 0) std::memcpy(to.data, from.data, std::size_t(elements(to)) * sizeof(float));
  return static_cast<float*>(to.data);
}

d5_status sum_forward(void* self, const d5_call* call, d5_error* error) {
  float* y = copied(call->outputs[0], call->inputs[0]);
  return ring_sum(*static_cast<OverRanks*>(self)->group, y, elements(call->outputs[0]), error);
}

d5_status sum_backward(void* self, const d5_call* call, d5_error* error) {
  float* dx = copied(call->grad_inputs[0], call->grad_outputs[0]);
  return ring_sum(*static_cast<OverRanks*>(self)->group, dx, elements(call->grad_inputs[0]), error);
}

d5_status same(void*, const d5_call* call, d5_error*) {
  (void)copied(call->outputs[0], call->inputs[0]);
  return D5_OK;
}

d5_status mean_backward(void* self, const d5_call* call, d5_error* error) {
  const d5_status status = sum_backward(self, call, error);
  const d5_tensor& gradient = call->grad_inputs[0];
  const auto ranks = float(static_cast<OverRanks*>(self)->group->ranks);
  for (std::int64_t i = 0; i < elements(gradient); ++i) {
    static_cast<float*>(gradient.data)[i] /= ranks;
  }
  return status;
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
    operator_of("AveragedGradient", same, mean_backward),
};

}  // namespace

const d5_operator_table* d5_custom_operators() {
  static constexpr d5_operator_table kTable = {D5_ABI_VERSION, sizeof(d5_operator), 2, kOperators};
  return &kTable;
}
