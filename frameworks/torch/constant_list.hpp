// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TracerMode.h>
#include <ATen/ops/tensor.h>

namespace d5::torch {

/// A tensor of these numbers that a recorded run (torch:script) holds as a constant. Recorded
/// itself, `at::tensor` would be an empty tensor, since what fills it is no operation.
template <class T>
at::Tensor constant_list(at::ArrayRef<T> list) {
  const at::tracer::impl::NoTracerDispatchMode unrecorded;
  return at::tensor(list);
}

}  // namespace d5::torch
