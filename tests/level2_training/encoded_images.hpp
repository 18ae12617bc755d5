// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/image/image.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"

namespace d5::testing {

/// Encoded images as a data set: "image", a string, and "label", their place.
inline std::shared_ptr<TensorDataset> encoded_dataset(const std::vector<std::string>& contents) {
  const auto count = std::int64_t(contents.size());
  Tensor labels = Tensor::empty(DType::int64, {count});
  for (std::int64_t i = 0; i < count; ++i) labels.data<std::int64_t>()[i] = i;
  return std::make_shared<TensorDataset>(
      "encoded",
      std::vector<std::pair<std::string, Tensor>>{
          {"image", Tensor::of<std::string>({count}, std::span(contents))}, {"label", labels}});
}

/// A smooth image that differs everywhere.
inline Tensor gradient(std::int64_t height, std::int64_t width) {
  Tensor image = Tensor::empty(DType::uint8, {height, width, 3});
  std::uint8_t* value = image.data<std::uint8_t>();
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      *value++ = std::uint8_t(255 * y / height);
      *value++ = std::uint8_t(255 * x / width);
      *value++ = std::uint8_t((3 * x + 5 * y) % 256);
    }
  }
  return image;
}

/// Files of $D5_DATA_DIR/imagenet-sample by name, every `step`th; none where it is not there.
inline std::map<std::string, std::string> photographs(std::size_t step = 1) {
  std::map<std::string, std::string> files;
  const char* shared = std::getenv("D5_DATA_DIR");
  const auto folder = std::filesystem::path(shared ? shared : "") / "imagenet-sample";
  if (!std::filesystem::is_directory(folder)) return files;
  std::map<std::string, std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".JPEG") {
      paths[entry.path().filename().string()] = entry.path();
    }
  }
  std::size_t place = 0;
  for (const auto& [name, path] : paths) {
    if (place++ % step == 0) files[name] = read_file(path.string());
  }
  return files;
}

/// The words behind each name in tests/core/images/imagenet_sample.txt.
inline std::map<std::string, std::vector<std::string>> pillow_checksums() {
  std::ifstream file(std::string(std::getenv("D5_SOURCE_DIR")) +
                     "/tests/core/images/imagenet_sample.txt");
  std::map<std::string, std::vector<std::string>> sums;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (std::string word; words >> word;) sums[name].push_back(word);
  }
  return sums;
}

}  // namespace d5::testing
