// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <span>

#include "d5/core/trace/trace.hpp"

namespace d5::onednn {

/// The span of one primitive that runs while a trace is on: named after its kind, its arguments the
/// implementation that was chosen and each value's type, layout and shape, as a line of oneDNN's
/// verbose mode has them.
class PrimitiveSpan {
 public:
  PrimitiveSpan(const dnnl::primitive& primitive, std::span<const dnnl_exec_arg_t> arguments);

 private:
  Span span_;
};

}  // namespace d5::onednn
