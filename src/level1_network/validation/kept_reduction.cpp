// SPDX-License-Identifier: Apache-2.0
// Resumes an interrupted reduction.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/files/sha256.hpp"
#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/validation/reduced_folder.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kKinds = {"none",   "answer", "gradient",
                                                    "slower", "thrown", "ended"};

void add_tensors(detail::Sha256& digest, const std::string& name, const Tensor& tensor) {
  const Tensor host = tensor.on_host();
  digest.add(name).add(onnx::serialize_value(Value(host), name));
}

void expect_same(const std::string& folder, const char* what, const std::string& kept,
                 const std::string& now) {
  if (kept == now) return;
  throw ValueError(fmt::format("folder '{}' holds the reduction of another {}{}: name another one",
                               printable(folder), what,
                               what == std::string_view("network")
                                   ? ", or other inputs"
                                   : fmt::format(", {}; now it is {}", printable(kept), now)));
}

}  // namespace

std::string digest_of(const Network& network, const ValueMap& inputs,
                      const ReductionOptions& options) {
  onnx::Model model = network.model();
  const auto initializers = std::move(model.graph.initializers);
  model.graph.initializers.clear();
  detail::Sha256 digest;
  digest.add(fmt::format("{} {}", int(options.passes), options.slower));
  digest.add(onnx::serialize(model));
  for (const auto& [name, tensor] : initializers) add_tensors(digest, name, tensor);
  for (const auto& [name, value] : inputs) {
    if (value.is_tensor()) add_tensors(digest, name, value.tensor());
  }
  return digest.digest();
}

std::string journal_of(const ReducedNetwork& reduced, const ReductionSubject& subject) {
  using Json = nlohmann::ordered_json;
  const Json json = {{"of", subject.of},
                     {"framework", subject.word},
                     {"version", subject.version},
                     {"against", subject.against},
                     {"kind", kKinds[std::size_t(reduced.difference.kind)]},
                     {"difference", reduced.difference.words},
                     {"size", reduced.difference.size},
                     {"size_before", reduced.size_before},
                     {"differing_runs", reduced.differing_runs},
                     {"runs", reduced.runs},
                     {"nodes_before", reduced.nodes_before},
                     {"tries", reduced.tries},
                     {"seconds", reduced.seconds},
                     {"is_smallest", int(reduced.is_smallest)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void expect_own_folder(const std::string& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return;
  if (fs::is_regular_file(fs::path(folder) / kReductionJournal, ignored)) return;
  throw IoError(
      fmt::format("folder '{}' exists, and holds no reduction to continue: name a new folder, or "
                  "remove it",
                  printable(folder)));
}

std::optional<ReducedNetwork> kept_reduction(const std::string& folder,
                                             const ReductionSubject& subject) {
  expect_own_folder(folder);
  const fs::path at = fs::path(folder);
  std::error_code ignored;
  if (!fs::exists(at, ignored)) return {};
  const std::string file = (at / kReductionJournal).string();
  const detail::JsonReader json(read_file(file), file);
  expect_same(folder, "framework", json.text("framework"), subject.word);
  expect_same(folder, "version", json.text("version"), subject.version);
  expect_same(folder, "reference", json.text("against"), subject.against);
  expect_same(folder, "network", json.text("of"), subject.of);
  ReducedNetwork kept;
  kept.difference = {.kind = DifferenceKind(json.choice("kind", kKinds)),
                     .size = json.number("size"),
                     .words = json.text("difference")};
  kept.size_before = json.number("size_before");
  kept.differing_runs = json.integer("differing_runs");
  kept.runs = json.integer("runs");
  kept.nodes_before = std::size_t(json.integer("nodes_before"));
  kept.tries = std::size_t(json.integer("tries"));
  kept.seconds = json.number("seconds");
  kept.is_smallest = json.integer("is_smallest") != 0;
  kept.network = Network::load((at / "model.onnx").string());
  if (!kept.network.input_names().empty()) kept.inputs = folder_inputs(folder, kept.network);
  return kept;
}

}  // namespace d5
