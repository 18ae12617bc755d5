// SPDX-License-Identifier: Apache-2.0
// Recognizers of text end to end, beside their own packages.
#include "tests/evaluation/judged_model.hpp"

namespace d5 {
namespace {

using testing::check_missed;
using testing::json;
using testing::JudgedModel;
using testing::measured_value;
using testing::Replacement;

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

TEST_CASE("an alphabet beside the network makes the text that the package reads") {
  JudgedModel model("pp-ocrv5-rec", "lines.tar.gz");
  if (!model.is_here()) return;
  model.claim("character_accuracy", 0.997207);
  model.claim("exact_text", 23.0 / 24);
  const Measurement right = model.accuracy();
  CHECK(measured_value(right) == Approx(0.997207).margin(1e-6));
  CHECK(right.status == Status::passed);
  REQUIRE(model.records().size() > 1);
  CHECK(measured_value(model.records()[1]) == Approx(23.0 / 24).margin(1e-6));
  for (std::int64_t sample = 0; sample < 24; ++sample) {
    const json& answer = model.answers()[std::size_t(sample)];
    CHECK(answer["text"][0] == model.told(sample, "judged_v5").item<std::string>());
    // A pixel may differ by one of 255 from OpenCV's.
    CHECK(answer["score"][0].get<double>() ==
          Approx(model.told(sample, "score_v5").item<float>()).margin(0.02));
  }
  const Replacement slip =
      GENERATE(Replacement{", lists_blank: true", ", lists_blank: true, blank: 1"},
               Replacement{", ratio: kept", ""});
  INFO(slip.to);
  check_missed(model.accuracy({slip}));
}

TEST_CASE("captchas are read as their package reads them, right or wrong") {
  const auto [name, said, characters, exact] =
      GENERATE(table<std::string, std::string, double, double>(
          {{"ddddocr", "new", 0.825, 0.6}, {"ddddocr-old", "old", 0.825, 0.7}}));
  JudgedModel model(name, "captchas.tar.gz", "onnxruntime:session");
  if (!model.is_here()) return;
  model.claim("character_accuracy", characters);
  model.claim("exact_text", exact);
  CHECK(measured_value(model.accuracy()) == Approx(characters).margin(1e-6));
  REQUIRE(model.records().size() > 1);
  CHECK(measured_value(model.records()[1]) == Approx(exact).margin(1e-6));
  REQUIRE(model.answers().size() == 10);
  for (std::int64_t sample = 0; sample < 10; ++sample) {
    CHECK(model.answers()[std::size_t(sample)]["text"][0] ==
          model.told(sample, said).item<std::string>());
  }
  const Replacement slip = GENERATE(Replacement{", lists_blank: true", ""},
                                    Replacement{"values: unit, mean: 0", "values: unit, mean: 2"});
  INFO(slip.to);
  check_missed(model.accuracy({slip}));
}

}  // namespace
}  // namespace d5
