// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <typeinfo>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

/// Selects the Python class, of three, for an optimizer in C++. Include it wherever one is returned
/// to Python.
template <>
struct pybind11::polymorphic_type_hook<d5::Optimizer> {
  static const void* get(const d5::Optimizer* source, const std::type_info*& type) {
    if (dynamic_cast<const d5::ThreeStepOptimizer*>(source)) type = &typeid(d5::ThreeStepOptimizer);
    if (dynamic_cast<const d5::DistributedOptimizer*>(source)) {
      type = &typeid(d5::DistributedOptimizer);
    }
    return source;
  }
};
