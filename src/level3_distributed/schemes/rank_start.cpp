// SPDX-License-Identifier: Apache-2.0
// Comparison of the ranks' recipes, data and parameters before training.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/source_commit.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/schemes/rank_check.hpp"
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

std::string program_version() {
  return fmt::format("{} ({})", D5_VERSION, detail::source_commit());
}

Facts facts_of(const Recipe& recipe) {
  Facts facts{{"recipe", recipe.name()}, {"d5", program_version()}};
  for (const auto& [key, value] : recipe.values()) facts[key] = value.text;
  return facts;
}

Facts facts_of(const Dataset& data) {
  Facts facts{{"data set", data.name()}, {"samples for training", std::to_string(data.size())}};
  for (const Artefact& artefact : data.artefacts()) {
    if (!artefact.sha256.empty()) facts["sha256 of " + artefact.name] = artefact.sha256;
  }
  return facts;
}

/// Describes how the ranks' parameters differ; empty if they do not.
std::string differences(Network& network, Communicator& ranks) {
  try {
    expect_equal_parameters(network, ranks, "before training, from the same seed");
    return "";
  } catch (const CommunicationError& error) {
    return error.what();
  }
}

/// Whether `here` is true on all ranks.
bool all_hold(bool here, Communicator& ranks) {
  Tensor holds = Tensor::scalar<std::int32_t>(here ? 1 : 0);
  ranks.all_reduce(holds, Reduction::minimum);
  return holds.item<std::int32_t>() == 1;
}

}  // namespace

std::string differing_facts(const std::map<std::string, std::string>& mine, Communicator& ranks) {
  std::map<std::string, std::map<std::string, std::vector<int>>> by_name;
  std::vector<Facts> all;
  for (const auto& text : detail::gather_texts(ranks, to_text(mine))) {
    all.push_back(from_text(text));
  }
  for (const auto& facts : all) {
    for (const auto& [name, value] : facts) by_name[name];
  }
  std::string words;
  for (auto& [name, by_value] : by_name) {
    for (std::size_t r = 0; r < all.size(); ++r) {
      const auto place = all[r].find(name);
      by_value[place == all[r].end() ? "not set" : place->second].push_back(static_cast<int>(r));
    }
    if (by_value.size() == 1) continue;
    words += fmt::format("{}{}: ", words.empty() ? "" : "; ", name);
    bool first = true;
    for (const auto& [value, who] : by_value) {
      words += fmt::format("{}{} at rank {}", std::exchange(first, false) ? "" : ", ", value,
                           fmt::join(who, ", "));
    }
  }
  return words;
}

void expect_same_start(std::map<std::string, std::string> options, Communicator& ranks) {
  options["d5"] = program_version();
  const std::string words = differing_facts(options, ranks);
  if (words.empty()) return;
  throw CommunicationError("the ranks were started differently: " + words +
                           "; give all ranks the same program and options");
}

struct StartComparison::Parts {
  Recipe recipe;
  SessionOptions session;
  std::shared_ptr<Communicator> ranks;

  /// Throws: CommunicationError with all differences. A collective.
  [[noreturn]] void refuse() const {
    Facts facts = facts_of(recipe);
    std::unique_ptr<TrainingSession> alone;
    try {
      alone = std::make_unique<TrainingSession>(recipe, session);
      facts.merge(facts_of(*alone->data().train));
    } catch (const std::exception& error) {
      facts["what it says"] = error.what();
    }
    std::string words = differing_facts(facts, *ranks);
    if (all_hold(alone != nullptr, *ranks)) {
      const std::string others = differences(alone->network(), *ranks);
      if (!others.empty()) words += (words.empty() ? "" : "; ") + others;
    }
    throw CommunicationError("the ranks do not train the same: " + words +
                             "; give all ranks the same program, recipe and data");
  }
};

StartComparison::StartComparison(const Recipe& recipe, const SessionOptions& session,
                                 std::shared_ptr<Communicator> ranks) {
  SessionOptions plain = session;
  plain.checkpoint.clear();
  plain.resume.clear();
  plain.save.clear();
  plain.say = {};
  plain.metrics.clear();
  plain.observers.clear();
  plain.loader_threads = 0;
  parts_ = std::make_shared<const Parts>(Parts{recipe, std::move(plain), std::move(ranks)});
}

void StartComparison::compare_recipes() const {
  if (!differing_facts(facts_of(parts_->recipe), *parts_->ranks).empty()) parts_->refuse();
}

void StartComparison::add_to(SessionOptions& session) const {
  if (parts_->ranks->size() == 1) return;
  session.make_train_sampler = [parts = parts_, inner = std::move(session.make_train_sampler)](
                                   const SamplerEntry& entry, std::shared_ptr<const Dataset> data,
                                   const Settings& sampling) {
    if (!differing_facts(facts_of(*data), *parts->ranks).empty()) parts->refuse();
    return inner ? inner(entry, std::move(data), sampling) : entry.make(std::move(data), sampling);
  };
  session.make_executor = [parts = parts_, inner = std::move(session.make_executor)](
                              const Network& whole, const std::string& loss,
                              const ExecutorOptions& options) {
    Network network = whole;
    if (!differences(network, *parts->ranks).empty()) parts->refuse();
    return inner ? inner(whole, loss, options) : make_executor(whole, options);
  };
}

}  // namespace d5
