// SPDX-License-Identifier: Apache-2.0
// Properties of every entry of every registry.
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/topology.hpp"

using namespace d5;

namespace {

/// Settings are checked before a part is made, so that `needs` may be empty here.
template <class EntryOfKind, class... Needs>
void check_all(const Registry<EntryOfKind>& registry, const Needs&... needs) {
  for (const auto& [name, entry] : registry.entries()) {
    CAPTURE(registry.kind(), name);
    CHECK_FALSE(entry.summary().empty());
    CHECK_THROWS_AS(entry.make(needs..., {{"no_such_option", 1}}), NotFound);
    CHECK_THROWS_WITH(
        entry.make(needs..., {{"no_such_option", 1}}),
        Catch::StartsWith(registry.kind() + " " + name + ": option 'no_such_option'"));
    for (const Option& option : entry.options()) {
      CAPTURE(option.name);
      CHECK_FALSE(option.help.empty());
      const std::string misspelt = option.name + "z";
      CHECK_THROWS_AS(entry.make(needs..., {{misspelt, option.initial}}), NotFound);
      CHECK_THROWS_WITH(
          entry.make(needs..., {{misspelt, option.initial}}),
          Catch::Contains("did you mean " + option.name) || Catch::Contains("or " + option.name));
    }
  }
}

}  // namespace

TEST_CASE("no entry of any registry takes a setting that is none of its options") {
  check_all(models());
  check_all(datasets(), Interrupt{});
  check_all(samplers(), std::shared_ptr<const Dataset>());
  check_all(optimizers(), std::shared_ptr<GraphExecutor>(), std::string("loss"));
  check_all(distributed_optimizers(), std::shared_ptr<ThreeStepOptimizer>(),
            std::shared_ptr<Communicator>());
  check_all(all_reduces());
  check_all(broadcasts());
  check_all(reduce_scatters());
  check_all(all_gathers());
  check_all(topologies(), 2);
}

TEST_CASE("nor does one that a framework brings") {
  for (const auto& info : frameworks()) {
    Framework* loaded = nullptr;
    try {
      loaded = &framework(info.name);
    } catch (const Error&) {
      continue;  // cannot be loaded here
    }
    check_all(loaded->part<NativeOptimizers>(), std::shared_ptr<GraphExecutor>(),
              std::string("loss"));
    check_all(loaded->part<NativeSchemes>(), std::shared_ptr<ThreeStepOptimizer>(),
              std::shared_ptr<Communicator>());
    for (const auto& [name, entry] : loaded->part<ExecutorRegistry>().entries()) {
      CHECK_THROWS_AS(entry.make(Network("empty"), ExecutorOptions{}, {{"no_such_option", 1}}),
                      NotFound);
    }
  }
}
