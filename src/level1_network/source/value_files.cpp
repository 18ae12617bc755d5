// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/value_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>

#include "d5/core/entries/option.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/tensor/npy.hpp"
#include "d5/core/tensor/npz.hpp"
#include "d5/onnx/file.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

bool is_archive(const std::string& path) { return path.ends_with(".npz"); }
bool is_npy(const std::string& path) { return path.ends_with(".npy"); }
bool is_known(const std::string& path) {
  return is_archive(path) || is_npy(path) || path.ends_with(".pb");
}

/// Splits NAME=PATH, in which both may contain '=': at the last '=' after which `is_path` holds, or
/// at the last one. A word without '=' is a path.
template <class IsPath>
ValueFile named_path(const std::string& word, const IsPath& is_path) {
  const auto last = word.rfind('=');
  if (last == word.npos) return {"", word};
  for (auto equals = last; equals != word.npos && equals > 0;
       equals = word.rfind('=', equals - 1)) {
    if (is_path(word.substr(equals + 1))) return {word.substr(0, equals), word.substr(equals + 1)};
  }
  return {word.substr(0, last), word.substr(last + 1)};
}

/// An existing file is a path, whatever its name.
ValueFile file_of_word(const std::string& word) {
  const auto is_there = [](const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
  };
  return is_there(word) ? ValueFile{"", word} : named_path(word, is_there);
}

/// A new file in an existing folder.
ValueFile new_file_of_word(const std::string& word) {
  return named_path(word, [](const std::string& path) {
    std::error_code ignored;
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() || fs::is_directory(folder, ignored);
  });
}

std::string word_of(const ValueFile& file) {
  return file.name.empty() ? file.path : file.name + "=" + file.path;
}

void expect_file(const ValueFile& file) {
  std::error_code ignored;
  if (!fs::is_directory(file.path, ignored)) return;
  throw IoError(
      fmt::format("{}: '{}' is a folder, expected a file of values: name those in it, as {}",
                  option_word("input"), printable(file.path),
                  option_word("input", fmt::format("NAME={}/input_0.pb", printable(file.path)))));
}

void expect_input_file(const ValueFile& file, const std::string& option) {
  expect_file(file);
  if (is_known(file.path) && (!is_archive(file.path) || file.name.empty())) return;
  throw ValueError(
      fmt::format("{} '{}': expected NAME=FILE.npy, NAME=FILE.pb, or FILE.npz, whose arrays "
                  "have the inputs' names",
                  option, printable(word_of(file))));
}

const onnx::ValueInfo& input_info(const Network& network, const std::string& name,
                                  const std::string& kind) {
  for (const auto& info : network.graph().inputs) {
    if (info.name == name) return info;
  }
  throw_unknown_name(kind, name, network.input_names());
}

/// Throws: ValueError if there are several.
std::string only_input(const Network& network, const std::string& path) {
  const auto names = network.input_names();
  if (names.size() == 1) return names.front();
  std::vector<std::string> known;
  for (const auto& name : names) known.push_back(printable(name));
  throw ValueError(fmt::format("{} '{}': for which input? the network has {} ({}); give NAME={}",
                               option_word("input"), printable(path), names.size(),
                               fmt::join(known, ", "), printable(path)));
}

std::string origin_of(const ValueFile& file) {
  return fmt::format(" of '{}'", printable(file.path));
}

}  // namespace

std::vector<ValueFile> input_files(const std::vector<std::string>& words,
                                   const std::string& option) {
  std::vector<ValueFile> files;
  std::set<std::string> names;
  for (const auto& word : words) {
    files.push_back(file_of_word(word));
    expect_input_file(files.back(), option);
    const std::string& name = files.back().name;
    if (!name.empty() && !names.insert(name).second) {
      throw ValueError(fmt::format("{} '{}': input '{}' is given already; give it once", option,
                                   printable(word), printable(name)));
    }
  }
  return files;
}

std::vector<ValueFile> value_files(const std::vector<std::string>& words,
                                   const std::string& option) {
  std::vector<ValueFile> files;
  for (const auto& word : words) {
    files.push_back(new_file_of_word(word));
    const bool known = word.ends_with(".npy") || word.ends_with(".pb");
    if (files.back().name.empty() || !known) {
      throw ValueError(
          fmt::format("{} '{}': expected NAME=FILE.npy or NAME=FILE.pb", option, printable(word)));
    }
  }
  return files;
}

std::string to_line(const GivenInputs& given) {
  CommandLine line;
  for (const auto& file : given.files) line.option("--input", word_of(file));
  return line.text();
}

std::vector<NamedValue> read_given(const Network& network, const GivenInputs& given) {
  std::vector<NamedValue> values;
  std::set<std::string, std::less<>> names;
  const auto add = [&](const std::string& name, Value value, const std::string& origin) {
    if (!names.insert(name).second) {
      throw ValueError(
          fmt::format("input '{}'{} is given already; give it once", printable(name), origin));
    }
    values.push_back({&input_info(network, name, "input" + origin), std::move(value), origin});
  };
  for (const auto& [name, value] : given.values) add(name, value, "");
  for (const auto& file : given.files) {
    expect_input_file(file, option_word("input"));
    const std::string origin = origin_of(file);
    if (is_archive(file.path)) {
      for (auto& [name, tensor] : read_npz(file.path)) add(name, Value(tensor), origin);
      continue;
    }
    const std::string name = file.name.empty() ? only_input(network, file.path) : file.name;
    const onnx::Type& type = input_info(network, name, "input").type;
    add(name, is_npy(file.path) ? Value(read_npy(file.path)) : onnx::load_value(file.path, type),
        origin);
  }
  return values;
}

}  // namespace d5
