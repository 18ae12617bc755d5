// SPDX-License-Identifier: Apache-2.0
// What a client of a server keeps there: manifests, and their files in pieces.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/serving/client/serving_client.hpp"
#include "serving/client/asking.hpp"

namespace d5 {
namespace {

using detail::Asking;
using nlohmann::json;

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;  // below the server's limit of a body
constexpr int kCreated = 201, kRefused = 300, kConflict = 409, kWrong = 422;

struct MissingFile {
  std::string name, sha256;
  std::uint64_t bytes = 0;
};

std::string kept_path(const std::string& kind) { return "/v1/" + kind + "s"; }

/// The files that the server lacks; empty if it refuses for another reason.
std::vector<MissingFile> missing_in(const std::string& body) {
  std::vector<MissingFile> missing;
  const json problem = json::parse(body, nullptr, false);
  if (!problem.is_object() || !problem.contains("missing")) return missing;
  for (const json& file : problem["missing"]) {
    missing.push_back(
        {file.value("name", ""), file.value("sha256", ""), file.value("bytes", std::uint64_t{0})});
  }
  return missing;
}

std::string piece_at(std::ifstream& in, std::uint64_t offset, const std::string& path) {
  std::string piece(kPieceBytes, '\0');
  in.clear();
  in.seekg(std::streamoff(offset));
  in.read(piece.data(), std::streamsize(piece.size()));
  if (in.bad()) throw IoError(fmt::format("'{}' cannot be read", printable(path)));
  piece.resize(std::size_t(std::max<std::streamsize>(in.gcount(), 0)));
  return piece;
}

/// Sends a file from where the server has it. An upload with a wrong beginning, of a sender that
/// lied, is refused once, and then begins again.
void send_file(const Asking& asking, const MissingFile& file, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw IoError(fmt::format("'{}' cannot be read", printable(path)));
  const std::string address = fmt::format("/v1/files/{}?bytes={}&offset=", file.sha256, file.bytes);
  bool was_refused = false;
  for (std::uint64_t offset = 0;;) {
    auto call = asking.call_to("PUT", address + std::to_string(offset));
    call.body = piece_at(in, offset, path);
    call.headers.emplace_back("Content-Type: application/octet-stream");
    const auto answer = asking.any_answer(call);
    if (answer.status == kWrong && !was_refused) {
      was_refused = true;
      offset = 0;
      continue;
    }
    if (answer.status >= kRefused) detail::throw_problem(answer.status, answer.body);
    if (answer.status == kCreated) return;
    const auto here = asking.understood(
        answer.body, [](const json& body) { return body.at("here").get<std::uint64_t>(); });
    if (here == offset) {
      throw IoError(fmt::format("the server takes no more of '{}'", printable(file.name)));
    }
    offset = here;
  }
}

}  // namespace

bool ServingClient::keep(const OwnManifest& manifest, Replace replace,
                         const std::function<void(const std::string&)>& said) const {
  const Asking asking(address_, options_);
  json body{{"manifest", json::parse(manifest.text)}};
  if (replace == Replace::yes) body["replace"] = true;
  const auto call = asking.call_to("POST", kept_path(manifest.kind), body.dump());
  constexpr int kMostRounds = 3;  // another client's removal may take files away in between
  for (int round = 0;; ++round) {
    const auto answer = asking.any_answer(call);
    if (answer.status < kRefused) return answer.status == kCreated;
    const auto missing =
        answer.status == kConflict ? missing_in(answer.body) : std::vector<MissingFile>();
    if (missing.empty() || round == kMostRounds) detail::throw_problem(answer.status, answer.body);
    for (const MissingFile& file : missing) {
      const auto here = manifest.files.find(file.sha256);
      if (here == manifest.files.end()) {
        throw NotFound(fmt::format(
            "{}: '{}' (SHA-256 {}) is neither on the server nor here; lay it beside the manifest, "
            "or add it by 'd5 artefact add'",
            manifest.reference, printable(file.name), printable(file.sha256)));
      }
      options_.interrupt.check("sending " + manifest.reference);
      if (said) said(fmt::format("sending {}, {} bytes", printable(file.name), file.bytes));
      send_file(asking, file, here->second);
    }
  }
}

std::vector<KeptEntry> ServingClient::kept() const {
  const Asking asking(address_, options_);
  std::vector<KeptEntry> kept;
  for (const char* kind : {"model", "dataset"}) {
    for (const json& entry : asking.items(kept_path(kind))) {
      if (!entry.value("kept", false)) continue;
      kept.push_back({kind, entry.value("name", ""), entry.value("version", ""),
                      entry.value("task", ""), entry.value("summary", "")});
    }
  }
  return kept;
}

void ServingClient::forget(const std::string& kind, const std::string& word) const {
  const Asking asking(address_, options_);
  (void)asking.answer(asking.call_to("DELETE", kept_path(kind) + "/" + percent_encoded(word)));
}

}  // namespace d5
