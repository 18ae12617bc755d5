// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/files/sha256.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "level2_training/training/recipe/recipe_options.hpp"

namespace d5 {
namespace {

constexpr const char* kCarriedRecipes = "recipes";

constexpr std::string_view kOfRanks = "distributed.";

/// Options with paths. By convention, a data set's own file or folder is named "data".
constexpr std::array<const char*, 4> kFiles{"model.file", "dataset.data", "dataset.test",
                                            "dataset.lists"};

}  // namespace

void TrainingOptions::declare(OptionList& options) {
  options.add("epochs", epochs, "number of passes over the training set", {.least = 0});
  options.add("most_batches", most_batches, "limit on batches for the whole run; 0: no limit",
              {.least = 0});
  options.add("seed", seed, "seed of all random numbers");
  options.add("test_batch_size", test_batch_size, "samples per batch of a test run", {.least = 1});
  options.add("test_every", test_every, "interval between test runs, in epochs", {.least = 1});
  options.add(
      "precision", precision,
      "computation type of the network, as far as operators support it; parameters stay float32",
      {"float32", "float16", "bfloat16"});
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

void Recipe::mark_text(std::string_view key) {
  const auto place = values_.find(key);
  if (place != values_.end()) place->second.is_text = true;
}

void Recipe::set_value(const std::string& key, const std::string& text) {
  auto place = values_.find(key);
  if (place == values_.end()) {
    expect_settable(key);
    place = values_.try_emplace(key).first;
  }
  if (place->second.fixed) {
    throw ValueError(
        fmt::format("recipe '{}': '{}' is fixed ({}), because results with another value are "
                    "not comparable; "
                    "copy the recipe under another name to change it",
                    printable(name_), key, place_of(place->second.line)));
  }
  constexpr std::string_view kName = ".name";
  const bool names_section = key.ends_with(kName) && std::ranges::count(key, '.') == 1;
  if (!names_section) {
    place->second = {.text = text};
    return;
  }
  choose(key.substr(0, key.size() - kName.size()), text);
}

/// Removes values that only the section's old entry has options for.
void Recipe::choose(const std::string& section, const std::string& words) {
  const EntryChoice chosen = entry_of_words(section, words);
  Value& name = values_.find(section + ".name")->second;
  const std::string before_name = name.text;
  const auto before = detail::entry_options(section, name.text),
             now = detail::entry_options(section, chosen.name);
  name.text = chosen.name;
  const std::string prefix = section + ".";
  if (section + "." == kOfRanks && before_name != chosen.name) {
    // Another scheme starts with its own options; those that belong to no scheme are kept.
    const std::set<std::string> kept = {"name", "scaling", "samples", "test_samples"};
    std::erase_if(values_, [&](const auto& value) {
      if (!value.first.starts_with(prefix) || value.second.fixed) return false;
      const std::string rest = value.first.substr(prefix.size());
      return !kept.contains(rest.substr(0, rest.find('.')));
    });
  } else if (!now.empty()) {
    std::erase_if(values_, [&](const auto& value) {
      if (!value.first.starts_with(prefix) || value.second.fixed) return false;
      const std::string rest = value.first.substr(prefix.size());
      const std::string option = rest.substr(0, rest.find('.'));
      return before.contains(option) && !now.contains(option);
    });
  }
  for (const auto& [option, text] : chosen.settings.values()) {
    // "all_reduce" and "all_reduce.name" mean the same.
    for (const std::string& other : {option + ".name", option.substr(0, option.rfind(".name"))}) {
      if (other != option) values_.erase(prefix + other);
    }
    const auto [place, fresh] = values_.try_emplace(prefix + option, Value{text, false, name.line});
    if (!fresh) set_value(prefix + option, text);
  }
}

std::vector<std::string> Recipe::settable() const {
  std::vector<std::string> known;
  for (const auto& [name, value] : values_) {
    if (!value.fixed) known.push_back(name);
  }
  for (const std::string& section : detail::recipe_sections()) {
    for (const auto& [option, type] : detail::section_options(section, entry_of(section))) {
      const std::string key = section + "." + option;
      if (!values_.contains(key)) known.push_back(key);
    }
  }
  return known;
}

/// Checks a key that the recipe does not contain: an option of its section, or below one. Users may
/// set the number of ranks, and add metrics.
void Recipe::expect_settable(const std::string& key) const {
  if (key.starts_with(kOfRanks)) return;
  const auto known = settable();
  const bool is_option = std::ranges::any_of(known, [&](const std::string& option) {
    return key == option || key.starts_with(option + ".");
  });
  if (!is_option) {
    throw_unknown_name(fmt::format("recipe '{}': value that may be set", printable(name_)), key,
                       known, owners_of(key));
  }
  const std::string section = key.substr(0, key.find('.') + 1);
  const Value* first_fixed = nullptr;
  for (const auto& [name, value] : values_) {
    if (!name.starts_with(section) || section == "metrics.") continue;
    if (!value.fixed) return;
    if (!first_fixed) first_fixed = &value;
  }
  if (!first_fixed) return;
  throw ValueError(fmt::format(
      "recipe '{}': '{}' stays at its default, for all of its section is fixed ({}), because "
      "results with another value are not comparable; copy the recipe under another name to change "
      "it",
      printable(name_), printable(key), place_of(first_fixed->line)));
}

std::vector<Recipe::File> Recipe::files() const {
  namespace fs = std::filesystem;
  std::vector<File> result;
  for (const char* key : kFiles) {
    const auto place = values_.find(key);
    if (place == values_.end() || place->second.text.empty()) continue;
    File& file = result.emplace_back(File{.key = key, .path = place->second.text});
    const fs::path here = file.path, beside = fs::path(file_).parent_path() / here;
    const auto take = [&](const fs::path& path, File::Place where) {
      std::error_code unreadable;
      if (file.place != File::Place::nowhere || !fs::exists(path, unreadable)) return;
      file.path = path;
      file.place = where;
    };
    if (place->second.line == 0) take(here, File::Place::current_folder);
    take(beside, File::Place::beside_recipe);
    take(here, File::Place::current_folder);
  }
  return result;
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
    const bool is_given = it->second.line == 0;  // given by `set`, in no line of the file
    below.set(it->first.substr(prefix.size()), Settings::Value(it->second.text, it->second.is_text),
              is_given ? printable(it->first) : place_of(it->second.line));
  }
  for (const File& file : files()) {
    if (file.place == File::Place::nowhere || !file.key.starts_with(prefix)) continue;
    const std::string key = file.key.substr(prefix.size());
    below.set(key, file.path, below.place_of(key));
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

std::map<std::string, std::string> Recipe::identity() const {
  std::map<std::string, std::string> result;
  for (const auto& [key, value] : values_) {
    const bool is_length = key == "training.epochs" || key == "training.most_batches";
    if (is_length || key == "training.test_every" || key.starts_with("metrics.")) continue;
    result[key] = value.text;
  }
  return result;
}

std::string Recipe::checksum() const {
  detail::Sha256 sum;
  for (const auto& [key, text] : identity()) {
    // Lengths separate neighbours.
    sum.add(fmt::format("{} {}\n{} {}\n", key.size(), key, text.size(), text));
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
  const std::string path = file_or_carried("recipe", kCarriedRecipes, file_or_name);
  if (path.ends_with(".onnx")) {
    throw ValueError(fmt::format(
        "'{0}' is a network, and training takes a recipe, a YAML file that also names data, an "
        "optimizer and an end; in it stands  model: {{file: {0}, loss: cross_entropy, inputs: "
        "{{x: image}}}}  (docs/reference/level2.md, \"Networks from ONNX files\")",
        printable(path)));
  }
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  return Recipe::parse(read_file(path, kMostBytes), file_or_name);
}

std::vector<std::string> carried_recipes() { return carried_names(kCarriedRecipes); }

}  // namespace d5
