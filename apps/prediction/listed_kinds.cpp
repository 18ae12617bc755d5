// SPDX-License-Identifier: Apache-2.0
#include "apps/listed_kinds.hpp"

#include "apps/loadable_frameworks.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::app {
namespace {

/// Lists those of frameworks with their names.
TextTable networks_simulated() {
  TextTable table = summaries(simulated_networks());
  for (auto* one : loadable_frameworks()) {
    for (const auto& [name, entry] : one->part<NativeNetworks>().entries()) {
      table.add({name, entry.summary()});
    }
  }
  return table;
}

}  // namespace

void list_prediction(std::vector<ListedKind>& kinds) {
  kinds.push_back({"simulated-networks", networks_simulated,
                   [](const std::string& name) { return describe(find_simulated_network(name)); }});
  kinds.push_back(kind_of("prediction-strategies", prediction_strategies));
}

}  // namespace d5::app
