// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/grad_context.hpp"
#include "d5/level0_ops/operator/infer_context.hpp"
#include "d5/level0_ops/operator/op_context.hpp"
#include "lease.hpp"

namespace d5::python {

// Contexts of an operator in Python, valid during a call.
using LentInfer = Lent<const InferContext>;
using LentOp = Lent<const OpContext>;
using LentGrad = Lent<const GradContext>;

}  // namespace d5::python
