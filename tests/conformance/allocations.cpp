// SPDX-License-Identifier: Apache-2.0
// Runs the nodes of ONNX's backend tests, and the built-in networks, on one framework, and fails
// where a kernel or an executor allocates memory in a run that is not its first.
//
//   allocations FRAMEWORK [--only TEXT]
//
// allocations/FRAMEWORK.txt names the operators that may, each with the reason: it may only get
// shorter. Exit status: 0 nothing else allocates, 1 something does, or a row stands there without
// need, 2 bad usage, 4 skipped.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "conformance/availability.hpp"
#include "conformance/node_allocations.hpp"
#include "d5/core/errors/error.hpp"
#include "isolated.hpp"

namespace {

namespace fs = std::filesystem;
using d5::conformance::Allocations;

constexpr int kMostSeconds = 120;  // time limit for a case
constexpr const char* kModels[] = {"lenet", "alexnet", "resnet-18", "resnet-50"};
constexpr char kBetween = '\t';

/// Folders of cases that are not whole networks; those come from `kModels`.
std::vector<std::string> find_cases(const std::string& folder, const std::string& only) {
  std::vector<std::string> result;
  for (const auto& kind : fs::directory_iterator(folder)) {
    if (!kind.is_directory() || kind.path().filename() == "light") continue;
    for (const auto& entry : fs::directory_iterator(kind)) {
      const auto name = fs::relative(entry.path(), folder).string();
      if (fs::exists(entry.path() / "model.onnx") && name.find(only) != std::string::npos) {
        result.push_back(name);
      }
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Lines "operator reason"; those beginning with # are comments.
std::map<std::string, std::string> read_exceptions(const std::string& path) {
  std::map<std::string, std::string> result;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto space = line.find(' ');
    if (line.starts_with('#') || space == std::string::npos) continue;
    result[line.substr(0, space)] = line.substr(space + 1);
  }
  return result;
}

/// One line: the number of runs watched, then operator, pass and place of each allocation, a tab
/// behind each.
std::string to_line(const Allocations& all) {
  std::string line = fmt::format("{}{}", all.watched, kBetween);
  for (const auto& [op_type, pass, where] : all.found) {
    line += fmt::format("{1}{0}{2}{0}{3}{0}", kBetween, op_type, pass, where);
  }
  return line;
}

Allocations from_line(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t begin = 0, end; (end = line.find(kBetween, begin)) != std::string::npos;
       begin = end + 1) {
    words.push_back(line.substr(begin, end - begin));
  }
  Allocations all{.watched = std::stoi(words.at(0))};
  for (std::size_t i = 1; i + 2 < words.size(); i += 3) {
    all.found.push_back({words[i], words[i + 1], words[i + 2]});
  }
  return all;
}

/// The result of `look`. `conformance` handles a case that throws; a network must not throw.
std::string answer(const std::string& name, bool is_case,
                   const std::function<Allocations()>& look) {
  try {
    return to_line(look());
  } catch (const std::exception& error) {
    Allocations none;
    if (!is_case) none.found.push_back({name, "(nobody can tell)", error.what()});
    return to_line(none);
  }
}

int check(const std::string& framework, const std::string& only, const std::string& cases_folder) {
  const char* source = std::getenv("D5_SOURCE_DIR");
  const auto exceptions = read_exceptions(
      fmt::format("{}/tests/conformance/allocations/{}.txt", source ? source : ".", framework));
  std::vector<std::string> names = find_cases(cases_folder, only);
  const std::size_t cases = names.size();
  for (const char* model : kModels) {
    if (std::string(model).find(only) != std::string::npos) names.push_back(model);
  }
  const auto answers = d5::run_isolated(
      names.size(),
      [&](std::size_t i) {
        return answer(names[i], i < cases, [&] {
          return i < cases
                     ? d5::conformance::node_allocations(cases_folder + "/" + names[i], framework)
                     : d5::conformance::network_allocations(names[i], framework);
        });
      },
      [](const std::string& reason) {
        return to_line({.found = {{"a kernel", "(nobody can tell)", reason}}});
      },
      kMostSeconds);

  std::set<std::string> excused;
  int bad = 0, watched = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Allocations all = from_line(answers[i]);
    watched += all.watched;
    for (const auto& [op_type, pass, where] : all.found) {
      if (exceptions.contains(op_type)) {
        excused.insert(op_type);
        continue;
      }
      ++bad;
      fmt::print("{}: {} allocates {}: {}\n", names[i], op_type, pass, where);
    }
  }
  for (const auto& [op_type, reason] : exceptions) {
    if (!only.empty() || excused.contains(op_type)) continue;
    ++bad;
    fmt::print("{} no longer allocates; take it out of the table\n", op_type);
  }
  fmt::print("{} runs of {} cases watched; {} allocate; {} operators are excused\n", watched,
             names.size(), bad, excused.size());
  return bad > 0 || watched == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool has_only = argc == 4 && std::string(argv[2]) == "--only";
  if (argc != 2 && !has_only) {
    fmt::print(stderr, "usage: allocations FRAMEWORK [--only TEXT]\n");
    return 2;
  }
  const std::string framework = argv[1];
  const char* cases = std::getenv("D5_ONNX_CASES");
  const std::string absent = cases ? d5::conformance::why_absent(framework)
                                   : "D5_ONNX_CASES is not set; scripts/onnx_cases writes them";
  if (!absent.empty()) {
    fmt::print("skipped: {}\n", absent);
    return 4;
  }
  try {
    return check(framework, has_only ? argv[3] : "", cases);
  } catch (const std::exception& error) {
    fmt::print(stderr, "allocations: {}\n", error.what());
    return 2;
  }
}
