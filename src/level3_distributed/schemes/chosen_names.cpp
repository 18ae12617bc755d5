// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/chosen_names.hpp"

#include <algorithm>
#include <string>

#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/gradient_compressor.hpp"
#include "d5/level3_distributed/gradient_exchange.hpp"
#include "d5/level3_distributed/sample_cut.hpp"
#include "d5/level3_distributed/sparse_all_reduce.hpp"
#include "d5/level3_distributed/topology.hpp"

namespace d5::detail {
namespace {

/// Whether the registry is of that kind; then what the entry is told is checked.
template <class T>
bool check_in(const Registry<T>& registry, const std::string& kind, const EntryChoice& choice) {
  if (registry.kind() != kind) return false;
  check_chosen_names(choice.settings, registry.at(choice.name).options());
  return true;
}

void check_options_known(const Settings& settings, const std::vector<Option>& options) {
  for (const auto& [name, value] : settings.values()) {
    const std::string option = name.substr(0, name.find('.'));
    if (std::ranges::find(options, option, &Option::name) != options.end()) continue;
    std::vector<std::string> known;
    for (const Option& one : options) known.push_back(one.name);
    throw_unknown_name(settings.place_of(name) + ": option", option, known);
  }
}

}  // namespace

void check_chosen_names(const Settings& settings, const std::vector<Option>& options) {
  check_options_known(settings, options);
  for (const Option& option : options) {
    EntryChoice choice{settings.text(option.name, option.initial), settings.below(option.name)};
    choice.name = choice.settings.take("name", choice.name);
    if (choice.name.empty()) continue;
    const auto in = [&](const auto& registry) { return check_in(registry, option.type, choice); };
    (void)(in(all_reduces()) || in(gradient_exchanges()) || in(gradient_compressors()) ||
           in(sparse_all_reduces()) || in(topologies()) || in(sample_cuts()));
  }
}

}  // namespace d5::detail
