// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/sha256.hpp"
#include "core/yaml_tree.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/carried_file.hpp"
#include "d5/core/entry_words.hpp"
#include "d5/core/error.hpp"
#include "d5/core/registry.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/level2_training/dataset.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/sampler.hpp"

namespace d5 {
namespace {

using detail::YamlNode;

/// What a recipe's parts may hold. What stands below them is known to the entry that is named
/// there.
constexpr std::array<const char*, 7> kSections{"dataset",     "model",    "sampler", "optimizer",
                                               "distributed", "training", "metrics"};

/// Throws NotFound if `name` is none of `known`.
void expect_known(const std::string& file, int line, const std::string& kind,
                  const std::string& name, const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) == known.end()) {
    throw_unknown_name(fmt::format("{}:{}: {}", printable(file), line, kind), name, known);
  }
}

[[noreturn]] void fail(const std::string& file, int line, const std::string& what) {
  throw FormatError(fmt::format("{}:{}: {}", printable(file), line, what));
}

void expect_map(const std::string& file, const std::string& name, const YamlNode& node) {
  if (!node.is_map()) {
    fail(file, node.line,
         fmt::format("'{}' is a {}, expected 'key: value' lines below it", printable(name),
                     node.is_list() ? "list" : "value"));
  }
}

/// What a list of values is as one text: "0.485,0.456,0.406".
std::string joined(const std::string& file, const YamlNode& list) {
  std::string text;
  for (const auto& [index, item] : list.entries) {
    if (item.text.find(',') != std::string::npos || item.text.empty()) {
      fail(file, item.line,
           fmt::format("'{}' is in a list, whose values have no commas and are not empty",
                       printable(item.text)));
    }
    text += (text.empty() ? "" : ",") + item.text;
  }
  return text;
}

bool holds_values_alone(const YamlNode& node) {
  return std::ranges::all_of(
      node.entries, [](const auto& entry) { return entry.second.kind == YamlNode::Kind::scalar; });
}

/// Adds the scalars below `node` under dotted keys, of a list by their places: "steps.1.size". A
/// list of values is one text.
void flatten(const std::string& file, const std::string& prefix, const YamlNode& node, bool fixed,
             std::map<std::string, Recipe::Value, std::less<>>& into) {
  for (const auto& [key, child] : node.entries) {
    const std::string name = prefix + "." + key;
    const bool is_values = child.is_list() && holds_values_alone(child);
    if (child.kind != YamlNode::Kind::scalar && !is_values) {
      flatten(file, name, child, fixed, into);
      continue;
    }
    const auto [place, fresh] = into.try_emplace(
        name, Recipe::Value{is_values ? joined(file, child) : child.text, fixed, child.line});
    if (!fresh) {
      fail(file, child.line,
           fmt::format("'{}' is given twice, first in line {}", printable(name),
                       place->second.line));
    }
  }
}

void read_part(const std::string& file, const YamlNode& part, bool fixed,
               std::map<std::string, Recipe::Value, std::less<>>& into) {
  for (const auto& [name, node] : part.entries) {
    expect_known(file, node.line, "section", name, {kSections.begin(), kSections.end()});
    expect_map(file, name, node);
    for (const auto& [key, child] : node.entries) {
      if (name == "training" && child.kind != YamlNode::Kind::scalar) {
        fail(file, child.line,
             fmt::format("'training.{}' is a {}, expected a value", printable(key),
                         child.is_map() ? "map" : "list"));
      }
      if (name != "metrics") continue;
      if (!child.is_map()) {
        fail(file, child.line,
             fmt::format("'metrics.{}' is no map, expected the metric's settings: {{...}}",
                         printable(key)));
      }
      // A metric without settings is a value of its own, so that it is known.
      into.try_emplace(name + "." + key, Recipe::Value{"", fixed, child.line});
    }
    flatten(file, name, node, fixed, into);
  }
}

Recipe::Acceptable read_acceptable(const std::string& file, const std::string& metric,
                                   const YamlNode& node) {
  expect_map(file, metric, node);
  Recipe::Acceptable result{.metric = metric};
  bool bounded = false;
  for (const auto& [key, child] : node.entries) {
    expect_known(file, child.line, "key of " + metric, key, {"at_least", "at_most", "of"});
    Settings value(fmt::format("{}:{}", printable(file), child.line), {{key, child.text}});
    if (key == "of") {
      result.of = statistic_from(child.text);
      if (!result.of) {
        fail(file, child.line,
             fmt::format("of: '{}', expected last, best, median, mean, maximum or a percentile "
                         "such as p99",
                         printable(child.text)));
      }
    } else {
      if (bounded) fail(file, child.line, "at_least and at_most are both given; write one");
      bounded = true;
      result.bound = key == "at_least" ? Recipe::Acceptable::Bound::at_least
                                       : Recipe::Acceptable::Bound::at_most;
      result.value = value.number(key, 0);
    }
  }
  if (!bounded)
    fail(file, node.line, fmt::format("'{}' has no at_least or at_most", printable(metric)));
  return result;
}

Recipe::Range read_range(const std::string& file, const std::string& key, const YamlNode& node) {
  expect_map(file, key, node);
  Recipe::Range range{.key = key};
  for (const auto& [word, child] : node.entries) {
    expect_known(file, child.line, "key of " + key, word, {"least", "most", "scale"});
    if (word == "scale") {
      if (child.text != "linear" && child.text != "logarithmic") {
        fail(file, child.line,
             fmt::format("scale: '{}', expected linear or logarithmic", printable(child.text)));
      }
      if (child.text == "logarithmic") range.scale = Recipe::Range::Scale::logarithmic;
      continue;
    }
    const Settings value(fmt::format("{}:{}", printable(file), child.line), {{word, child.text}});
    (word == "least" ? range.least : range.most) = value.number(word, 0);
  }
  const bool positive = range.scale == Recipe::Range::Scale::linear || range.least > 0;
  if (!(range.least < range.most) || !positive) {
    fail(file, node.line,
         fmt::format("'{}' goes from {} to {}; expected least below most, and above 0 on a "
                     "logarithmic scale",
                     printable(key), range.least, range.most));
  }
  return range;
}

std::vector<double> read_reference(const std::string& file, const std::string& metric,
                                   const YamlNode& node) {
  std::vector<double> runs;
  for (const auto& [index, item] : node.entries) {
    const Settings value(fmt::format("{}:{}", printable(file), item.line), {{metric, item.text}});
    runs.push_back(value.number(metric, 0));
  }
  if (!node.is_list() || runs.size() < 2) {
    fail(file, node.line,
         fmt::format("reference: '{}' is no list of numbers, two or more", printable(metric)));
  }
  return runs;
}

/// The names of an entry's options; none where there is no such entry.
std::set<std::string> options_of(const std::string& section, const std::string& name) {
  std::set<std::string> names;
  const auto add = [&](const auto& entry) {
    for (const Option& option : entry.options()) names.insert(option.name);
  };
  try {
    if (section == "optimizer") add(find_optimizer(name));
    if (section == "sampler") add(samplers().at(name));
    if (section == "model") add(models().at(name));
    if (section == "dataset") add(datasets().at(name));
  } catch (const Error&) {
    names.clear();  // whoever opens it says why
  }
  return names;
}

}  // namespace

void TrainingOptions::declare(OptionList& options) {
  options.add("epochs", epochs, "times that the training set is gone through", {.least = 0});
  options.add("most_batches", most_batches, "of the whole run; 0: no limit", {.least = 0});
  options.add("seed", seed, "of all random numbers");
  options.add("test_batch_size", test_batch_size, "samples in a batch of a test run", {.least = 1});
  options.add("test_every", test_every, "epochs between two test runs", {.least = 1});
  options.add("precision", precision,
              "what the network computes in, where operators have it; parameters stay float32",
              {"float32", "float16", "bfloat16"});
}

Recipe Recipe::parse(const std::string& text, const std::string& file) {
  const YamlNode root = detail::parse_yaml(text, file);
  Recipe recipe;
  recipe.file_ = file;
  recipe.text_ = text;
  expect_map(file, "recipe", root);
  for (const auto& [key, node] : root.entries) {
    expect_known(file, node.line, "key", key,
                 {"name", "summary", "fixed", "mutable", "acceptable", "ranges", "reference"});
    if (key == "name" || key == "summary") {
      if (node.kind != YamlNode::Kind::scalar) {
        fail(file, node.line, fmt::format("'{}' is no text", key));
      }
      (key == "name" ? recipe.name_ : recipe.summary_) = node.text;
      continue;
    }
    expect_map(file, key, node);
    if (key == "ranges") {
      for (const auto& [value, range] : node.entries) {
        recipe.ranges_.push_back(read_range(file, value, range));
      }
    } else if (key == "reference") {
      for (const auto& [metric, runs] : node.entries) {
        recipe.reference_[metric] = read_reference(file, metric, runs);
      }
    } else if (key == "acceptable") {
      for (const auto& [metric, bound] : node.entries) {
        recipe.acceptable_.push_back(read_acceptable(file, metric, bound));
      }
    } else {
      read_part(file, node, key == "fixed", recipe.values_);
    }
  }
  if (recipe.name_.empty()) fail(file, root.line, "has no 'name'");
  const bool has_file = recipe.values_.contains("model.file");
  if (has_file && recipe.values_.contains("model.name")) {
    fail(file, recipe.values_.find("model.file")->second.line,
         "'model.file' and 'model.name' are both given; write one");
  }
  for (const char* needed : {"dataset.name", "model.name", "optimizer.name"}) {
    if (has_file && needed == std::string_view("model.name")) continue;
    if (!recipe.values_.contains(needed)) {
      fail(file, root.line, fmt::format("has no '{}' in its fixed or its mutable part", needed));
    }
  }
  for (const Range& range : recipe.ranges_) {
    const auto place = recipe.values_.find(range.key);
    if (place != recipe.values_.end() && !place->second.fixed) continue;
    fail(file, root.line,
         fmt::format("ranges: '{}' is no value of the mutable part", printable(range.key)));
  }
  (void)recipe.training();
  return recipe;
}

void Recipe::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    throw ValueError(fmt::format("'{}' sets nothing; expected key=value", printable(assignment)));
  }
  const std::string key(assignment.substr(0, equals));
  set_value(key, std::string(assignment.substr(equals + 1)));
  changes_.emplace_back(assignment);
}

void Recipe::set_value(const std::string& key, const std::string& text) {
  const auto place = values_.find(key);
  if (place == values_.end()) {
    std::vector<std::string> known;
    for (const auto& [name, value] : values_) {
      if (!value.fixed) known.push_back(name);
    }
    throw_unknown_name(fmt::format("recipe '{}': mutable value", printable(name_)), key, known);
  }
  if (place->second.fixed) {
    throw ValueError(
        fmt::format("recipe '{}': '{}' is fixed ({}:{}), because results with another value are "
                    "not comparable; "
                    "copy the recipe under another name to change it",
                    printable(name_), key, printable(file_), place->second.line));
  }
  constexpr std::string_view kName = ".name";
  const bool names_section = key.ends_with(kName) && std::ranges::count(key, '.') == 1;
  if (!names_section) {
    place->second.text = text;
    return;
  }
  choose(key.substr(0, key.size() - kName.size()), text);
}

/// What belongs to the section's old entry alone is taken out.
void Recipe::choose(const std::string& section, const std::string& words) {
  const EntryChoice chosen = entry_of_words(section, words);
  Value& name = values_.find(section + ".name")->second;
  const auto before = options_of(section, name.text), now = options_of(section, chosen.name);
  name.text = chosen.name;
  const std::string prefix = section + ".";
  if (!now.empty()) {
    std::erase_if(values_, [&](const auto& value) {
      if (!value.first.starts_with(prefix) || value.second.fixed) return false;
      const std::string rest = value.first.substr(prefix.size());
      const std::string option = rest.substr(0, rest.find('.'));
      return before.contains(option) && !now.contains(option);
    });
  }
  for (const auto& [option, text] : chosen.settings.values()) {
    const auto [place, fresh] = values_.try_emplace(prefix + option, Value{text, false, name.line});
    if (!fresh) set_value(prefix + option, text);
  }
}

std::string Recipe::text_with_reference(const std::string& metric,
                                        const std::vector<double>& runs) const {
  std::string result;
  bool skips = false;
  std::istringstream lines(text_);
  for (std::string line; std::getline(lines, line);) {
    const bool begins = !line.empty() && line[0] != ' ';
    if (begins) skips = line.starts_with("reference:");
    if (!skips) result += line + "\n";
  }
  result += fmt::format("reference:\n  {}: [{}]\n", metric, fmt::join(runs, ", "));
  return result;
}

Settings Recipe::section(std::string_view section) const {
  const std::string prefix = std::string(section) + ".";
  Settings below;
  for (auto it = values_.lower_bound(prefix); it != values_.end() && it->first.starts_with(prefix);
       ++it) {
    below.set(it->first.substr(prefix.size()), it->second.text,
              fmt::format("{}:{}", printable(file_), it->second.line));
  }
  return below;
}

EntryChoice Recipe::choice(std::string_view section, std::string_view usual) const {
  Settings settings = this->section(section);
  std::string name = settings.take("name", usual);
  return {std::move(name), std::move(settings)};
}

TrainingOptions Recipe::training() const {
  return read_options<TrainingOptions>(section("training").owned_by("training"));
}

std::vector<std::string> Recipe::names_below(std::string_view section) const {
  const std::string prefix = std::string(section) + ".";
  std::set<std::string> names;
  for (auto it = values_.lower_bound(prefix); it != values_.end() && it->first.starts_with(prefix);
       ++it) {
    const std::string rest = it->first.substr(prefix.size());
    names.insert(rest.substr(0, rest.find('.')));
  }
  return {names.begin(), names.end()};
}

std::string Recipe::checksum() const {
  detail::Sha256 sum;
  for (const auto& [key, value] : values_) {
    const bool is_length = key == "training.epochs" || key == "training.most_batches";
    if (is_length || key == "training.test_every" || key.starts_with("metrics.")) continue;
    // Lengths keep neighbours apart.
    sum.add(fmt::format("{} {}\n{} {}\n", key.size(), key, value.text.size(), value.text));
  }
  return sum.digest();
}

CommandLine Recipe::command() const {
  CommandLine line("train");
  line.word(file_);
  for (const std::string& change : changes_) line.option("--set", change);
  return line;
}

Recipe load_recipe(const std::string& file_or_name) {
  std::error_code ignored;
  std::string path = file_or_name;
  const bool is_name = file_or_name.find_first_of("/.") == std::string::npos;
  if (is_name && !std::filesystem::exists(path, ignored)) {
    const auto known = carried_recipes();
    if (std::ranges::find(known, file_or_name) == known.end()) {
      throw_unknown_name("recipe", file_or_name, known);
    }
    path = carried_file("recipes/" + file_or_name + ".yaml");
  }
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  return Recipe::parse(read_file(path, kMostBytes), file_or_name);
}

std::vector<std::string> carried_recipes() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(carried_file("recipes"))) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace d5
