// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/chosen_names.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "d5/core/entries/entry_words.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "d5/level3_distributed/samples/sample_cut.hpp"
#include "d5/level3_distributed/schemes/topology.hpp"
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"

namespace d5::detail {
namespace {

/// Called with the settings of an entry, its options, and the prefix of its settings: "exchange.".
using Visit = std::function<void(const Settings&, const std::vector<Option>&, const std::string&)>;

/// Visits an entry and the entries that it chooses.
void visit(const Settings& settings, const std::vector<Option>& options, const std::string& place,
           const Visit& each) {
  each(settings, options, place);
  for (const Option& option : options) {
    const auto in = [&](const auto& registry) {
      if (registry.kind() != option.type) return false;
      EntryChoice choice = entry_of_words(option.type, option.initial);
      OptionList(settings).add(option.name, choice, option.help, option.type);
      if (choice.name.empty()) return true;
      visit(choice.settings, registry.at(choice.name).options(), place + option.name + ".", each);
      return true;
    };
    (void)(in(all_reduces()) || in(gradient_exchanges()) || in(gradient_compressors()) ||
           in(sparse_all_reduces()) || in(topologies()) || in(sample_cuts()));
  }
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
  visit(settings, options, "",
        [](const Settings& of_part, const std::vector<Option>& known, const std::string&) {
          check_options_known(of_part, known);
        });
}

void offer_to_chosen(Settings& settings, const std::vector<Option>& options,
                     const std::string& option, const Settings::Value& value) {
  std::vector<std::string> open;
  visit(settings, options, "",
        [&](const Settings& of_part, const std::vector<Option>& known, const std::string& place) {
          const bool has = std::ranges::find(known, option, &Option::name) != known.end();
          if (has && !of_part.has(option)) open.push_back(place + option);
        });
  for (const std::string& name : open) settings.set(name, value);
}

}  // namespace d5::detail
