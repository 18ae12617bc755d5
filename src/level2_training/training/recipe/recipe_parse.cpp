// SPDX-License-Identifier: Apache-2.0
// Parses the text of a recipe to its values.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/parsing/yaml_tree.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "level2_training/training/recipe/recipe_options.hpp"

namespace d5 {
namespace {

using detail::YamlNode;

/// Throws: NotFound if `name` is not among `known`.
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

/// Writes a list of values as one text: "0.485,0.456,0.406".
std::string joined_values(const std::string& file, const YamlNode& list) {
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
      node.entries, [](const auto& entry) { return entry.node.kind == YamlNode::Kind::scalar; });
}

/// Adds the scalars below `node` under dotted keys, with indices for a list: "steps.1.size". A list
/// of scalars is one text.
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
        name,
        Recipe::Value{is_values ? joined_values(file, child) : child.text, fixed, child.line});
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
    expect_known(file, node.line, "section", name, detail::recipe_sections());
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
             fmt::format("'metrics.{}' is not a map, expected the metric's settings: {{...}}",
                         printable(key)));
      }
      // A metric without settings is recorded as a value, so that it is known.
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
         fmt::format("reference: '{}' is not a list of two or more numbers", printable(metric)));
  }
  return runs;
}

}  // namespace

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
        fail(file, node.line, fmt::format("'{}' is not a text", key));
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
         fmt::format("ranges: '{}' is not a value of the mutable part", printable(range.key)));
  }
  (void)recipe.training();
  return recipe;
}

}  // namespace d5
