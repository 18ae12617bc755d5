// SPDX-License-Identifier: Apache-2.0
// What ranks are about to train, compared before they do.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/source_commit.hpp"
#include "d5/core/error.hpp"
#include "d5/level3_distributed/rank_check.hpp"
#include "d5/version.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"

namespace d5 {
namespace {

using Facts = std::map<std::string, std::string>;

std::string to_text(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) {
    text += printable_message(name) + '\t' + printable_message(value) + '\n';
  }
  return text;
}

Facts from_text(const std::string& text) {
  Facts facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    facts[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return facts;
}

/// Throws: CommunicationError on every rank, the same words.
void expect_equal(const Facts& mine, Communicator& ranks) {
  std::map<std::string, std::map<std::string, std::vector<int>>> by_name;
  const auto texts = detail::gather_texts(ranks, to_text(mine));
  std::vector<Facts> all;
  for (const auto& text : texts) all.push_back(from_text(text));
  for (const auto& facts : all) {
    for (const auto& [name, value] : facts) by_name[name];
  }
  std::string differences;
  for (auto& [name, by_value] : by_name) {
    for (std::size_t r = 0; r < all.size(); ++r) {
      const auto place = all[r].find(name);
      by_value[place == all[r].end() ? "not set" : place->second].push_back(static_cast<int>(r));
    }
    if (by_value.size() == 1) continue;
    differences += fmt::format("{}{}: ", differences.empty() ? "" : "; ", name);
    bool first = true;
    for (const auto& [value, who] : by_value) {
      differences += fmt::format("{}{} at rank {}", std::exchange(first, false) ? "" : ", ", value,
                                 fmt::join(who, ", "));
    }
  }
  if (differences.empty()) return;
  throw CommunicationError("the ranks do not train the same: " + differences +
                           "; give all ranks the same program, recipe and data");
}

Facts facts_of(const Dataset& data) {
  Facts facts{{"data set", data.name()}, {"samples for training", std::to_string(data.size())}};
  for (const Artefact& artefact : data.artefacts()) {
    if (!artefact.sha256.empty()) facts["sha256 of " + artefact.name] = artefact.sha256;
  }
  return facts;
}

}  // namespace

void expect_equal_recipes(const Recipe& recipe, Communicator& ranks) {
  if (ranks.size() == 1) return;
  Facts facts{{"recipe", recipe.name()},
              {"d5", fmt::format("{} ({})", D5_VERSION, detail::source_commit())}};
  for (const auto& [key, value] : recipe.values()) facts[key] = value.text;
  expect_equal(facts, ranks);
}

void compare_start(SessionOptions& session, const std::shared_ptr<Communicator>& ranks) {
  if (ranks->size() == 1) return;
  session.make_train_sampler = [ranks, inner = std::move(session.make_train_sampler)](
                                   const SamplerEntry& entry, std::shared_ptr<const Dataset> data,
                                   const Settings& sampling) {
    expect_equal(facts_of(*data), *ranks);
    return inner ? inner(entry, std::move(data), sampling) : entry.make(std::move(data), sampling);
  };
  session.wrap_optimizer =
      [ranks, inner = std::move(session.wrap_optimizer)](std::shared_ptr<Optimizer> optimizer) {
        expect_equal_parameters(optimizer->executor().network(), *ranks,
                                "before training, from the same seed");
        return inner ? inner(std::move(optimizer)) : optimizer;
      };
}

}  // namespace d5
