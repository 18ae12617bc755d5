// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/catalogue_models.hpp"

#include <algorithm>
#include <set>

#include "d5/core/entries/registry.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"

namespace d5 {
namespace {

std::string dashed(std::string task) {
  std::ranges::replace(task, ' ', '-');
  return task;
}

}  // namespace

std::vector<std::string> catalogue_models(const std::string& task) {
  std::vector<std::string> names = carried_manifests(ModelManifest::kKind);
  if (task.empty()) return names;
  std::set<std::string> tasks;
  std::erase_if(names, [&](const std::string& name) {
    const std::string of_model = dashed(find_manifest<ModelManifest>(name).manifest.task);
    tasks.insert(of_model);
    return of_model != dashed(task);
  });
  if (names.empty()) throw_unknown_name("task", task, {tasks.begin(), tasks.end()});
  return names;
}

}  // namespace d5
