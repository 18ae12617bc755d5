// SPDX-License-Identifier: Apache-2.0
// EfficientNet-Lite0 on real photographs, against what ONNX Runtime and Pillow get by the same
// steps
// (`scripts/models efficientnet-lite0`, D5_DATA_DIR).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

const std::string kNetwork = D5_MODELS "/efficientnet-lite0/efficientnet-lite0.onnx";

/// Why it cannot be run here; empty if it can.
std::string missing() {
  try {
    (void)framework("torch");
    (void)open_samples(find_manifest<DatasetManifest>("imagenet-sample").manifest);
  } catch (const Error& error) {
    return error.what();
  }
  if (std::filesystem::exists(kNetwork)) return {};
  return "scripts/models efficientnet-lite0 makes " + kNetwork;
}

struct Slip {
  std::string from, to;
  int right;  ///< right answers of 200, by ONNX Runtime 1.31.1 and Pillow 13.0.0
};

TEST_CASE("a slip in a real model's manifest costs what it costs elsewhere, and fails") {
  if (const auto reason = missing(); !reason.empty()) {
    WARN("skipped: " << reason);
    return;
  }
  const auto slip = GENERATE(values<Slip>(
      {{"", "", 179},
       {"  - decode", "  - decode\n  - colour_order", 163},
       {"  - {name: resize, size: 256}\n  - {name: centre_crop, size: 224}",
        "  - {name: resize, height: 224, width: 224}", 161},
       {"{name: normalise, values: bytes, mean: 127, deviation: 128}", "normalise", 150}}));
  const testing::TemporaryFolder folder;
  std::string text = read_file(manifest_file("model", "efficientnet-lite0"));
  text.replace(text.find("version: 1.1.0"), 14, "version: 1.1.1-dev");
  const std::string made_by = "made_by: scripts/models efficientnet-lite0";
  text.replace(text.find(made_by), made_by.size(), "urls: file://" + kNetwork);
  if (!slip.from.empty()) text.replace(text.find(slip.from), slip.from.size(), slip.to);
  write_file(folder / "slip.yaml", text);

  EvaluationManifest manifest;
  manifest.name = "slips";
  manifest.version = "1.0.0-dev";
  manifest.models = {folder / "slip.yaml"};
  manifest.frameworks = {"torch"};
  manifest.batches = {8};
  const Results results = evaluate(manifest);
  const auto top1 = std::ranges::find(results.measurements, "top1", &Measurement::metric);
  REQUIRE(top1 != results.measurements.end());
  INFO(top1->reason);
  // A photograph or two hang on a pixel's last bit.
  CHECK(std::abs(std::count(top1->samples.begin(), top1->samples.end(), 1.0) - slip.right) <= 2);
  CHECK(top1->status == (slip.from.empty() ? Status::passed : Status::failed));
}

}  // namespace
}  // namespace d5
