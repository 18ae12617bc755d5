// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <span>

#include "d5/core/trace/trace.hpp"

namespace d5::onednn {

/// Span of a primitive's run in a trace, named after its kind. Its arguments are the chosen
/// implementation and each value's type, layout and shape, as in oneDNN's verbose mode.
class PrimitiveSpan {
 public:
  PrimitiveSpan(const dnnl::primitive& primitive, std::span<const dnnl_exec_arg_t> arguments);

 private:
  Span span_;
};

}  // namespace d5::onednn
