// SPDX-License-Identifier: Apache-2.0
// A toy voice detector end to end: audio files, frames, a state whose batch is second, a scalar.
// What is right follows from the signal by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/data/container.hpp"
#include "tests/cache_folder.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/wav_file.hpp"

namespace d5 {
namespace {

constexpr int kFrame = 4, kSamples = 5;

/// Level of a frame's samples, which alternate between it and its negative.
double level_of(int sample, int frame) { return (frame / (2 + sample)) % 2 == 1 ? 0.5 : 0.0625; }
int frames_of(int sample) { return 6 + 5 * sample; }

/// The detector: half of the last loudness and half of the mean level; active from 0.25 on.
std::vector<std::int64_t> active_frames(int sample) {
  std::vector<std::int64_t> active;
  double loudness = 0;
  for (int frame = 0; frame < frames_of(sample); ++frame) {
    loudness = loudness / 2 + level_of(sample, frame) / 2;
    active.push_back(loudness >= 0.25 ? 1 : 0);
  }
  return active;
}

class ToyDetector {
 public:
  ToyDetector() {
    save_network();
    save_samples();
    write_file(folder_ / "voices.yaml",
               "kind: dataset\nname: voices\nversion: 1.0.0-dev\ntask: voices\nlicence: CC0-1.0\n"
               "reader: {name: container, train: '" +
                   folder_ / "voices.tar" + "', test: '" + folder_ / "voices.tar" + "'}\n");
  }

  /// The model's manifest with `from` replaced by `to`.
  std::string write_model(const std::string& from = "", const std::string& to = "") const {
    const std::string onnx = read_file(folder_ / "toy.onnx");
    std::string text =
        "kind: model\nname: toy\nversion: 1.0.0-dev\ntask: voices\nlicence: CC0-1.0\nassets:\n"
        "- {name: toy.onnx, bytes: " +
        std::to_string(onnx.size()) + ", sha256: " + detail::sha256(onnx) + ", urls: 'file://" +
        (folder_ / "toy.onnx") +
        "'}\ninputs:\n- name: audio\n  field: audio\n  shape: [4]\n  steps:\n"
        "  - {name: decode_audio, rate: 16000}\n  - {name: frames, length: 4}\n"
        "- {name: state, shape: [1], batch_axis: 1}\n"
        "- {name: rate, type: int64, shape: [], batch_axis: -1, constant: 16000}\n"
        "outputs:\n- name: loudness\n- {name: next, batch_axis: 1}\n"
        "state: {next: state}\n"
        "answer:\n- {name: threshold, threshold: 0.25}\naccuracy:\n"
        "- {dataset: '" +
        (folder_ / "voices.yaml") + "', measure: frame_f1, value: 1, source: by construction}\n";
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    write_file(folder_ / "toy.yaml", text);
    return folder_ / "toy.yaml";
  }

 private:
  void save_network() const {
    Network network("toy");
    network.add_input("audio", DType::float32, {"N", kFrame});
    network.add_input("state", DType::float32, {1, "N"});
    network.add_input("rate", DType::int64, {});
    network.add_constant("usual", Tensor::scalar(32000.0F));
    network.add_constant("half", Tensor::scalar(0.5F));
    network.add_node("Abs", {"audio"}, {"levels"});
    network.add_constant("image", Tensor::vector(std::vector<std::int64_t>{0, 1, kFrame}));
    network.add_constant("row", Tensor::vector(std::vector<std::int64_t>{1, -1}));
    network.add_node("Reshape", {"levels", "image"}, {"levels_of_one"});
    network.add_node("GlobalAveragePool", {"levels_of_one"}, {"mean_of_one"});
    network.add_node("Reshape", {"mean_of_one", "row"}, {"mean"});
    network.add_node("Cast", {"rate"}, {"hertz"}, {{"to", std::int64_t{1}}});
    network.add_node("Div", {"hertz", "usual"}, {"share"});
    network.add_node("Mul", {"mean", "share"}, {"now"});
    network.add_node("Mul", {"state", "half"}, {"before"});
    network.add_node("Add", {"now", "before"}, {"next"});
    network.add_node("Transpose", {"next"}, {"loudness"},
                     {{"perm", std::vector<std::int64_t>{1, 0}}});
    network.add_output("loudness");
    network.add_output("next");
    network.save(folder_ / "toy.onnx");
  }
  void save_samples() const {
    const auto tar = containers().at("tar").make();
    const auto file =
        tar->create(folder_ / "voices.tar",
                    {{"audio", {DType::string, {}}}, {"active", {DType::int64, {kUnknownDim}}}});
    for (int sample = 0; sample < kSamples; ++sample) {
      std::vector<std::int16_t> signal;
      for (int i = 0; i < frames_of(sample) * kFrame; ++i) {
        const double level = level_of(sample, i / kFrame);
        signal.push_back(std::int16_t((i % 2 == 0 ? 1 : -1) * level * 32768));
      }
      const Tensor active = Tensor::vector(active_frames(sample));
      file->add("voice-" + std::to_string(sample),
                std::vector<Tensor>{
                    Tensor::vector(std::vector<std::string>{testing::wav_file(signal, 16000)}),
                    active.reshaped(Shape{1, active.elements()})});
    }
    file->finish();
  }

  testing::OwnCacheFolder cache_;
  testing::TemporaryFolder folder_;
};

Measurement judged(const std::string& model, std::int64_t batch) {
  EvaluationManifest manifest;
  manifest.name = "voices";
  manifest.version = "1.0.0-dev";
  manifest.models = {model};
  manifest.frameworks = {"reference"};
  manifest.batches = {batch};
  const Results results = evaluate(manifest);
  REQUIRE(!results.measurements.empty());
  return results.measurements.front();
}

/// Whether audio files can be read here.
bool hears() {
  const std::string reason = judged(ToyDetector().write_model(), 1).reason;
  if (reason.find("libsndfile") == std::string::npos) return true;
  WARN("skipped: " << reason);
  return false;
}

TEST_CASE("recordings of different lengths are heard frame by frame, alone and in batches") {
  if (!hears()) return;
  const ToyDetector toy;
  const Measurement record = judged(toy.write_model(), GENERATE(1, 2, 5));
  INFO(record.reason);
  CHECK(record.metric == "frame_f1");
  REQUIRE(record.samples.size() == 1);
  CHECK(record.samples.front() == 1);
  CHECK(record.status == Status::passed);
}

TEST_CASE("a slip in what a streaming network is fed shows in its accuracy") {
  if (!hears()) return;
  const ToyDetector toy;
  const auto [from, to] = GENERATE(
      table<std::string, std::string>({{"constant: 16000", "constant: 8000"},
                                       {"name: state, shape: [1], batch_axis: 1",
                                        "name: state, shape: [1], batch_axis: 1, constant: 3"}}));
  INFO(from << " -> " << to);
  const Measurement record = judged(toy.write_model(from, to), 1);
  CHECK(record.status == Status::failed);
}

TEST_CASE("frames that are not those of the data set are wrong, with what to look at") {
  if (!hears()) return;
  const ToyDetector toy;
  const auto [from, to] = GENERATE(table<std::string, std::string>(
      {{"length: 4}", "length: 4, before: 2}"}, {"rate: 16000}", "rate: 8000}"}}));
  const Measurement record = judged(toy.write_model(from, to), 1);
  CHECK(record.status == Status::failed);
  CHECK_THAT(record.reason, Catch::Contains("the data set 6; do their hops agree?"));
}

TEST_CASE("a manifest's state, constant and batch axis are held against the rest of it") {
  const ToyDetector toy;
  const auto [from, to, fault] = GENERATE(table<std::string, std::string, std::string>(
      {{"{next: state}", "{next: stat}", "'next: stat', expected an output and an input"},
       {"{next: state}", "{nxt: state}", "'nxt: state', expected an output and an input"},
       {"{next: state}", "{next: audio}", "input 'audio' has steps"},
       {"batch_axis: 1}\n- {name: rate", "batch_axis: 2}\n- {name: rate", "expected 0 to 1"},
       {"batch_axis: -1", "batch_axis: -2", "batch_axis"},
       {"constant: 16000", "constant: many", "'many' is not a number"},
       {"  - {name: frames, length: 4}\n", "  - {name: frames, length: 4}\n  constant: 1\n",
        "either 'constant' or 'steps'"}}));
  INFO(to);
  CHECK_THROWS_WITH(find_manifest<ModelManifest>(toy.write_model(from, to)),
                    Catch::Contains(fault));
}

}  // namespace
}  // namespace d5
