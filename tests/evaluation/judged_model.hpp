// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/database/evaluation_sink.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/level2_training/data/container.hpp"
#include "tests/cache_folder.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {

using nlohmann::json;

/// The answers of an accuracy run.
struct Answers final : EvaluationSink {
  std::vector<json> all;
  void evaluation(const EvaluationRun&) override {}
  void measurements(const std::string&, const std::string&, std::span<const Measurement>) override {
  }
  void queries(const std::string&, const std::string&, std::span<const QueryRecord>) override {}
  void trace(const std::string&, const std::string&, const Timeline&) override {}
  void answers(const std::string&, const std::string&,
               std::span<const SampleAnswer> answers) override {
    for (const SampleAnswer& one : answers) {
      all.push_back(json::parse(one.answer, nullptr, /*allow_exceptions=*/false));
    }
  }
};

struct Replacement {
  std::string from, to;
};

/// A model of the catalogue, judged on samples of judged/ by measures. The samples are made up, so
/// that their right answers are known; what the model's own package answers stands beside them
/// (judged/make.py; `scripts/models NAME`).
class JudgedModel {
 public:
  JudgedModel(std::string model, const std::string& samples, std::string framework = "torch")
      : model_(std::move(model)),
        framework_(std::move(framework)),
        network_(D5_MODELS "/" + model_ + "/" + model_ + ".onnx"),
        file_(std::filesystem::path(__FILE__).parent_path() / "judged" / samples) {}

  /// Whether it can be run here.
  [[nodiscard]] bool is_here() const {
    std::string reason;
    if (!std::filesystem::exists(network_)) reason = "scripts/models " + model_ + " fetches it";
    try {
      (void)framework(framework_.substr(0, framework_.find(':')));
    } catch (const Error& error) {
      reason = error.what();
    }
    if (!reason.empty()) WARN("skipped: " << reason);
    return reason.empty();
  }

  /// Claims an accuracy with a tolerance of a thousandth, more than rounding changes.
  void claim(const std::string& measure, double value) {
    claims_ += "- {dataset: '" + folder_ / "samples.yaml" + "', measure: " + measure +
               ", value: " + std::to_string(value) + ", tolerance: 0.001, source: its package}\n";
  }

  /// The record of the first claim, of the manifest with slips.
  Measurement accuracy(const std::vector<Replacement>& slips = {}, std::int64_t batch = 1) {
    std::string text = read_file(manifest_file("model", model_));
    text = std::regex_replace(text, std::regex("\nversion: .+"), "\nversion: 9.9.9-dev");
    // Each file of the model, from the folder of scripts/models.
    text = std::regex_replace(
        text, std::regex("(- name: (\\S+)\n  bytes: .+\n  sha256: .+\n  )made_by: .+"),
        "$1urls: 'file://" + std::filesystem::path(network_).parent_path().string() + "/$2'");
    for (const auto& [from, to] : slips) {
      INFO(from);
      REQUIRE(text.find(from) != std::string::npos);
      text.replace(text.find(from), from.size(), to);
    }
    write_file(folder_ / "model.yaml", text + "accuracy:\n" + claims_);
    write_file(folder_ / "samples.yaml",
               "kind: dataset\nname: samples\nversion: 1.0.0-dev\ntask: test\nlicence: CC0-1.0\n"
               "reader: {name: container, train: '" +
                   file_ + "', test: '" + file_ + "'}\n");
    EvaluationManifest manifest;
    manifest.name = "judged";
    manifest.version = "1.0.0-dev";
    manifest.models = {folder_ / "model.yaml"};
    manifest.frameworks = {framework_};
    manifest.batches = {batch};
    answers_ = {};
    records_ = evaluate(manifest, {.sink = &answers_}).measurements;
    REQUIRE(!records_.empty());
    INFO(records_.front().reason);
    CHECK(records_.front().level == "evaluation");
    return records_.front();
  }
  /// The last run's record of each claim, and those that follow them.
  [[nodiscard]] const std::vector<Measurement>& records() const { return records_; }

  [[nodiscard]] const std::vector<json>& answers() const { return answers_.all; }
  /// A field of a sample, as the file has it.
  [[nodiscard]] Tensor told(std::int64_t sample, const std::string& field) const {
    const auto samples = open_container("tar", file_);
    std::vector<Tensor> batch = empty_batch(*samples, 1);
    samples->read({&sample, 1}, {}, batch);
    for (std::size_t f = 0; f < batch.size(); ++f) {
      if (samples->fields()[f].name == field) return batch[f];
    }
    FAIL("no field " << field);
    return {};
  }

 private:
  testing::OwnCacheFolder cache_;
  testing::TemporaryFolder folder_;
  std::string model_, framework_, network_, file_, claims_;
  Answers answers_;
  std::vector<Measurement> records_;
};

inline double measured_value(const Measurement& record) {
  INFO(record.reason);
  REQUIRE(!record.samples.empty());
  return estimate(record).value;
}

/// A slip misses the claim, or its samples have no answer that can be judged.
inline void check_missed(const Measurement& record) {
  INFO(record.reason);
  CHECK(record.status == Status::failed);
}

/// Checks that each box of the package lies within `apart` pixels of one of the answer's, and that
/// there are as many.
inline void check_boxes(const json& answer, const Tensor& judged, double apart) {
  const auto found = answer["boxes"].get<std::vector<float>>();
  REQUIRE(std::int64_t(found.size()) == judged.elements());
  for (std::int64_t box = 0; box < judged.elements() / 4; ++box) {
    const float* want = judged.data<float>() + 4 * box;
    double nearest = 1e9;
    for (std::size_t b = 0; b < found.size(); b += 4) {
      double most = 0;
      for (std::size_t c = 0; c < 4; ++c) {
        most = std::max(most, std::abs(double(found[b + c]) - double(want[c])));
      }
      nearest = std::min(nearest, most);
    }
    CHECK(nearest <= apart);
  }
}

}  // namespace d5::testing
