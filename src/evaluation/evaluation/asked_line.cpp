// SPDX-License-Identifier: Apache-2.0
#include "evaluation/evaluation/asked_line.hpp"

#include "d5/core/results.hpp"

namespace d5::detail {

CommandLine asked_line(const std::string& command, const EvaluationManifest& manifest,
                       std::size_t model, const std::string& framework) {
  CommandLine line(command);
  line.word(manifest.models[model]).option("--framework", framework);
  if (!manifest.dataset.empty()) line.option("--dataset", manifest.dataset);
  if (!manifest.split.empty()) line.option("--split", manifest.split);
  return line;
}

void add_serving(const EvaluationManifest& manifest, WorkPiece& piece, CommandLine& line) {
  if (manifest.instances > 1) {
    piece.record.conditions["instances"] = identity(manifest.instances);
    line.option("--instances", manifest.instances);
  }
  if (manifest.longest_wait > 0) {
    piece.record.conditions["longest wait"] = identity(manifest.longest_wait, "s");
    line.option("--longest-wait", manifest.longest_wait);
  }
}

}  // namespace d5::detail
