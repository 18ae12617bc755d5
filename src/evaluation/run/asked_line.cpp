// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/asked_line.hpp"

#include "d5/core/machine/threads.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {
namespace detail {

EvaluationManifest asked_of(const EvaluationManifest& manifest, std::size_t model,
                            const std::string& framework) {
  EvaluationManifest asked = manifest;
  asked.models = {manifest.models[model]};
  asked.frameworks = {framework};
  if (asked.threads == 0) asked.threads = threads();
  return asked;
}

CommandLine asked_line(const std::string& command, const EvaluationManifest& asked) {
  EvaluationManifest usual;
  usual.frameworks.clear();  // always given, like the batch size
  usual.batches.clear();
  CommandLine line(command);
  for (const std::string& model : asked.models) line.word(model);
  return line.options(asked, usual);
}

void add_serving(const EvaluationManifest& manifest, WorkPiece& piece) {
  if (manifest.instances > 1) {
    piece.record.conditions["instances"] = identity(manifest.instances);
  }
  if (manifest.longest_wait > 0) {
    piece.record.conditions["longest wait"] = identity(manifest.longest_wait, "s");
  }
}

}  // namespace detail

std::string evaluation_line(const EvaluationManifest& manifest) {
  EvaluationManifest asked = manifest;
  if (asked.threads == 0) asked.threads = threads();
  return detail::asked_line("eval run", asked).text();
}

}  // namespace d5
