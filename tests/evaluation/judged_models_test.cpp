// SPDX-License-Identifier: Apache-2.0
// Models of voices, files and orientations end to end, beside their own packages.
#include "tests/evaluation/judged_model.hpp"

namespace d5 {
namespace {

using testing::check_missed;
using testing::json;
using testing::JudgedModel;
using testing::measured_value;
using testing::Replacement;

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

}  // namespace
}  // namespace d5
