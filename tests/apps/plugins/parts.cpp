// SPDX-License-Identifier: Apache-2.0
// A plug-in of parts that are no framework's: they go to d5's own registries.
#include "d5/core/entries/plugin.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"

namespace {
void fill(d5::Framework&) {
  d5::transforms().add("loaded-transform", d5::transforms().at("dead-code"));
  d5::optimizers().add("loaded-optimizer", d5::optimizers().at("momentum"));
  d5::samplers().add("loaded-sampler", d5::samplers().at("ordered"));
  d5::all_reduces().add("loaded-all-reduce", d5::all_reduces().at("ring"));
}
}  // namespace

D5_FRAMEWORK_PLUGIN("parts", "1", fill)
