// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/manifest_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <regex>
#include <set>

#include "core/entries/path_option.hpp"
#include "core/entries/unknown_name.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "evaluation/manifest/asset_text.hpp"
#include "evaluation/manifest/manifest_paths.hpp"

namespace d5::detail {
namespace {

std::string kind_words(const YamlNode& node) {
  return node.is_map() ? "a map" : node.is_list() ? "a list" : "'" + printable(node.text) + "'";
}

/// Settings below `node` under dotted names; a list of values becomes one text with commas.
void flatten_settings(const YamlNode& node, const std::string& prefix, Settings& settings,
                      const std::function<void(const YamlNode&, const std::string&)>& fault) {
  for (const auto& [key, child] : node.entries) {
    const std::string name = prefix + key;
    if (child.is_map()) {
      flatten_settings(child, name + ".", settings, fault);
      continue;
    }
    std::string text = child.text;
    for (const auto& [index, item] : child.entries) {
      const bool plain = item.kind == YamlNode::Kind::scalar && !item.text.empty() &&
                         item.text.find(',') == std::string::npos;
      if (!plain)
        fault(item, fmt::format("'{}' has {} in its list, expected values without commas",
                                printable(name), kind_words(item)));
      text += (text.empty() ? "" : ",") + item.text;
    }
    settings.set(name, text);
  }
}

/// Compiled patterns of rules, of which there are few: compiling one takes longer than reading a
/// manifest.
const std::regex& compiled(const std::string& pattern) {
  static std::mutex mutex;
  static std::map<std::string, std::regex> known;
  const std::lock_guard lock(mutex);
  const auto there = known.find(pattern);
  return there != known.end() ? there->second
                              : known.emplace(pattern, std::regex(pattern)).first->second;
}

template <class Number>
bool parse_number(const std::string& text, Number& value) {
  Number parsed{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || rest != text.data() + text.size()) return false;
  value = parsed;
  return true;
}

/// The fault of a fetched manifest that names code or a place.
std::string local_words(const std::string& name) {
  return fmt::format(
      "'{}' names code or a place of this machine, which a fetched manifest must not do; use a "
      "copy of your own",
      printable(name));
}

/// The setting of an entry that names a place of this machine; null if none does. A file of the
/// model is none: it lies in the store of artefacts, by its digest.
const std::string* local_setting(const Settings& settings) {
  for (const auto& [name, text] : settings.values()) {
    const std::string asset = asset_named(text);
    if (!asset.empty() && asset.find('/') == std::string::npos) continue;
    const std::string last = name.substr(name.rfind('.') + 1);
    if (last == "file" || last == "folder" || text.find('/') != std::string::npos) return &name;
  }
  return nullptr;
}

bool asks_for_file(const EntryChoice& choice, const std::vector<Option>& options) {
  return std::ranges::any_of(options, [&](const Option& option) {
    return is_path(option) && !asset_named(choice.settings.text(option.name, "")).empty();
  });
}

/// The fault of a setting that is no option; empty, if all are. `who` begins it.
std::string unknown_setting(const std::string& who, const EntryChoice& choice,
                            const std::vector<Option>& options) {
  std::vector<std::string> known;
  for (const Option& option : options) known.push_back(option.name);
  for (const auto& [name, value] : choice.settings.values()) {
    if (std::ranges::find(known, name.substr(0, name.find('.'))) != known.end()) continue;
    return unknown_name(who + ": option", name, known);
  }
  return {};
}

}  // namespace

const YamlNode* ManifestReader::take(const std::string& name, const FieldRule& rule) {
  told_.insert(name);
  const YamlNode* node = map_.find(name);
  if (!node && rule.required) fault(map_, fmt::format("'{}' is missing", name));
  return node;
}

void ManifestReader::fault(const YamlNode& at, const std::string& what) {
  constexpr std::size_t kMostFaults = 100;
  if (faults_.size() < kMostFaults) faults_.push_back({at.line, at.column, what});
}

bool ManifestReader::is_scalar(const YamlNode& node, const std::string& name,
                               const std::string& expected) {
  if (node.kind == YamlNode::Kind::scalar) return true;
  fault(node, fmt::format("'{}' is {}, expected {}", name, kind_words(node), expected));
  return false;
}

void ManifestReader::read_text(const YamlNode& node, const std::string& name, const FieldRule& rule,
                               std::string& value) {
  if (!is_scalar(node, name, "a text")) return;
  if (source_.origin == ManifestOrigin::fetched && rule.is_local && rule.is_local(node.text)) {
    return fault(node, local_words(name));
  }
  if (!rule.words.empty() && std::ranges::find(rule.words, node.text) == rule.words.end()) {
    const auto nearest = nearest_names(node.text, rule.words);
    std::string known;
    for (const auto& word : rule.words) known += (known.empty() ? "" : ", ") + word;
    return fault(
        node,
        fmt::format("{}: '{}' is none of {}{}", name, printable(node.text), known,
                    nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest.front())));
  }
  if (rule.required && node.text.empty()) return fault(node, fmt::format("'{}' is empty", name));
  constexpr std::size_t kMostText = 4096;
  if (node.text.size() > kMostText) {
    return fault(node,
                 fmt::format("'{}' has {} bytes, {} at most", name, node.text.size(), kMostText));
  }
  if (!rule.pattern.empty() && !std::regex_match(node.text, compiled(rule.pattern))) {
    return fault(node,
                 fmt::format("{}: '{}', expected {}", name, printable(node.text), rule.expected));
  }
  if (rule.fault_of) {
    if (const auto what = rule.fault_of(node.text); !what.empty()) {
      return fault(node, fmt::format("{}: {}", name, what));
    }
  }
  value = node.text;
}

bool ManifestReader::read_integer(const YamlNode& node, const std::string& name,
                                  const FieldRule& rule, std::int64_t& value) {
  if (!is_scalar(node, name, "an integer")) return false;
  std::int64_t parsed = 0;
  if (node.quoted) {
    fault(node, fmt::format("{}: the text '{}' is not an integer", name, printable(node.text)));
  } else if (!parse_number(node.text, parsed)) {
    fault(node, fmt::format("{}: '{}' is not an integer", name, printable(node.text)));
  } else if (!rule.range.holds(double(parsed))) {
    fault(node, fmt::format("{}: {}, expected {}", name, parsed, to_string(rule.range)));
  } else {
    value = parsed;
    return true;
  }
  return false;
}

void ManifestReader::add(const std::string& name, std::string& value, const std::string&,
                         const FieldRule& rule) {
  if (const auto* node = take(name, rule)) read_text(*node, name, rule, value);
}

void ManifestReader::add(const std::string& name, std::optional<double>& value,
                         const std::string& help, const FieldRule& rule) {
  if (!map_.find(name)) return (void)take(name, rule);
  add(name, value.emplace(), help, rule);
}

void ManifestReader::add(const std::string& name, double& value, const std::string&,
                         const FieldRule& rule) {
  const auto* node = take(name, rule);
  if (!node || !is_scalar(*node, name, "a number")) return;
  double parsed = 0;
  if (node->quoted) {
    fault(*node, fmt::format("{}: the text '{}' is not a number", name, printable(node->text)));
  } else if (!parse_number(node->text, parsed) || !std::isfinite(parsed)) {
    fault(*node, fmt::format("{}: '{}' is not a number", name, printable(node->text)));
  } else if (!rule.range.holds(parsed)) {
    fault(*node, fmt::format("{}: {}, expected {}", name, parsed, to_string(rule.range)));
  } else {
    value = parsed;
  }
}

void ManifestReader::add(const std::string& name, std::int64_t& value, const std::string&,
                         const FieldRule& rule) {
  if (const auto* node = take(name, rule)) read_integer(*node, name, rule, value);
}

void ManifestReader::add(const std::string& name, bool& value, const std::string&,
                         const FieldRule& rule) {
  const auto* node = take(name, rule);
  if (!node || !is_scalar(*node, name, "true or false")) return;
  if (node->quoted || (node->text != "true" && node->text != "false")) {
    return fault(*node,
                 fmt::format("{}: '{}', expected true or false", name, printable(node->text)));
  }
  value = node->text == "true";
}

void ManifestReader::add(const std::string& name, std::vector<std::string>& values,
                         const std::string&, const FieldRule& rule) {
  const auto* node = take(name, rule);
  if (!node) return;
  if (node->is_map())
    return fault(*node, fmt::format("'{}' is a map, expected a list of texts", name));
  const bool is_filled = rule.required || !values.empty();  // as its default
  values.clear();
  if (!node->is_list()) return read_text(*node, name, rule, values.emplace_back());
  for (const auto& [index, item] : node->entries)
    read_text(item, name, rule, values.emplace_back());
  if (values.empty() && is_filled) fault(*node, fmt::format("'{}' is empty", name));
}

void ManifestReader::add(const std::string& name, std::vector<std::int64_t>& values,
                         const std::string&, const FieldRule& rule) {
  const auto* node = take(name, rule);
  if (!node) return;
  if (node->is_map())
    return fault(*node, fmt::format("'{}' is a map, expected a list of integers", name));
  const bool is_filled = rule.required || !values.empty();  // as its default
  values.clear();
  if (!node->is_list()) {
    read_integer(*node, name, rule, values.emplace_back());
    return;
  }
  for (const auto& [index, item] : node->entries) {
    read_integer(item, name, rule, values.emplace_back());
  }
  if (values.empty() && is_filled) fault(*node, fmt::format("'{}' is empty", name));
}

void ManifestReader::add(const std::string& name, std::map<std::string, std::string>& values,
                         const std::string&, const FieldRule& rule) {
  const auto* node = take(name, rule);
  if (!node) return;
  if (!node->is_map()) {
    return fault(*node,
                 fmt::format("'{}' is {}, expected a map of texts", name, kind_words(*node)));
  }
  values.clear();
  for (const auto& [key, item] : node->entries) {
    read_text(item, name + "." + printable(key), rule, values[key]);
  }
}

EntryChoice ManifestReader::entry_of(const YamlNode& node, const std::string& kind) {
  EntryChoice choice;
  if (node.kind == YamlNode::Kind::scalar) {
    choice.name = node.text;
  } else if (node.is_map()) {
    Settings settings;
    flatten_settings(node, "", settings,
                     [&](const YamlNode& at, const std::string& what) { fault(at, what); });
    choice.name = settings.take("name", "");
    choice.settings = std::move(settings);
  }
  if (choice.name.empty()) {
    fault(node, fmt::format("a {} is {}, expected its name, or a map with 'name' and its settings",
                            kind, node.is_map() ? "a map without 'name'" : kind_words(node)));
  }
  return choice;
}

/// The fault of an entry as it will be made: with its paths where they lead. One that reads a file
/// of the model is made when the model is there.
std::string ManifestReader::fault_of(const EntryChoice& choice, const EntryKind& kind) const {
  try {
    if (!kind.options_of) return kind.fault_of(choice);
    const std::vector<Option> options = kind.options_of(choice.name);
    const EntryChoice there = located(choice, options, source_.beside);
    return asks_for_file(there, options)
               ? unknown_setting(kind.kind + " " + choice.name, there, options)
               : kind.fault_of(there);
  } catch (const NotFound& error) {
    return error.what();
  }
}

void ManifestReader::add_entries(const std::string& name, std::vector<EntryChoice>& values,
                                 const std::string&, const FieldRule& rule, const EntryKind& kind) {
  const auto* node = take(name, rule);
  if (!node) return;
  values.clear();
  const auto read = [&](const YamlNode& item) {
    EntryChoice choice = entry_of(item, kind.kind);
    if (choice.name.empty()) return;
    if (const auto* local = local_setting(choice.settings);
        local &&
        source_.origin == ManifestOrigin::fetched) {  // before it is made, which may read the place
      return fault(item, local_words(*local));
    }
    std::string what = rule.fault_of ? rule.fault_of(choice.name) : "";
    if (what.empty()) what = fault_of(choice, kind);
    if (!what.empty()) fault(item, what);
    values.push_back(std::move(choice));
  };
  if (!node->is_list()) return read(*node);
  for (const auto& [index, item] : node->entries) read(item);
  if (rule.required && node->entries.empty()) fault(*node, fmt::format("'{}' is empty", name));
}

void ManifestReader::expect(const std::string& what) {
  if (!what.empty()) fault(map_, what);
}

void ManifestReader::add_parts(const std::string& name, const std::string&, const FieldRule& rule,
                               const PartList& parts) {
  const auto* node = take(name, rule);
  if (!node) return;
  if (!node->is_list()) {
    return fault(
        *node, fmt::format("'{}' is {}, expected a list ('- ...' lines)", name, kind_words(*node)));
  }
  std::set<std::string> names;
  for (const auto& [index, item] : node->entries) {
    const YamlNode* called = item.find("name");
    if (called && !called->text.empty() && !names.insert(called->text).second) {
      fault(*called, fmt::format("'{}' has '{}' twice", name, printable(called->text)));
    }
    if (!item.is_map()) {
      fault(item, fmt::format("'{}' has {} in its list, expected 'key: value' lines", name,
                              kind_words(item)));
      continue;
    }
    parts.append();
    ManifestReader reader(item, source_, faults_);
    parts.declare(parts.size() - 1, reader);
    reader.finish();
  }
  if (rule.required && node->entries.empty()) fault(*node, fmt::format("'{}' is empty", name));
}

void ManifestReader::finish() {
  for (const auto& [key, child] : map_.entries) {
    if (told_.contains(key)) continue;
    const std::vector<std::string> known(told_.begin(), told_.end());
    const auto nearest = nearest_names(key, known);
    std::string all;
    for (const auto& word : known) all += (all.empty() ? "" : ", ") + word;
    fault(child, fmt::format("no key '{}' here; {}", printable(key),
                             nearest.empty() ? "there are " + all
                                             : fmt::format("did you mean '{}'?", nearest.front())));
  }
}

}  // namespace d5::detail
