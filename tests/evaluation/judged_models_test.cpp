// SPDX-License-Identifier: Apache-2.0
// Models of voices, files and text end to end, on made-up samples whose answers are known, beside
// what the models' own packages answer (judged/make.py; `scripts/models NAME`).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
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

namespace d5 {
namespace {

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

/// A model of the catalogue, judged on samples of judged/ by measures.
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
    const auto replace = [&](const std::string& from, const std::string& to) {
      INFO(from);
      REQUIRE(text.find(from) != std::string::npos);
      text.replace(text.find(from), from.size(), to);
    };
    replace("version: 1.1.0", "version: 1.1.1-dev");
    replace("made_by: scripts/models " + model_, "urls: 'file://" + network_ + "'");
    for (const Replacement& slip : slips) replace(slip.from, slip.to);
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

double measured_value(const Measurement& record) {
  INFO(record.reason);
  REQUIRE(!record.samples.empty());
  return estimate(record).value;
}

/// A slip misses the claim, or its samples have no answer that can be judged.
void check_missed(const Measurement& record) {
  INFO(record.reason);
  CHECK(record.status == Status::failed);
}

TEST_CASE("a voice detector hears what its package hears") {
  const std::string name = GENERATE("silero-vad", "silero-vad-16k", "silero-vad-ifless");
  // The networks hold an If, which torch's operators do not include.
  JudgedModel model(name, "voices.tar.gz", "onnxruntime:session");
  if (!model.is_here()) return;
  model.claim("frame_f1", 0.908642);
  const Measurement right = model.accuracy({}, GENERATE(1, 4));
  CHECK(measured_value(right) == Approx(0.908642).margin(1e-6));
  CHECK(right.status == Status::passed);
  REQUIRE(model.answers().size() == 6);
  if (name == "silero-vad") {
    for (std::int64_t sample = 0; sample < 6; ++sample) {
      const Tensor judged = model.told(sample, "judged");
      const json& heard = model.answers()[std::size_t(sample)]["output"];
      REQUIRE(std::int64_t(heard.size()) == judged.elements());
      for (std::size_t frame = 0; frame < heard.size(); ++frame) {
        // Single precision through a recurrent network of some hundred frames.
        CHECK(heard[frame].get<double>() == Approx(judged.data<float>()[frame]).margin(2e-3));
      }
    }
  }
}

TEST_CASE("slips in a voice detector's manifest show") {
  JudgedModel model("silero-vad", "voices.tar.gz", "onnxruntime:session");
  if (!model.is_here()) return;
  model.claim("frame_f1", 0.908642);
  const Replacement slip = GENERATE(Replacement{"rate: 16000}", "rate: 16000, scale: 0.01}"},
                                    Replacement{"- {name: threshold, of: output}",
                                                "- {name: threshold, of: output, threshold: 0.9}"});
  INFO(slip.to);
  check_missed(model.accuracy({slip}));
  // The network itself refuses windows of the other rate, in ONNX Runtime alone, too.
  const Replacement told{"constant: 16000", "constant: 8000"};
  CHECK_THROWS_WITH(model.accuracy({told}), Catch::Contains("running If node"));
  const Replacement rate{"rate: 16000}", "rate: 8000}"};
  const Measurement slower = model.accuracy({rate});
  check_missed(slower);
  CHECK_THAT(slower.reason, Catch::Contains("6 samples have no answer that can be judged") &&
                                Catch::Contains("do their hops agree?"));
}

TEST_CASE("the kinds of files are those that magika's package finds, all of them") {
  JudgedModel model("magika", "files.tar.gz", "onnxruntime:session");
  if (!model.is_here()) return;
  model.claim("top1", 1);
  // Scores of files that are nearly all padding change by 0.0065 when ONNX Runtime, as the package
  // calls it, sums a larger batch in another order: here a batch is one file, as in the package.
  const Measurement right = model.accuracy();
  CHECK(measured_value(right) == 1);
  CHECK(right.samples.size() == 75);
  CHECK(right.status == Status::passed);
  for (std::int64_t sample = 0; sample < 75; ++sample) {
    const json& answer = model.answers()[std::size_t(sample)];
    CHECK(answer["scores"][0].get<double>() ==
          Approx(model.told(sample, "score").data<float>()[0]).margin(1e-4));
  }
}

TEST_CASE("torch finds the kinds of files in batches, and a slip shows") {
  JudgedModel model("magika", "files.tar.gz");
  if (!model.is_here()) return;
  model.claim("top1", 1);
  CHECK(measured_value(model.accuracy({}, 8)) == 1);
  const Replacement slip = GENERATE(
      Replacement{"steps: [byte_ends]", "steps: [{name: byte_ends, padding: 0}]"},
      Replacement{"steps: [byte_ends]", "steps: [{name: byte_ends, begin: 2048, end: 0}]"});
  check_missed(model.accuracy({slip}));
}

TEST_CASE("a recognizer reads what its package reads") {
  JudgedModel model("pp-ocrv4-rec", "lines.tar.gz");
  if (!model.is_here()) return;
  model.claim("character_accuracy", 0.986034);
  model.claim("exact_text", 19.0 / 24);
  const Measurement right = model.accuracy();
  CHECK(measured_value(right) == Approx(0.986034).margin(1e-6));
  CHECK(right.status == Status::passed);
  REQUIRE(model.records().size() > 1);
  CHECK(model.records()[1].metric == "exact_text");
  CHECK(measured_value(model.records()[1]) == Approx(19.0 / 24).margin(1e-6));
  for (std::int64_t sample = 0; sample < 24; ++sample) {
    const json& answer = model.answers()[std::size_t(sample)];
    CHECK(answer["text"][0] == model.told(sample, "judged").item<std::string>());
    // A pixel may differ by one of 255 from OpenCV's.
    CHECK(answer["score"][0].get<double>() ==
          Approx(model.told(sample, "score").item<float>()).margin(0.02));
  }
  // A slip that reads better, in ONNX Runtime on what OpenCV makes of the lines, too.
  const Replacement slip{"mean: 0.5, deviation: 0.5", "mean: -2, deviation: 0.5"};
  CHECK(measured_value(model.accuracy({slip})) == Approx(0.991620).margin(1e-6));
}

TEST_CASE("slips in a recognizer's manifest cost characters") {
  JudgedModel model("pp-ocrv4-rec", "lines.tar.gz");
  if (!model.is_here()) return;
  model.claim("character_accuracy", 0.986034);
  const Replacement slip =
      GENERATE(Replacement{"alphabet: 'network:character', space: true",
                           "alphabet: 'network:character', space: true, blank: 1"},
               Replacement{"alphabet: 'network:character', space: true",
                           "alphabet: 'network:character', space: true, blank: -1"},
               Replacement{"mean: 0.5, deviation: 0.5", "mean: -20, deviation: 0.5"},
               Replacement{", ratio: kept", ""});
  INFO(slip.to);
  check_missed(model.accuracy({slip}));
}

TEST_CASE("a text's orientation is what its package finds") {
  JudgedModel model("ppocr-cls-v2", "turned.tar.gz");
  if (!model.is_here()) return;
  model.claim("top1", 1);
  const Measurement right = model.accuracy({}, 4);
  CHECK(measured_value(right) == 1);
  CHECK(right.status == Status::passed);
  for (std::int64_t sample = 0; sample < 24; ++sample) {
    const json& answer = model.answers()[std::size_t(sample)];
    CHECK(answer["scores"][0].get<double>() ==
          Approx(model.told(sample, "score").item<float>()).margin(0.02));
  }
  check_missed(model.accuracy({{"mean: 0.5, deviation: 0.5", "mean: -2, deviation: 0.5"}}));
}

TEST_CASE("text is found where its package finds it") {
  JudgedModel model("pp-ocrv4-det", "pages.tar.gz");
  if (!model.is_here()) return;
  // NumPy's average precision of the package's boxes is 0.9296: one box overlaps too little.
  model.claim("average_precision", 0.9296);
  const Measurement right = model.accuracy();
  CHECK(measured_value(right) == Approx(0.9296).margin(1e-3));
  CHECK(right.status == Status::passed);
  for (std::int64_t sample = 0; sample < 4; ++sample) {
    // The package turns its rectangles: these are OpenCV's upright ones of the package's map.
    const Tensor upright = model.told(sample, "upright");
    const auto found = model.answers()[std::size_t(sample)]["boxes"].get<std::vector<float>>();
    REQUIRE(std::int64_t(found.size()) == upright.elements());
    CHECK(upright.elements() == model.told(sample, "judged").elements());
    for (std::int64_t box = 0; box < upright.elements() / 4; ++box) {
      const float* want = upright.data<float>() + 4 * box;
      double nearest = 1e9;
      for (std::size_t b = 0; b < found.size(); b += 4) {
        double apart = 0;
        for (std::size_t c = 0; c < 4; ++c) {
          apart = std::max(apart, std::abs(double(found[b + c]) - double(want[c])));
        }
        nearest = std::min(nearest, apart);
      }
      CHECK(nearest <= 1);  // pixels: a value near the threshold moves a side, and so the growth
    }
  }
  // A slip that finds every line, in the package, too.
  const Replacement slip{"mean: 0.5, deviation: 0.5", "mean: -2, deviation: 0.5"};
  CHECK(measured_value(model.accuracy({slip})) == Approx(1).margin(1e-3));
}

TEST_CASE("slips in a text detector's manifest cost precision") {
  JudgedModel model("pp-ocrv4-det", "pages.tar.gz");
  if (!model.is_here()) return;
  model.claim("average_precision", 0.9296);
  const Replacement slip =
      GENERATE(Replacement{"- map_boxes", "- {name: map_boxes, growth: 0}"},
               Replacement{"mean: 0.5, deviation: 0.5", "mean: -20, deviation: 0.5"});
  INFO(slip.to);
  check_missed(model.accuracy({slip}));
}

}  // namespace
}  // namespace d5
