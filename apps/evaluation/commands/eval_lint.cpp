// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/evaluation/evaluation_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalLintExamples =
    R"(  d5 eval lint model.yaml evaluation.yaml      each fault as FILE:LINE:COLUMN, with the nearest word
  d5 eval lint --fetched model.yaml            as if it came over a network: no code, no paths
  d5 eval lint --schema model > model.schema.json
                                               the JSON Schema, for editors)";

struct EvalLintOptions : app::OutputOptions {
  std::vector<std::string> files;
  std::string schema;
  bool fetched = false, allow_code = false;
};

/// Returns one fault for a YAML file that cannot be parsed.
std::vector<std::string> faults_of(const std::string& file, ManifestOrigin origin) {
  std::vector<std::string> faults;
  try {
    const std::string text = detail::read_manifest_file(file);
    for (const auto& fault : lint_manifest(text, file, origin)) {
      faults.push_back(to_string(fault, file));
    }
    if (faults.empty() && origin == ManifestOrigin::own) {
      for (const auto& fault : missing_files(text, file)) faults.push_back(to_string(fault, file));
    }
  } catch (const FormatError& error) {
    faults.emplace_back(error.what());
  }
  return faults;
}

int run_eval_lint(const EvalLintOptions& options) {
  if (!options.schema.empty()) {
    if (!options.files.empty()) throw ValueError("--schema KIND takes no files");
    fmt::print("{}", manifest_schema(options.schema));
    return app::kPassed;
  }
  if (options.files.empty()) throw ValueError("no manifest is named");
  const auto origin = options.fetched ? ManifestOrigin::fetched : ManifestOrigin::own;
  bool right = true;
  for (const std::string& file : options.files) {
    const auto faults = faults_of(file, origin);
    for (const auto& fault : faults) fmt::print("{}\n", fault);
    if (faults.empty() && !options.quiet) fmt::print("{}: right\n", printable(file));
    right = right && faults.empty();
  }
  return right ? app::kPassed : app::kFailed;
}

}  // namespace

void register_eval_lint(app::Program& program) {
  auto options = std::make_shared<EvalLintOptions>();
  auto& command = program.add("eval lint", "check manifests and report faults by line",
                              kEvalLintExamples, [options] { return run_eval_lint(*options); });
  command.add_option("FILE", options->files, "manifests of any kind");
  command.add_option("--schema", options->schema, "print the JSON Schema of a kind, and stop")
      ->option_text("KIND");
  command.add_flag("--fetched", options->fetched,
                   "judge the manifests as if they came over a network");
  app::add_code_option(command, options->allow_code);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
