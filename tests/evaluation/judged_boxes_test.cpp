// SPDX-License-Identifier: Apache-2.0
// Detectors of text, faces and objects end to end, beside their own packages.
#include "tests/evaluation/judged_model.hpp"

namespace d5 {
namespace {

using testing::check_boxes;
using testing::check_missed;
using testing::json;
using testing::JudgedModel;
using testing::measured_value;
using testing::Replacement;

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
    CHECK(upright.elements() == model.told(sample, "judged").elements());
    // A value near the threshold moves a side by a pixel, and so the growth.
    check_boxes(model.answers()[std::size_t(sample)], upright, 1);
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

TEST_CASE("faces are found where their package finds them") {
  JudgedModel model("centerface", "faces.tar.gz");
  if (!model.is_here()) return;
  // NumPy's average precision of the package's boxes: 9 of 11 faces, the smallest two are missed.
  model.claim("average_precision", 9.0 / 11);
  const Measurement right = model.accuracy({}, GENERATE(1, 4));
  CHECK(measured_value(right) == Approx(9.0 / 11).margin(1e-6));
  CHECK(right.status == Status::passed);
  REQUIRE(model.answers().size() == 4);
  for (std::int64_t sample = 0; sample < 4; ++sample) {
    check_boxes(model.answers()[std::size_t(sample)], model.told(sample, "judged"), 0.5);
  }
}

TEST_CASE("slips in a face detector's manifest cost precision") {
  JudgedModel model("centerface", "faces.tar.gz");
  if (!model.is_here()) return;
  model.claim("average_precision", 9.0 / 11);
  const Replacement slip =
      GENERATE(Replacement{"- heatmap_boxes", "- {name: heatmap_boxes, stride: 8}"},
               Replacement{"values: bytes", "values: unit"},
               Replacement{"threshold: 0.5, overlap: 0.3", "threshold: 0.9, overlap: 0.3"});
  INFO(slip.to);
  check_missed(model.accuracy({slip}));
}

TEST_CASE("objects of a YOLO network are found where its package finds them") {
  JudgedModel model("ddddocr-det", "targets.tar.gz");
  if (!model.is_here()) return;
  model.claim("average_precision", 0.716);
  const Measurement right = model.accuracy();
  CHECK(measured_value(right) == Approx(0.716).margin(1e-6));
  CHECK(right.status == Status::passed);
  REQUIRE(model.answers().size() == 5);
  for (std::int64_t sample = 0; sample < 5; ++sample) {
    check_boxes(model.answers()[std::size_t(sample)], model.told(sample, "judged"), 0.1);
  }
  const Replacement slip =
      GENERATE(Replacement{"objectness: true, grid: 416", "objectness: true"},
               Replacement{"mean: 0, deviation: 1", "mean: 0, deviation: 255"},
               Replacement{"threshold: 0.1, overlap: 0.45", "threshold: 0.8, overlap: 0.45"});
  INFO(slip.to);
  check_missed(model.accuracy({slip}));
}

}  // namespace
}  // namespace d5
