// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/listed_kinds.hpp"
#include "apps/loadable_frameworks.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/bench/operator_matrix.hpp"

namespace d5::command {
namespace {

constexpr const char* kListExamples =
    R"(  d5 list                         all kinds, with the number of entries
  d5 list operators               ONNX's test cases that pass in each framework; ∇ marks a gradient;
                                  frameworks are not loaded
  d5 list operators Conv          opsets, and element types of forward and backward
  d5 list operators --framework all --format csv
                                  everything that each loadable framework supports
  d5 list optimizers --format json
  d5 list optimizers adam         options, as in a recipe or in Python
  d5 list optimizers torch/adam
  d5 list schedules cosine        a schedule of a hyper-parameter, for a recipe's optimizer
  d5 list recipes mnist-lenet-quick > my.yaml   a recipe to change, for 'd5 train my.yaml'
  d5 list samplers --load ./mine.so             with the samplers of your own library)";

struct ListOptions : app::OutputOptions {
  std::string kind, name;
  std::vector<std::string> frameworks, load;
};

/// Loads these frameworks alone. Throws: as loading one of them.
TextTable frameworks_named(const std::vector<std::string>& words) {
  if (std::ranges::count(words, "all") > 0) return app::table_of(app::loadable_frameworks());
  std::vector<Framework*> named;
  for (const auto& word : words) named.push_back(&framework(word));
  return app::table_of(named);
}

TextTable overview() {
  TextTable table({"kind", "number", "for example"});
  for (const auto& kind : app::listed_kinds()) {
    const TextTable entries = kind.list();
    table.add({kind.name, fmt::format("{}", entries.size()), entries.first_cells(4)});
  }
  return table;
}

void print_entry(const app::ListedKind& kind, const ListOptions& options) {
  if (kind.file) return app::print(kind.file(options.name), options.format);
  if (!kind.describe) {
    throw ValueError(fmt::format("list: {} have no options to show; 'd5 list {}' lists them",
                                 kind.name, kind.name));
  }
  const auto [summary, table] = kind.describe(options.name);
  const bool for_people = options.format == Format::table;
  if (for_people) app::print_wrapped(fmt::format("{}: {}", printable(options.name), summary));
  if (table.size() == 0 && for_people) {
    fmt::print("It has no options.\n");
  } else {
    if (for_people) fmt::print("\n");
    app::print(table, options.format);
  }
}

/// Prints a matrix for people; every detail for programs, and for one operator.
void print_operators(const ListOptions& options) {
  const auto rows = supported_operators(options.frameworks);
  if (std::ranges::count(options.frameworks, "all") > 0) app::say_what_cannot_be_loaded();
  const bool matrix = options.name.empty() && is_for_people(options.format);
  app::print(matrix ? operator_matrix(rows) : operator_rows(rows, options.name, options.format),
             options.format);
}

int run_list(const ListOptions& options) {
  app::load(options.load);
  if (options.kind == "operators") {
    print_operators(options);
    return app::kPassed;
  }
  if (options.kind == "frameworks" && options.name.empty() && !options.frameworks.empty()) {
    app::print(frameworks_named(options.frameworks), options.format);
    return app::kPassed;
  }
  if (!options.frameworks.empty()) {
    throw ValueError("--framework works with 'd5 list operators' and 'd5 list frameworks' alone");
  }
  if (options.kind.empty()) {
    app::print(overview(), options.format);
    return app::kPassed;
  }
  std::vector<std::string> known;
  for (const auto& kind : app::listed_kinds()) {
    known.push_back(kind.name);
    if (kind.name != options.kind) continue;
    if (options.name.empty()) {
      app::print(kind.list(), options.format);
      if (kind.name == "frameworks") app::say_what_is_left_out();
    } else {
      print_entry(kind, options);
    }
    return app::kPassed;
  }
  throw_unknown_name("kind", options.kind, known);
}

}  // namespace

void register_list(app::Program& program) {
  auto options = std::make_shared<ListOptions>();
  auto& command = program.add("list", "list operators, frameworks, networks and other entries",
                              kListExamples, [options] { return run_list(*options); });
  command.add_option("KIND", options->kind, "kind of entries to list; all kinds if left out");
  command.add_option("NAME", options->name,
                     "entry to show, with its options, their types and defaults; of a recipe, its "
                     "file");
  command
      .add_option("--framework", options->frameworks,
                  "frameworks to load and show, for operators and frameworks; all: every loadable "
                  "framework")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...")
      ->group("Common options");
  app::add_load_option(command, options->load);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
