// SPDX-License-Identifier: Apache-2.0
// A custom operator for the host and for NVIDIA's GPUs: y = x / (1 + exp(-x)), Swish.
//
//   d5 op check --load 116_cuda_operator.cu "example.Swish 1000"                  on the host
//   d5 op check --load 116_cuda_operator.cu "example.Swish 1000" --device cuda:0  on a GPU
//
// compiles it with nvcc. Source: Ramachandran et al., "Searching for Activation Functions" (2017).
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "d5/abi.h"

namespace {

__host__ __device__ float swish(float x) { return x / (1 + std::exp(-x)); }

/// The derivative: s + x s (1 - s), where s is the logistic function of x.
__host__ __device__ float swish_gradient(float x) {
  const float s = 1 / (1 + std::exp(-x));
  return s + x * s * (1 - s);
}

__global__ void forward_kernel(const float* x, float* y, std::int64_t count) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) y[i] = swish(x[i]);
}

__global__ void backward_kernel(const float* x, const float* dy, float* dx, std::int64_t count) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) dx[i] = swish_gradient(x[i]) * dy[i];
}

std::int64_t elements(const d5_tensor& tensor) {
  std::int64_t result = 1;
  for (int i = 0; i < tensor.rank; ++i) result *= tensor.dims[i];
  return result;
}

const float* read(const d5_tensor& tensor) { return static_cast<const float*>(tensor.data); }
float* written(const d5_tensor& tensor) { return static_cast<float*>(tensor.data); }

d5_status infer(const void*, const d5_tensor* inputs, std::size_t input_count,
                d5_tensor_desc* outputs, std::size_t output_count, d5_error* error) {
  if (input_count != 1 || output_count != 1 || inputs[0].dtype != D5_FLOAT32) {
    std::snprintf(error->message, sizeof error->message, "it has one input of float32, one output");
    return D5_TYPE_ERROR;
  }
  outputs[0].dtype = inputs[0].dtype;
  outputs[0].rank = inputs[0].rank;
  for (int i = 0; i < inputs[0].rank; ++i) outputs[0].dims[i] = inputs[0].dims[i];
  return D5_OK;
}

d5_status forward(void*, const d5_call* call, d5_error*) {
  const std::int64_t count = elements(call->inputs[0]);
  for (std::int64_t i = 0; i < count; ++i) {
    written(call->outputs[0])[i] = swish(read(call->inputs[0])[i]);
  }
  return D5_OK;
}

d5_status backward(void*, const d5_call* call, d5_error*) {
  const std::int64_t count = elements(call->inputs[0]);
  for (std::int64_t i = 0; i < count; ++i) {
    written(call->grad_inputs[0])[i] =
        swish_gradient(read(call->inputs[0])[i]) * read(call->grad_outputs[0])[i];
  }
  return D5_OK;
}

constexpr int kThreads = 256;
unsigned blocks(std::int64_t count) { return unsigned((count + kThreads - 1) / kThreads); }

/// Status of the launch; failures while the kernel runs are reported by the next wait.
d5_status launched(d5_error* error) {
  const cudaError_t result = cudaGetLastError();
  if (result == cudaSuccess) return D5_OK;
  std::snprintf(error->message, sizeof error->message, "%s", cudaGetErrorString(result));
  return D5_OTHER_ERROR;
}

d5_status forward_cuda(void*, const d5_call* call, d5_error* error) {
  const std::int64_t count = elements(call->inputs[0]);
  if (count == 0) return D5_OK;
  forward_kernel<<<blocks(count), kThreads, 0, static_cast<cudaStream_t>(call->stream)>>>(
      read(call->inputs[0]), written(call->outputs[0]), count);
  return launched(error);
}

d5_status backward_cuda(void*, const d5_call* call, d5_error* error) {
  const std::int64_t count = elements(call->inputs[0]);
  if (count == 0) return D5_OK;
  backward_kernel<<<blocks(count), kThreads, 0, static_cast<cudaStream_t>(call->stream)>>>(
      read(call->inputs[0]), read(call->grad_outputs[0]), written(call->grad_inputs[0]), count);
  return launched(error);
}

}  // namespace

extern "C" const d5_operator_table* d5_custom_operators() {
  static const d5_operator op = [] {
    d5_operator result = {};
    result.domain = "example";
    result.name = "Swish";
    result.since_version = 1;
    result.infer = infer;
    result.forward = forward;
    result.backward = backward;
    result.forward_cuda = forward_cuda;
    result.backward_cuda = backward_cuda;
    return result;
  }();
  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), 1, &op};
  return &table;
}
