// SPDX-License-Identifier: Apache-2.0
// Small decoders in the forms of exporters, with ONNX Runtime's answers (kv_state_judge.py).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "tests/level2_training/python_script.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::test {

/// A decoder, and what ONNX Runtime says of it.
struct ExportedDecoder {
  static constexpr std::int64_t kVocabulary = 60;
  std::string name, file;
  std::vector<std::int64_t> tokens;
  std::vector<double> scores;        ///< tokens x vocabulary, in one run without a past
  std::vector<std::int64_t> greedy;  ///< greedy tokens after the first five
  [[nodiscard]] double score(std::size_t token, std::size_t entry) const {
    return scores[token * std::size_t(kVocabulary) + entry];
  }
};

/// The files of one run of the script; none where this machine cannot run it.
class ExportedDecoders {
 public:
  ExportedDecoders()
      : are_there_(run_script("../level1_network/transforms/kv_state_judge.py",
                              folder_.path().string())) {}

  /// Forms that the transform takes.
  [[nodiscard]] std::vector<ExportedDecoder> forms() const {
    std::vector<ExportedDecoder> result;
    for (const char* name : {"joined", "scores", "repeated", "grouped", "torch"}) {
      const std::string file = folder_ / name;
      if (!are_there_ || !std::filesystem::exists(file + ".tokens")) continue;
      result.push_back({.name = name,
                        .file = file + ".onnx",
                        .tokens = integers(file + ".tokens"),
                        .scores = read_doubles(file + ".scores"),
                        .greedy = integers(file + ".greedy")});
    }
    return result;
  }
  /// Files that it refuses, each with words of the reason.
  [[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> refused() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().extension() != ".refused") continue;
      std::ifstream lines(entry.path());
      std::vector<std::string> words;
      for (std::string line; std::getline(lines, line);) words.push_back(line);
      auto file = entry.path();
      result.emplace_back(file.replace_extension(".onnx").string(), words);
    }
    return result;
  }

 private:
  static std::vector<std::int64_t> integers(const std::string& file) {
    const auto numbers = read_doubles(file);
    return {numbers.begin(), numbers.end()};
  }

  testing::TemporaryFolder folder_;
  bool are_there_;
};

inline const ExportedDecoders& exported_decoders() {
  static const ExportedDecoders decoders;
  return decoders;
}

inline Network stateful(const std::string& file, const std::string& options) {
  Network network = Network::load(file);
  (void)apply_transforms(network, transform_chain({"kv-state:" + options}));
  return network;
}

}  // namespace d5::test
