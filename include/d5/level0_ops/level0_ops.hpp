// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/bench.hpp"
#include "d5/level0_ops/custom_operator.hpp"
#include "d5/level0_ops/grad_context.hpp"
#include "d5/level0_ops/infer_context.hpp"
#include "d5/level0_ops/kernel.hpp"
#include "d5/level0_ops/kernel_choice.hpp"
#include "d5/level0_ops/node_run.hpp"
#include "d5/level0_ops/op_context.hpp"
#include "d5/level0_ops/operator.hpp"
#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "d5/level0_ops/operator_validation.hpp"
#include "d5/level0_ops/plan_context.hpp"
#include "d5/level0_ops/subgraph_runner.hpp"
#include "d5/level0_ops/window.hpp"
