// SPDX-License-Identifier: Apache-2.0
#include "serving/jobs/foreign_evaluation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "evaluation/run/generator_model.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

/// Data sets go by name. `whose` names it: "toy@1.0.0".
void expect_name(const std::string& dataset, const std::string& whose, const std::string& who) {
  if (!is_manifest_path(dataset)) return;
  throw FormatError(
      fmt::format("{}: the data set of {}, {}, is a place of this machine, expected NAME@VERSION",
                  who, whose, printable(dataset)));
}

/// The command that makes a file is only shown to people; its address is read.
void expect_no_place(const ModelManifest& model, const std::string& who) {
  for (const AccuracyClaim& claim : model.accuracy) {
    expect_name(claim.dataset, model.reference(), who);
  }
  for (const ManifestAsset& asset : model.assets) {
    for (const std::string& url : asset.urls) {
      if (url.starts_with("https://") || url.starts_with("http://")) continue;
      throw FormatError(fmt::format("{}: {} would be read from {}, a place of this machine", who,
                                    model.reference(), printable(url)));
    }
  }
}

template <class Manifest>
void expect_each_foreign(const json& all, const char* name, const std::string& who) {
  if (!all.contains(name)) return;
  for (const json& content : all.at(name)) {
    (void)parse_manifest<Manifest>(content.dump(), who, ManifestOrigin::fetched);
  }
}

}  // namespace

void expect_foreign(const std::string& canonical, const std::string& who) {
  if (!is_fixed_evaluation(canonical)) {
    throw FormatError(fmt::format("{} is not an evaluation with all that it names", who));
  }
  try {
    json all = json::parse(canonical);
    all.at("evaluation")["models"] = {"told-below"};
    (void)parse_manifest<EvaluationManifest>(all.at("evaluation").dump(), who,
                                             ManifestOrigin::fetched);
    for (const json& content : all.at("models")) {
      expect_no_place(read_model(content.dump(), who).manifest, who);
    }
    for (const json& told : all.at("datasets")) {
      expect_name(told.value("reference", ""), "the evaluation", who);
    }
    expect_each_foreign<FrameworkManifest>(all, "frameworks", who);
    expect_each_foreign<SystemManifest>(all, "systems", who);
  } catch (const json::exception& error) {
    throw FormatError(fmt::format("{}: {}", who, printable_message(error.what())));
  }
}

}  // namespace d5::detail
