// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/inference/inference_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <utility>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/run/model_assets.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/version.hpp"
#include "serving/inference/served_model.hpp"

namespace d5 {
namespace {

using Model = std::shared_ptr<detail::ServedModel>;

bool is_carried(const std::string& name) {
  const auto carried = carried_manifests(ModelManifest::kKind);
  return std::ranges::find(carried, name) != carried.end();
}

Model open_by_manifest(const std::string& word, const InferenceOptions& options) {
  const auto found = find_manifest<ModelManifest>(word);
  expect_framework(found.manifest, options.framework);
  const ModelAssets assets = find_assets(found);
  expect_agreement(found.manifest, open_model(assets.network));
  return std::make_shared<detail::ServedModel>(found.manifest.name, found.manifest.version, assets,
                                               options);
}

/// Opens a model that the server's operator named, who may name files.
Model open_word(const std::string& word, const InferenceOptions& options) {
  const bool is_manifest = is_carried(word.substr(0, word.find('@'))) || word.ends_with(".yaml") ||
                           word.ends_with(".yml") || word.ends_with(".json");
  if (is_manifest) return open_by_manifest(word, options);
  const std::string name = model_name(word);
  return std::make_shared<detail::ServedModel>(
      name, "1", ModelAssets{.model = name, .network = word}, options);
}

/// Any version does if none is asked. Throws: NotFound.
void expect_version(const std::string& name, const std::string& version,
                    const std::vector<std::string>& versions) {
  if (version.empty() || std::ranges::find(versions, version) != versions.end()) return;
  throw_unknown_name(fmt::format("version of model '{}'", printable(name)), version, versions);
}

}  // namespace

/// The models that are open, or are being opened by their first request.
class InferenceModels::Opened {
 public:
  explicit Opened(InferenceOptions options) : options_(std::move(options)) {}

  std::string add(const std::string& word) {
    Model model = open_word(word, options_);
    std::promise<Model> opened;
    opened.set_value(model);
    const std::lock_guard lock(mutex_);
    const auto [place, fresh] = models_.emplace(model->info().name, opened.get_future().share());
    if (!fresh) throw_duplicate_name("model", place->first);
    return place->first;
  }

  std::vector<std::string> names() {
    std::vector<std::string> names;
    if (options_.catalogue) names = carried_manifests(ModelManifest::kKind);
    const std::lock_guard lock(mutex_);
    for (const auto& [name, model] : models_) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
  }

  std::vector<InferenceModelState> states() {
    std::vector<InferenceModelState> states;
    for (const std::string& name : names()) {
      const Model model = opened(name);
      std::string why = model ? model->why_not_ready() : "it is opened when it is asked";
      states.push_back({.name = name,
                        .version = model ? model->info().versions[0] : "",
                        .is_ready = why.empty(),
                        .reason = std::move(why)});
    }
    return states;
  }

  Model at(const std::string& name, const std::string& version) {
    Model model = find_or_open(name);
    expect_version(name, version, model->info().versions);
    return model;
  }

  std::vector<InferenceModelStatistics> statistics() {
    std::vector<InferenceModelStatistics> all;
    for (const std::string& name : names()) {
      if (const Model model = opened(name)) all.push_back(model->statistics());
    }
    return all;
  }
  InferenceModelStatistics statistics(const std::string& name, const std::string& version) {
    if (const Model model = opened(name)) {
      expect_version(name, version, model->info().versions);
      return model->statistics();
    }
    if (!options_.catalogue || !is_carried(name)) throw_unknown_name("model", name, names());
    const std::string only = find_manifest<ModelManifest>(name).manifest.version;
    expect_version(name, version, {only});
    InferenceModelStatistics none;
    none.name = name;
    none.version = only;
    return none;
  }

 private:
  /// Null if it is not open yet.
  Model opened(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto place = models_.find(name);
    if (place == models_.end()) return nullptr;
    constexpr std::chrono::seconds kNow{0};
    if (place->second.wait_for(kNow) != std::future_status::ready) return nullptr;
    try {
      return place->second.get();
    } catch (...) {  // it could not be opened, and is taken out at once
      return nullptr;
    }
  }
  Model find_or_open(const std::string& name) {
    std::unique_lock lock(mutex_);
    if (const auto place = models_.find(name); place != models_.end()) {
      const std::shared_future<Model> model = place->second;
      lock.unlock();
      return model.get();
    }
    if (!options_.catalogue || !is_carried(name)) {
      lock.unlock();
      throw_unknown_name("model", name, names());
    }
    std::promise<Model> opened;
    models_.emplace(name, opened.get_future().share());
    lock.unlock();
    try {
      Model model = open_by_manifest(name, options_);
      opened.set_value(model);
      return model;
    } catch (...) {  // waiting requests get the reason; later ones try again
      opened.set_exception(std::current_exception());
      lock.lock();
      models_.erase(name);
      throw;
    }
  }

  InferenceOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_future<Model>> models_;
};

InferenceModels::InferenceModels(InferenceOptions options)
    : opened_(std::make_unique<Opened>(std::move(options))) {}
InferenceModels::~InferenceModels() = default;

std::string InferenceModels::add(const std::string& word) { return opened_->add(word); }
std::vector<std::string> InferenceModels::names() const { return opened_->names(); }

std::vector<InferenceModelState> InferenceModels::states() const { return opened_->states(); }

InferenceServerInfo InferenceModels::server() const {
  return {
      .name = "d5",
      .version = D5_VERSION,
      .extensions = {"binary_tensor_data", "classification", "model_configuration", "statistics"}};
}

InferenceModelInfo InferenceModels::model(const std::string& name, const std::string& version) {
  return opened_->at(name, version)->info();
}

InferenceModelConfig InferenceModels::config(const std::string& name, const std::string& version) {
  return opened_->at(name, version)->config();
}

std::vector<InferenceModelStatistics> InferenceModels::statistics() const {
  return opened_->statistics();
}

InferenceModelStatistics InferenceModels::statistics(const std::string& name,
                                                     const std::string& version) const {
  return opened_->statistics(name, version);
}

std::string InferenceModels::why_not_ready(const std::string& name, const std::string& version) {
  return opened_->at(name, version)->why_not_ready();
}

InferenceResponse InferenceModels::infer(const InferenceRequest& request) {
  return opened_->at(request.model, request.version)->infer(request);
}

}  // namespace d5
