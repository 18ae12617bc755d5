// SPDX-License-Identifier: Apache-2.0
// The plug-in's entry: what TensorFlow brings to each level.
#include "d5/core/plugin.hpp"

#include "d5/level0_ops/operator_registry.hpp"
#include "library.hpp"
#include "runtime.hpp"
#include "translators.hpp"

namespace d5::tensorflow {

void register_all(Translators& translators);  // generated

namespace {

void fill(Framework& framework) {
  follow_threads();
  auto& translators = framework.part<Translators>();
  register_all(translators);
  translators.register_kernels(framework.part<OperatorRegistry>());
}

}  // namespace
}  // namespace d5::tensorflow

D5_FRAMEWORK_PLUGIN("tensorflow", d5::tensorflow::load_library(), d5::tensorflow::fill)
