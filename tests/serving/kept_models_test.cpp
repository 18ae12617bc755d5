// SPDX-License-Identifier: Apache-2.0
#include "serving/kept/kept_models.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/serving/api/access_tokens.hpp"
#include "d5/serving/client/serving_client.hpp"
#include "d5/serving/jobs/job_queue.hpp"
#include "serving/agent/brought_files.hpp"
#include "serving/kept/keepable_manifest.hpp"
#include "tests/evaluation/toy_evaluation.hpp"
#include "tests/serving/asked_server.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using nlohmann::json;
using testing::AskedServer;

constexpr std::uint64_t kRoom = std::uint64_t{1} << 20;

ServingClient client_of(const AskedServer& asked) { return ServingClient(asked.server.address()); }

/// The toy's model behind its data set, as a client sends them.
std::vector<OwnManifest> toy_manifests(const testing::ToyEvaluation& toy) {
  return own_manifests(toy.model());
}

void keep_toy(const AskedServer& asked, const testing::ToyEvaluation& toy) {
  for (const OwnManifest& manifest : toy_manifests(toy)) CHECK(client_of(asked).keep(manifest));
}

std::string posted(const std::string& manifest) { return json{{"manifest", manifest}}.dump(); }

std::size_t files_in(const std::string& folder) {
  std::error_code absent;
  return std::size_t(std::distance(std::filesystem::directory_iterator(folder, absent), {}));
}

TEST_CASE("a model of one's own is kept with its data set, found by name, and removed") {
  const testing::ToyEvaluation toy;
  AskedServer asked({}, kRoom);
  const ServingClient client = client_of(asked);
  keep_toy(asked, toy);
  for (const OwnManifest& manifest : toy_manifests(toy)) CHECK_FALSE(client.keep(manifest));
  const auto kept = client.kept();
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].name == "toy");
  CHECK(kept[1].name == "colours");
  const json model = asked.get("/v1/models/toy").json();
  CHECK(model["accuracy"][0]["dataset"] == "colours@1.0.0-dev");
  CHECK_FALSE(model["assets"][0].contains("urls"));
  const std::string evaluation =
      "kind: evaluation\nname: e\nversion: 1.0.0-dev\nmodels: toy\nframeworks: reference\n";
  const auto job = client.submit(evaluation).job;
  CHECK_THROWS_WITH(client.forget("model", "toy"), Contains(job.id + " uses toy"));
  CHECK_THROWS_WITH(client.forget("dataset", "colours"), Contains("uses colours"));
  CHECK(client.cancel(job.id));
  CHECK_THROWS_WITH(client.forget("model", "colours"),
                    Contains("colours is a dataset; give dataset"));
  CHECK_THROWS_WITH(client.forget("dataset", "toy"), Contains("toy is a model; leave out dataset"));
  client.forget("model", "toy");
  client.forget("dataset", "colours@1.0.0-dev");
  CHECK(client.kept().empty());
  CHECK(files_in(asked.folder / "kept/artefacts/sha256") == 0);
  CHECK(asked.get("/v1/models/toy").status == 404);
  CHECK_THROWS_WITH(client.forget("model", "toy"), Contains("toy"));
  CHECK_THROWS_WITH(client.forget("model", "efficientnet-lite0"), Contains("d5 carries"));
}

TEST_CASE("what is kept outlives the server, and belongs to one at a time") {
  const testing::ToyEvaluation toy;
  const testing::TemporaryFolder folder;
  {
    detail::KeptModels kept(folder / "kept", kRoom);
    CHECK_THROWS_WITH(detail::KeptModels(folder / "kept", kRoom), Contains("keeps models in"));
    const OwnManifest data = toy_manifests(toy).front();
    CHECK(kept.add("dataset", data.text, detail::KeptModels::Replace::no).files.size() == 12);
    for (const auto& [sha256, path] : data.files) {
      const std::string bytes = read_file(path);
      CHECK(kept.uploads().take({sha256, bytes.size(), 0, bytes}) == bytes.size());
    }
    using enum detail::KeptModels::Answer::What;
    CHECK(kept.add("dataset", data.text, detail::KeptModels::Replace::no).what == added);
  }
  CHECK_THROWS_AS(find_manifest<DatasetManifest>("colours"), NotFound);
  const detail::KeptModels again(folder / "kept", kRoom);
  CHECK(find_manifest<DatasetManifest>("colours").manifest.samples.size() == 12);
}

TEST_CASE("a manifest that names code or a place of any machine is refused by its name") {
  const testing::ToyEvaluation toy;
  AskedServer asked({}, kRoom);
  const auto refusal = [&](const std::string& from, const std::string& to) {
    toy.write_model(from, to);
    const auto answer = asked.ask("POST", "/v1/models", posted(read_file(toy.model())));
    CHECK(answer.status == 422);
    return answer.json()["detail"].get<std::string>();
  };
  CHECK_THAT(refusal("- decode", "- {name: python, function: 'mine.py::f'}"), Contains("'python'"));
  CHECK_THAT(refusal("name: toy.onnx", "name: ../toy.onnx"), Contains("name: '../toy.onnx'"));
  CHECK_THAT(refusal("name: toy.onnx", "name: /etc/passwd"), Contains("/etc/passwd"));
  CHECK_THAT(refusal("licence:", "license:"), Contains("did you mean 'licence'?"));
  // The claim's data set is a path.
  CHECK_THAT(refusal("", ""), Contains("'dataset' names code or a place"));
  const std::string dataset =
      "kind: dataset\nname: d\nversion: 1.0.0\ntask: t\nlicence: l\nfolder: ../..\nsamples:\n- "
      "{file: a, bytes: 1, sha256: " +
      std::string(64, 'a') + "}\n";
  const auto answer = asked.ask("POST", "/v1/datasets", posted(dataset));
  CHECK(answer.status == 422);
  CHECK_THAT(answer.json()["detail"].get<std::string>(),
             Contains("'folder' names code or a place"));
  CHECK(asked.ask("POST", "/v1/models", R"({"manifest": 1})").status == 422);
  CHECK(asked.ask("POST", "/v1/models", R"({"manifest": "", "path": ""})").status == 422);
  CHECK(client_of(asked).kept().empty());
}

TEST_CASE("a file is taken in pieces, and only with its own digest") {
  AskedServer asked({}, kRoom);
  const std::string bytes(1000, 'x'), sha256 = detail::sha256(bytes);
  const auto put = [&](const std::string& piece, std::size_t offset, const std::string& as) {
    return asked.ask("PUT", "/v1/files/" + as + "?bytes=1000&offset=" + std::to_string(offset),
                     piece);
  };
  const std::string store = asked.folder / "kept/artefacts/sha256",
                    uploads = asked.folder / "kept/uploads";
  CHECK(put(bytes.substr(0, 300), 0, sha256).json()["here"] == 300);
  CHECK(files_in(store) == 0);                                        // half an upload is no file
  CHECK(put(bytes.substr(700), 700, sha256).json()["here"] == 300);   // a hole is not left
  CHECK(put(bytes.substr(0, 500), 0, sha256).json()["here"] == 500);  // another client's upload
  const auto whole = put(bytes.substr(500), 500, sha256);
  CHECK(whole.status == 201);
  CHECK(put(bytes, 0, sha256).status == 201);  // it was there
  CHECK(files_in(store) == 1);
  CHECK(files_in(uploads) == 0);

  const std::string lie(64, 'a');
  const auto refused = put(bytes, 0, lie);
  CHECK(refused.status == 422);
  CHECK_THAT(refused.json()["detail"].get<std::string>(), Contains(sha256) && Contains(lie));
  CHECK(files_in(store) == 1);
  CHECK(files_in(uploads) == 0);
  CHECK(put(bytes, 1, lie).status == 422);  // beyond the end
  CHECK(put(bytes, 0, "..%2Fx").status == 422);
  CHECK(asked.ask("PUT", "/v1/files/" + lie + "?bytes=x&offset=0", "x").status == 422);
  CHECK(asked.ask("PUT", "/v1/files/" + lie + "?bytes=2000000&offset=0", "x").status == 413);
}

TEST_CASE("two clients that send one file at once both succeed") {
  const testing::ToyEvaluation toy;
  AskedServer asked({}, kRoom);
  const auto manifests = toy_manifests(toy);
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      for (const OwnManifest& manifest : manifests) (void)client_of(asked).keep(manifest);
    });
  }
  for (auto& one : clients) one.join();
  CHECK(client_of(asked).kept().size() == 2);
  CHECK(files_in(asked.folder / "kept/uploads") == 0);
}

TEST_CASE("an upload that somebody began with other bytes is begun again") {
  const testing::ToyEvaluation toy;
  AskedServer asked({}, kRoom);
  const OwnManifest model = toy_manifests(toy).back();
  const auto& [sha256, path] = *model.files.begin();
  const auto size = std::filesystem::file_size(path);
  const std::string target = "/v1/files/" + sha256 + "?offset=0&bytes=" + std::to_string(size);
  CHECK(asked.ask("PUT", target, "lies").json()["here"] == 4);
  CHECK(client_of(asked).keep(model));
}

TEST_CASE("a name that is taken is replaced when that is asked, a version never") {
  const testing::ToyEvaluation toy;
  AskedServer asked({}, kRoom);
  const ServingClient client = client_of(asked);
  keep_toy(asked, toy);
  toy.write_model("task: colours", "task: other colours");
  CHECK_THROWS_WITH(client.keep(toy_manifests(toy).back()), Contains("replace"));
  CHECK(client.keep(toy_manifests(toy).back(), ServingClient::Replace::yes));
  CHECK(asked.get("/v1/models/toy").json()["task"] == "other colours");
  toy.write_model("name: toy\nversion: 1.0.0-dev", "name: fixed\nversion: 1.0.0");
  CHECK(client.keep(toy_manifests(toy).back()));
  toy.write_model("name: toy\nversion: 1.0.0-dev\ntask: colours",
                  "name: fixed\nversion: 1.0.0\ntask: c");
  const OwnManifest changed = toy_manifests(toy).back();
  CHECK_THROWS_WITH(client.keep(changed, ServingClient::Replace::yes),
                    Contains("keeps its content"));
  client.forget("model", "fixed");
  CHECK_THROWS_WITH(client.keep(changed), Contains("keeps its content"));
  toy.write_model("name: toy\n", "name: efficientnet-lite0\n");
  CHECK_THROWS_WITH(client.keep(toy_manifests(toy).back()), Contains("d5 carries a model"));
}

TEST_CASE("beyond the quota, and without a folder, nothing is kept") {
  const testing::ToyEvaluation toy;
  AskedServer small({}, 500);
  CHECK_THROWS_WITH(client_of(small).keep(toy_manifests(toy).front()),
                    Contains("their quota is 500"));
  CHECK(client_of(small).kept().empty());
  AskedServer none;
  CHECK_THROWS_WITH(client_of(none).keep(toy_manifests(toy).front()), Contains("--models DIR"));
}

TEST_CASE("adding, sending and removing take the role admin") {
  const testing::TemporaryFolder folder;
  const std::string tokens = folder / "tokens.json";
  for (const auto role : {ServingRole::view, ServingRole::run}) {
    const std::string token = AccessTokens::add(tokens, std::string(name_of(role)), role);
    AskedServer server(tokens, kRoom);
    const std::string line = "Authorization: Bearer " + token + "\r\n";
    CHECK(server.ask("POST", "/v1/models", "{}", line).status == 403);
    CHECK(server.ask("PUT", "/v1/files/" + std::string(64, 'a'), "x", line).status == 403);
    CHECK(server.ask("DELETE", "/v1/models/toy", "", line).status == 403);
    CHECK(server.ask("GET", "/v1/models", "", line).status == 200);
  }
}

TEST_CASE("a file that is nowhere is named before anything is kept") {
  const testing::ToyEvaluation toy;
  AskedServer asked({}, kRoom);
  const auto manifests = toy_manifests(toy);
  std::filesystem::remove(toy / "toy.onnx");
  CHECK(client_of(asked).keep(manifests.front()));
  CHECK_THROWS_WITH(client_of(asked).keep(toy_manifests(toy).back()),
                    Contains("'toy.onnx'") && Contains("neither on the server nor here"));
  std::ofstream(toy / "toy.onnx") << "other bytes";
  CHECK_THROWS_WITH(client_of(asked).keep(toy_manifests(toy).back()), Contains("'toy.onnx'"));
}

TEST_CASE("an agent brings the files that it lacks, and a server that lies is found out") {
  const testing::ToyEvaluation toy;
  const FixedEvaluation evaluation = [&] {
    AskedServer asked({}, kRoom);
    keep_toy(asked, toy);
    return fix_evaluation({{.name = "e", .version = "1.0.0"}, {"toy"}, "", "", {"reference"}});
  }();
  std::map<std::string, std::string> served;
  for (const OwnManifest& manifest : toy_manifests(toy)) {
    for (const auto& [sha256, path] : manifest.files) served[sha256] = read_file(path);
  }
  served[evaluation.datasets[0].digest] = evaluation.datasets[0].canonical;
  std::filesystem::remove_all(toy / "colours");  // this machine has neither of them
  const testing::TemporaryFolder folder;
  std::vector<std::string> said;
  std::string lie;
  const auto bring = [&] {
    detail::bring_files(
        evaluation.canonical, folder / "files",
        [&](const std::string& sha256, const auto& hear) {
          if (!served.contains(sha256)) return false;
          hear(served.at(sha256) + (sha256 == lie ? "!" : ""));
          return true;
        },
        [&](const std::string& line) { said.push_back(line); }, {});
  };
  lie = evaluation.models[0].manifest.assets[0].sha256;
  CHECK_THROWS_WITH(bring(), Contains("'toy.onnx'") && Contains("expected " + lie));
  CHECK_FALSE(ArtefactStore().has(lie));
  lie.clear();
  bring();
  CHECK_THAT(said.back(), Contains(".png"));
  const std::size_t fetched = said.size();
  bring();
  CHECK(said.size() == fetched);  // nothing twice
  const auto there = fixed_evaluation_from(evaluation.canonical, "a job");
  CHECK(there.key == evaluation.key);
  const Results results = evaluate(there, {});
  const auto top1 = std::ranges::find(results.measurements, "top1", &Measurement::metric);
  REQUIRE(top1 != results.measurements.end());
  CHECK(estimate(*top1).value == 1);  // by construction
}

}  // namespace
}  // namespace d5
