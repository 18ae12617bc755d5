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
void expect_known(const Recipe& recipe, int line, const std::string& kind, const std::string& name,
                  const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) == known.end()) {
    throw_unknown_name(fmt::format("{}: {}", recipe.place_of(line), kind), name, known);
  }
}

[[noreturn]] void fail(const Recipe& recipe, int line, const std::string& what) {
  throw FormatError(fmt::format("{}: {}", recipe.place_of(line), what));
}

void expect_map(const Recipe& recipe, const std::string& name, const YamlNode& node) {
  if (!node.is_map()) {
    fail(recipe, node.line,
         fmt::format("'{}' is a {}, expected 'key: value' lines below it", printable(name),
                     node.is_list() ? "list" : "value"));
  }
}

/// Writes a list of values as one text: "0.485,0.456,0.406".
std::string joined_values(const Recipe& recipe, const YamlNode& list) {
  std::string text;
  for (const auto& [index, item] : list.entries) {
    if (item.text.find(',') != std::string::npos || item.text.empty()) {
      fail(recipe, item.line,
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

/// Whether values in memory have a text there, or one in their list.
bool is_text(const Recipe& recipe, const YamlNode& node) {
  const auto is_quoted = [](const auto& entry) { return entry.node.quoted; };
  return !recipe.places().empty() && (node.quoted || std::ranges::any_of(node.entries, is_quoted));
}

/// Throws: FormatError for what is no number.
double number_of(const Recipe& recipe, const std::string& key, const YamlNode& node) {
  if (is_text(recipe, node)) {
    fail(recipe, node.line,
         fmt::format("'{}' is the text '{}', expected a number", printable(key),
                     printable(node.text)));
  }
  return Settings(recipe.place_of(node.line), {{key, node.text}}).number(key, 0);
}

/// Adds the scalars below `node` under dotted keys, with indices for a list: "steps.1.size". A list
/// of scalars is one text.
void flatten(const Recipe& recipe, const std::string& prefix, const YamlNode& node, bool fixed,
             std::map<std::string, Recipe::Value, std::less<>>& into) {
  for (const auto& [key, child] : node.entries) {
    const std::string name = prefix + "." + key;
    const bool is_values = child.is_list() && holds_values_alone(child);
    if (child.kind != YamlNode::Kind::scalar && !is_values) {
      flatten(recipe, name, child, fixed, into);
      continue;
    }
    const Recipe::Value value{.text = is_values ? joined_values(recipe, child) : child.text,
                              .fixed = fixed,
                              .line = child.line,
                              .is_text = is_text(recipe, child)};
    const auto [place, fresh] = into.try_emplace(name, value);
    if (!fresh) {
      fail(recipe, child.line,
           fmt::format("'{}' is given twice, first in {}", printable(name),
                       recipe.place_of(place->second.line)));
    }
  }
}

void read_part(const Recipe& recipe, const YamlNode& part, bool fixed,
               std::map<std::string, Recipe::Value, std::less<>>& into) {
  for (const auto& [name, node] : part.entries) {
    expect_known(recipe, node.line, "section", name, detail::recipe_sections());
    expect_map(recipe, name, node);
    for (const auto& [key, child] : node.entries) {
      if (name == "training" && child.kind != YamlNode::Kind::scalar) {
        fail(recipe, child.line,
             fmt::format("'training.{}' is a {}, expected a value", printable(key),
                         child.is_map() ? "map" : "list"));
      }
      if (name != "metrics") continue;
      if (!child.is_map()) {
        fail(recipe, child.line,
             fmt::format("'metrics.{}' is not a map, expected the metric's settings: {{...}}",
                         printable(key)));
      }
      // A metric without settings is recorded as a value, so that it is known.
      into.try_emplace(name + "." + key, Recipe::Value{"", fixed, child.line});
    }
    flatten(recipe, name, node, fixed, into);
  }
}

Recipe::Acceptable read_acceptable(const Recipe& recipe, const std::string& metric,
                                   const YamlNode& node) {
  expect_map(recipe, metric, node);
  Recipe::Acceptable result{.metric = metric};
  bool bounded = false;
  for (const auto& [key, child] : node.entries) {
    expect_known(recipe, child.line, "key of " + metric, key, {"at_least", "at_most", "of"});
    if (key == "of") {
      result.of = statistic_from(child.text);
      if (!result.of) {
        fail(recipe, child.line,
             fmt::format("of: '{}', expected last, best, median, mean, maximum or a percentile "
                         "such as p99",
                         printable(child.text)));
      }
    } else {
      if (bounded) fail(recipe, child.line, "at_least and at_most are both given; write one");
      bounded = true;
      result.bound = key == "at_least" ? Recipe::Acceptable::Bound::at_least
                                       : Recipe::Acceptable::Bound::at_most;
      result.value = number_of(recipe, key, child);
    }
  }
  if (!bounded)
    fail(recipe, node.line, fmt::format("'{}' has no at_least or at_most", printable(metric)));
  return result;
}

Recipe::Range read_range(const Recipe& recipe, const std::string& key, const YamlNode& node) {
  expect_map(recipe, key, node);
  Recipe::Range range{.key = key};
  for (const auto& [word, child] : node.entries) {
    expect_known(recipe, child.line, "key of " + key, word, {"least", "most", "scale"});
    if (word == "scale") {
      if (child.text != "linear" && child.text != "logarithmic") {
        fail(recipe, child.line,
             fmt::format("scale: '{}', expected linear or logarithmic", printable(child.text)));
      }
      if (child.text == "logarithmic") range.scale = Recipe::Range::Scale::logarithmic;
      continue;
    }
    (word == "least" ? range.least : range.most) = number_of(recipe, word, child);
  }
  const bool positive = range.scale == Recipe::Range::Scale::linear || range.least > 0;
  if (!(range.least < range.most) || !positive) {
    fail(recipe, node.line,
         fmt::format("'{}' goes from {} to {}; expected least below most, and above 0 on a "
                     "logarithmic scale",
                     printable(key), range.least, range.most));
  }
  return range;
}

std::vector<double> read_reference(const Recipe& recipe, const std::string& metric,
                                   const YamlNode& node) {
  std::vector<double> runs;
  for (const auto& [index, item] : node.entries) {
    runs.push_back(number_of(recipe, metric, item));
  }
  if (!node.is_list() || runs.size() < 2) {
    fail(recipe, node.line,
         fmt::format("reference: '{}' is not a list of two or more numbers", printable(metric)));
  }
  return runs;
}

}  // namespace

Recipe Recipe::parse(const std::string& text, const std::string& file,
                     std::vector<std::string> places) {
  const YamlNode root = detail::parse_yaml(text, file);
  Recipe recipe;
  recipe.file_ = file;
  recipe.text_ = text;
  recipe.places_ = std::move(places);
  const int top = recipe.places_.empty() ? root.line : 0;
  expect_map(recipe, "recipe", root);
  for (const auto& [key, node] : root.entries) {
    expect_known(recipe, node.line, "key", key,
                 {"name", "summary", "fixed", "mutable", "acceptable", "ranges", "reference"});
    if (key == "name" || key == "summary") {
      if (node.kind != YamlNode::Kind::scalar) {
        fail(recipe, node.line, fmt::format("'{}' is not a text", key));
      }
      (key == "name" ? recipe.name_ : recipe.summary_) = node.text;
      continue;
    }
    expect_map(recipe, key, node);
    if (key == "ranges") {
      for (const auto& [value, range] : node.entries) {
        recipe.ranges_.push_back(read_range(recipe, value, range));
      }
    } else if (key == "reference") {
      for (const auto& [metric, runs] : node.entries) {
        recipe.reference_[metric] = read_reference(recipe, metric, runs);
      }
    } else if (key == "acceptable") {
      for (const auto& [metric, bound] : node.entries) {
        recipe.acceptable_.push_back(read_acceptable(recipe, metric, bound));
      }
    } else {
      read_part(recipe, node, key == "fixed", recipe.values_);
    }
  }
  if (recipe.name_.empty()) fail(recipe, top, "has no 'name'");
  const bool has_file = recipe.values_.contains("model.file");
  if (has_file && recipe.values_.contains("model.name")) {
    fail(recipe, recipe.values_.find("model.file")->second.line,
         "'model.file' and 'model.name' are both given; write one");
  }
  for (const char* needed : {"dataset.name", "model.name", "optimizer.name"}) {
    if (has_file && needed == std::string_view("model.name")) continue;
    if (!recipe.values_.contains(needed)) {
      fail(recipe, top, fmt::format("has no '{}' in its fixed or its mutable part", needed));
    }
  }
  for (const Range& range : recipe.ranges_) {
    const auto place = recipe.values_.find(range.key);
    if (place != recipe.values_.end() && !place->second.fixed) continue;
    fail(recipe, top,
         fmt::format("ranges: '{}' is not a value of the mutable part", printable(range.key)));
  }
  recipe.expect_own_options();
  recipe.expect_numbers();
  (void)recipe.training();
  return recipe;
}

}  // namespace d5
