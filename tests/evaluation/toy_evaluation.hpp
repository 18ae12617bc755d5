// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "core/files/sha256.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/image/image.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "tests/cache_folder.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {

/// A model that distinguishes red, green and blue pictures, with twelve of them: its answers can be
/// found by hand. The network is the mean of each channel; class 0 is red.
class ToyEvaluation {
 public:
  static constexpr int kSamples = 12;

  ToyEvaluation() {
    if (const char* before = std::getenv("D5_DATA_DIR")) before_ = before;
    setenv("D5_DATA_DIR", folder_.path().c_str(), 1);
    std::filesystem::create_directory(folder_ / "colours");
    for (int i = 0; i < kSamples; ++i) {
      const std::string name = std::string("p") + char('a' + i) + ".png";
      const std::string png = picture(i % 3, 20 + i, 17 + i);
      write_file(folder_ / ("colours/" + name), png);
      samples_ += "- {file: " + name + ", label: " + std::to_string(i % 3) +
                  ", bytes: " + std::to_string(png.size()) + ", sha256: " + detail::sha256(png) +
                  "}\n";
    }
    save_network();
    write_file(folder_ / "colours.yaml",
               "kind: dataset\nname: colours\nversion: 1.0.0-dev\ntask: colours\nlicence: "
               "CC0-1.0\nfolder: colours\nlabels: [red, green, blue]\nsplits:\n- {name: half, "
               "count: 6}\nsamples:\n" +
                   samples_);
    write_model("");
  }
  ~ToyEvaluation() {
    if (before_) {
      setenv("D5_DATA_DIR", before_->c_str(), 1);
    } else {
      unsetenv("D5_DATA_DIR");
    }
  }

  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string model() const { return folder_ / "toy.yaml"; }
  /// The model's manifest with `from` replaced by `to`.
  void write_model(const std::string& from, const std::string& to = {}) const {
    const std::string onnx = read_file(folder_ / "toy.onnx");
    std::string text =
        "kind: model\nname: toy\nversion: 1.0.0-dev\ntask: colours\nlicence: CC0-1.0\nassets:\n"
        "- {name: toy.onnx, bytes: " +
        std::to_string(onnx.size()) + ", sha256: " + detail::sha256(onnx) + ", urls: 'file://" +
        (folder_ / "toy.onnx") +
        "'}\ninputs:\n- name: image\n  shape: [3, 16, 16]\n  steps:\n  - decode\n  - {name: "
        "resize, height: 16, width: 16}\n  - {name: normalise, values: bytes, mean: 127, "
        "deviation: 128}\noutputs:\n- name: means\nanswer:\n- {name: top_k, k: 2}\naccuracy:\n"
        "- {dataset: '" +
        (folder_ / "colours.yaml") + "', measure: top1, value: 1, source: by construction}\n";
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    write_file(model(), text);
  }

 private:
  static std::string picture(int colour, std::int64_t height, std::int64_t width) {
    Tensor image = Tensor::empty(DType::uint8, {height, width, 3});
    auto* pixel = image.data<std::uint8_t>();
    for (std::int64_t i = 0; i < height * width; ++i, pixel += 3) {
      for (int c = 0; c < 3; ++c) pixel[c] = std::uint8_t(c == colour ? 200 : 30 + 10 * c);
    }
    return encode_png(image);
  }
  void save_network() const {
    Network network("toy");
    network.add_input("image", DType::float32, {"N", 3, 16, 16});
    network.add_node("GlobalAveragePool", {"image"}, {"pooled"});
    network.add_node("Flatten", {"pooled"}, {"means"});
    network.add_output("means");
    network.save(folder_ / "toy.onnx");
  }

  OwnCacheFolder cache_;
  TemporaryFolder folder_;
  std::optional<std::string> before_;
  std::string samples_;
};

}  // namespace d5::testing
