// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/evaluation/manifest/framework_manifest.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "evaluation/manifest/manifest_paths.hpp"
#include "evaluation/manifest/manifest_reader.hpp"

namespace d5 {
namespace {

/// Collects what is missing, each at the key that names it.
class Missing {
 public:
  explicit Missing(const detail::YamlNode& root) : root_(root) {}

  void look(const char* key, const std::function<void()>& find) {
    try {
      find();
    } catch (const NotFound& error) {
      const detail::YamlNode* node = root_.find(key);
      const detail::YamlNode& at = node ? *node : root_;
      faults_.push_back({at.line, at.column, error.what()});
    }
  }
  [[nodiscard]] std::vector<ManifestFault> take() { return std::move(faults_); }

 private:
  const detail::YamlNode& root_;
  std::vector<ManifestFault> faults_;
};

void look(const DatasetManifest& manifest, Missing& missing) {
  if (!manifest.samples.empty()) {
    missing.look("folder", [&] { (void)open_samples(manifest); });  // reads no sample
  } else {
    missing.look("reader", [&] { (void)detail::located_reader(manifest); });
  }
}

void look(const ModelManifest& manifest, Missing& missing) {
  for (const AccuracyClaim& claim : manifest.accuracy) {
    missing.look("accuracy", [&] { (void)detail::claimed_dataset(manifest, claim); });
  }
}

void look(const FrameworkManifest& manifest, Missing& missing) {
  if (manifest.plugin.empty()) return;
  missing.look("plugin", [&] {
    (void)detail::located(manifest.plugin, manifest.beside, manifest.reference() + ": plugin");
  });
}

void look(const EvaluationManifest& manifest, Missing& missing) {
  const auto look_in = [&](const char* key, auto EvaluationManifest::* field) {
    EvaluationManifest one;
    one.name = manifest.name;
    one.version = manifest.version;
    one.beside = manifest.beside;
    one.*field = manifest.*field;
    missing.look(key, [&] { (void)detail::located(one); });
  };
  look_in("models", &EvaluationManifest::models);
  look_in("systems", &EvaluationManifest::systems);
  look_in("frameworks", &EvaluationManifest::frameworks);
  look_in("dataset", &EvaluationManifest::dataset);
}

template <class Manifest>
std::vector<ManifestFault> missing_of(const std::string& text, const std::string& file) {
  const detail::YamlNode root = detail::parse_yaml(text, file, detail::kManifestLimits);
  Missing missing(root);
  look(parse_manifest<Manifest>(text, file), missing);
  return missing.take();
}

}  // namespace

std::vector<ManifestFault> missing_files(const std::string& text, const std::string& file) {
  if (!lint_manifest(text, file).empty()) return {};
  const std::string kind = manifest_kind_of(text, file);
  if (kind == DatasetManifest::kKind) return missing_of<DatasetManifest>(text, file);
  if (kind == ModelManifest::kKind) return missing_of<ModelManifest>(text, file);
  if (kind == FrameworkManifest::kKind) return missing_of<FrameworkManifest>(text, file);
  if (kind == EvaluationManifest::kKind) return missing_of<EvaluationManifest>(text, file);
  return {};
}

}  // namespace d5
