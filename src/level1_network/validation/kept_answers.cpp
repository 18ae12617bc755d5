// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/kept_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/files/cache_folder.hpp"
#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/onnx/file.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kKind = "answers";
constexpr const char* kWords = "words";
constexpr const char* kFound = "found";
constexpr std::uintmax_t kMostBytes = std::uintmax_t{128} << 20,
                         kMostOfAll = std::uintmax_t{1} << 30;

fs::path file_of(const std::string& words) {
  return detail::measured_file(kKind, words).replace_extension(".onnx");
}

std::string own_name(std::size_t i) { return fmt::format("own {}", i); }
std::string exact_name(std::size_t i) { return fmt::format("exact {}", i); }

std::string words_for(const RoundedAnswers& answers) {
  Json json = {
      {"no_float64", answers.no_float64}, {"runs", answers.runs}, {"expected", Json::array()}};
  for (const auto& one : answers.expected) {
    json["expected"].push_back({{"tensor", one.tensor},
                                {"scale", one.scale},
                                {"range", one.range},
                                {"unmoved", one.unmoved},
                                {"distances", one.distances}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Throws: FormatError.
RoundedAnswers answers_from(const onnx::Model& model, const std::string& file) {
  const auto tensor = [&](const std::string& name) {
    const auto place = model.graph.initializers.find(name);
    return place == model.graph.initializers.end() ? Tensor() : place->second;
  };
  const detail::JsonReader json(model.metadata.at(kFound), file);
  RoundedAnswers answers{.no_float64 = json.text("no_float64"),
                         .runs = std::uint32_t(json.integer("runs"))};
  for (const auto& one : json.objects("expected")) {
    const std::size_t i = answers.expected.size();
    answers.expected.push_back({.tensor = one.text("tensor"),
                                .own = Value(tensor(own_name(i))),
                                .exact = tensor(exact_name(i)),
                                .scale = one.number("scale"),
                                .range = one.number("range"),
                                .distances = one.numbers("distances"),
                                .unmoved = one.text("unmoved")});
  }
  return answers;
}

/// The oldest first.
void make_room(const fs::path& folder) {
  std::vector<fs::directory_entry> files;
  std::error_code error;
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(fmt::format("{}-", kKind)) || entry.path().extension() != ".onnx") {
      continue;
    }
    files.push_back(entry);
    bytes += entry.file_size(error);
  }
  std::ranges::sort(files, {}, [&](const auto& file) { return file.last_write_time(error); });
  for (const auto& file : files) {
    if (bytes <= kMostOfAll) return;
    bytes -= std::min(bytes, file.file_size(error));
    fs::remove(file.path(), error);
  }
}

}  // namespace

std::optional<RoundedAnswers> kept_answers(const std::string& words) {
  const fs::path file = file_of(words);
  std::error_code ignored;
  if (file.empty() || !fs::is_regular_file(file, ignored)) return {};
  try {
    const onnx::Model model =
        onnx::load(file.string(), {.most_file_bytes = 2 * kMostBytes, .infer_shapes = false});
    const auto kept = model.metadata.find(kWords);
    if (kept == model.metadata.end() || kept->second != words) return {};
    if (!model.metadata.contains(kFound)) return {};
    return answers_from(model, file.string());
  } catch (const Error&) {  // it is computed again
    return {};
  }
}

void keep_answers(const std::string& words, const RoundedAnswers& answers) {
  const fs::path file = file_of(words);
  if (file.empty()) return;
  onnx::Model model;
  model.ir_version = onnx::kNewestIrVersion;
  model.opset_imports[""] = onnx::kNewestOpset;
  model.graph.name = "what a reference answered";
  model.metadata = {{kWords, words}, {kFound, words_for(answers)}};
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < answers.expected.size(); ++i) {
    const auto& one = answers.expected[i];
    if (!one.own.is_tensor()) return;
    bytes += one.own.tensor().bytes() + (one.exact.defined() ? one.exact.bytes() : 0);
    model.graph.initializers[own_name(i)] = one.own.tensor();
    if (one.exact.defined()) model.graph.initializers[exact_name(i)] = one.exact;
  }
  if (bytes > kMostBytes) return;
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  try {
    onnx::save(model, file.string());
  } catch (const Error&) {  // the next bench computes it again
    return;
  }
  make_room(file.parent_path());
}

}  // namespace d5
