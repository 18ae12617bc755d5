// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/evaluation_files.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/evaluation/evaluation_manifest.hpp"
#include "d5/evaluation/model_manifest.hpp"

namespace d5::detail {

std::string write_evaluation(const std::string& canonical, const std::string& folder) {
  using nlohmann::json;
  json all = json::parse(canonical, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object() || !all.contains("evaluation") || !all.contains("models") ||
      !all.contains("datasets")) {
    throw FormatError("a job holds no evaluation with all that it names");
  }
  try {
    json& evaluation = all["evaluation"];
    evaluation["models"] = json::array();
    int number = 0;
    for (const json& model : all.at("models")) {
      (void)parse_manifest<ModelManifest>(model.dump(), "a job's model", ManifestOrigin::fetched);
      const std::string file = fmt::format("{}/model{}.json", folder, number++);
      write_file(file, model.dump());
      evaluation["models"].push_back(file);
    }
    std::string file = folder + "/evaluation.json";
    write_file(file, evaluation.dump());
    return file;
  } catch (const json::exception& error) {
    throw FormatError(fmt::format("a job's evaluation: {}", printable_message(error.what())));
  }
}

}  // namespace d5::detail
