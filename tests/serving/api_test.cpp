// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "d5/evaluation/load/query_record.hpp"
#include "d5/serving/api/access_tokens.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/jobs/job_queue.hpp"
#include "tests/evaluation/sample_evaluation.hpp"
#include "tests/serving/asked_server.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using Catch::StartsWith;
using nlohmann::json;
using testing::AskedServer;

const std::string kEvaluation =
    R"({"kind": "evaluation", "name": "e", "version": "1.0.0", "models": "efficientnet-lite0",
        "frameworks": ["null"], "scenarios": ["single_stream"]})";

std::string job_body(const std::string& manifest, const json& more = json::object()) {
  json body{{"manifest", json::parse(manifest)}};
  body.update(more);
  return body.dump();
}

TEST_CASE("the contract has every route, and every route is in the contract") {
  AskedServer asked;
  const json contract = asked.get("/v1/openapi.json").json();
  CHECK(contract["openapi"] == "3.1.0");
  CHECK(contract["components"]["schemas"]["Page"]["properties"]["next"]["type"] ==
        json{"string", "null"});
  std::set<std::string> told, there;
  for (const auto& [path, item] : contract["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      std::string name = method;
      for (char& c : name) c = char(std::toupper(c));
      told.insert(name + " " + path);
    }
  }
  for (const auto& [name, entry] : routes().entries()) {
    // The page is no part of it, and the Open Inference Protocol has a contract of its own.
    const bool is_others = name == "GET /{file...}" || name.find(" /v2") != name.npos;
    if (!is_others) there.insert(name);
  }
  CHECK(told == there);
}

TEST_CASE("the catalogue tells what d5 carries") {
  AskedServer asked;
  CHECK(asked.get("/v1/health").json()["status"] == "up");
  const json models = asked.items("/v1/models");
  const auto found = std::ranges::find_if(
      models, [](const json& one) { return one["name"] == "efficientnet-lite0"; });
  REQUIRE(found != models.end());
  const json& model = *found;
  CHECK(model["claims"][0]["measure"] == "top1");
  CHECK(model["bytes"] == 18553255);
  const json tasks = asked.items("/v1/tasks");
  CHECK(std::ranges::any_of(tasks,
                            [](const json& one) { return one["name"] == "image classification"; }));
  CHECK(asked.items("/v1/datasets")[0]["splits"].size() == 2);
  CHECK(asked.items("/v1/scenarios?limit=1").size() == 1);
  bool has_reference = false;
  for (const auto& one : asked.items("/v1/frameworks")) {
    has_reference = has_reference || one["name"] == "reference";
  }
  CHECK(has_reference);
  CHECK(asked.items("/v1/systems").is_array());

  SECTION("a manifest has a tag, by which it is asked for again") {
    const auto whole = asked.get("/v1/models/efficientnet-lite0@1.1.0");
    REQUIRE(whole.status == 200);
    CHECK(whole.json()["kind"] == "model");
    const std::string tag = '"' + model["sha256"].get<std::string>() + '"';
    CHECK_THAT(whole.head, Contains("ETag: " + tag));
    CHECK(asked.ask("GET", "/v1/models/efficientnet-lite0", "", "If-None-Match: " + tag + "\r\n")
              .status == 304);
  }
  SECTION("names of elsewhere are none") {
    CHECK(asked.get("/v1/models/efficientnet-lite9").status == 404);
    CHECK(asked.get("/v1/models/..%2F..%2Fetc%2Fpasswd").status == 404);
    CHECK(asked.get("/v1/models/efficientnet-lite0.yaml").status == 404);
  }
  SECTION("pages follow one another") {
    std::set<std::string> names;
    std::string cursor;
    do {
      const json page = asked.get("/v1/scenarios?limit=3" + cursor).json();
      for (const auto& one : page["items"]) names.insert(one["name"]);
      cursor = page["next"].is_null() ? "" : "&cursor=" + page["next"].get<std::string>();
    } while (!cursor.empty());
    CHECK(names.size() == asked.items("/v1/scenarios").size());
  }
}

TEST_CASE(
    "the list of frameworks has those that run models, their executors too, and no simulator") {
  AskedServer asked;
  asked.server.context().jobs().publish(
      {.name = "a",
       .frameworks = {{"torch", {.version = "2.13.0", .words = {"torch", "torch:script"}}}}});
  std::map<std::string, json> versions;
  for (const json& one : asked.items("/v1/frameworks")) {
    versions[one.at("word").get<std::string>()] = one.at("versions");
  }
  CHECK(versions.at("torch:script") == json{"2.13.0"});
  CHECK(versions.at("torch") == json{"2.13.0"});
  CHECK(versions.at("reference").empty());  // here, and on no agent
  for (const char* word : {"simgrid", "mpi"}) CHECK_FALSE(versions.contains(word));
}

TEST_CASE("an error in an address or a body is a problem, with the nearest word") {
  AskedServer asked;
  const auto nearest = asked.get("/v1/runs?framwork=torch");
  CHECK(nearest.status == 422);
  CHECK_THAT(nearest.head, Contains("Content-Type: application/problem+json"));
  CHECK_THAT(nearest.json()["detail"].get<std::string>(), Contains("did you mean framework?"));
  CHECK(asked.get("/v1/runs?limit=0").status == 422);
  CHECK(asked.get("/v1/runs?limit=9999999999999999999999").status == 422);
  CHECK(asked.get("/v1/jobs?state=quewed").status == 422);
  CHECK(asked.get("/v1/nothing").status == 404);
  CHECK(asked.ask("POST", "/v1/nothing").status == 404);
  const auto not_allowed = asked.ask("DELETE", "/v1/jobs");
  CHECK(not_allowed.status == 405);
  CHECK_THAT(not_allowed.head, Contains("Allow: GET, HEAD, POST\r\n"));
  CHECK(asked.ask("HEAD", "/v1/jobs").body.empty());
  CHECK(asked.ask("POST", "/v1/jobs", "{").status == 422);
  CHECK(asked.ask("POST", "/v1/jobs", "[]").status == 422);
  CHECK(asked.ask("POST", "/v1/jobs", "{\"manifest\": \"\xff\"}").status == 422);
  CHECK(asked.ask("POST", "/v1/jobs", job_body(kEvaluation, {{"onn", 1}})).status == 422);
  CHECK(asked.ask("POST", "/v1/jobs", job_body(kEvaluation), "Origin: http://evil.example\r\n")
            .status == 403);
}

TEST_CASE("a framework that nobody has is refused, and one that no agent has is said at once") {
  AskedServer asked;
  json manifest = json::parse(kEvaluation);
  const auto submit = [&](const char* framework, const char* target = "/v1/jobs") {
    manifest["frameworks"] = {framework};
    return asked.ask("POST", target, job_body(manifest.dump()));
  };
  asked.server.context().jobs().publish({.name = "a",
                                         .frameworks = {{"reference", {.version = "0.1.0"}},
                                                        {"onnxruntime", {.version = "1.20.0"}}}});
  for (const char* target : {"/v1/jobs", "/v1/jobs/why"}) {
    const auto refused = submit("onnxrutime:session", target);
    CHECK(refused.status == 422);
    CHECK_THAT(
        refused.json()["detail"].get<std::string>(),
        Contains("framework 'onnxrutime' is unknown") && Contains("did you mean onnxruntime?"));
  }
  CHECK_THAT(submit("nul").json()["detail"].get<std::string>(), Contains("did you mean null?"));
  CHECK(submit("").status == 422);
  CHECK(asked.items("/v1/jobs").empty());
  CHECK(submit("reference+onnxruntime").json()["waits"] == "");
  asked.server.context().jobs().publish(
      {.name = "a", .frameworks = {{"reference", {.version = "0.1.0"}}}});
  const json waiting = submit("onnxruntime").status == 422 ? json() : submit("onnxruntime").json();
  if (waiting.is_null()) return;  // this d5 was built without it
  CHECK(waiting["waits"] == "no agent offers onnxruntime; agents offer reference");
  const std::string path = "/v1/jobs/" + waiting["id"].get<std::string>();
  CHECK(asked.get(path).json()["waits"] == waiting["waits"]);
}

TEST_CASE("a manifest from elsewhere names no path, no file: and no code") {
  AskedServer asked;
  json local = json::parse(kEvaluation);
  local["models"] = "/etc/passwd.yaml";
  const auto refused = asked.ask("POST", "/v1/jobs", job_body(local.dump()));
  CHECK(refused.status == 422);
  CHECK(asked.get("/v1/jobs").json()["items"].empty());
  const std::string yaml = "kind: model\nname: m\nversion: 1.0.0\nasets: 1\n";
  const auto faults = asked.ask("POST", "/v1/evaluations/lint", json{{"yaml", yaml}}.dump());
  REQUIRE(faults.status == 200);
  CHECK_THAT(faults.body, Contains("'asets'"));
  CHECK(faults.json()["items"][0]["line"].is_number());
  for (const char* wrong : {R"({"yaml": {}})", "{}", R"({"yaml": "", "file": "x"})"}) {
    CHECK(asked.ask("POST", "/v1/evaluations/lint", wrong).status == 422);
  }
  CHECK(asked.ask("POST", "/v1/evaluations/lint", R"({"yaml": ""})").json()["items"][0]["line"] ==
        1);
  const json bomb{{"yaml", "a: &a [x, x]\nb: [*a, *a]\n"}};
  CHECK(asked.ask("POST", "/v1/evaluations/lint", bomb.dump()).json()["items"].size() == 1);
}

TEST_CASE("a job is asked for once, told, followed and cancelled") {
  AskedServer asked;
  const auto first = asked.ask("POST", "/v1/jobs", job_body(kEvaluation));
  INFO(first.body);
  REQUIRE(first.status == 201);
  const json job = first.json();
  const std::string id = job["id"];
  CHECK_THAT(first.head, Contains("Location: /v1/jobs/" + id));
  CHECK(asked.ask("POST", "/v1/jobs", job_body(kEvaluation)).status == 200);
  CHECK(asked.get("/v1/jobs/" + id).json()["manifest"].is_object());
  CHECK(asked.items("/v1/jobs?state=queued,running").size() == 1);
  CHECK(asked.items("/v1/jobs?state=done").empty());
  CHECK(asked.get("/v1/jobs/none").status == 404);

  asked.server.context().jobs().publish({.name = "a", .architecture = "x86_64", .cores = 1});
  CHECK(asked.items("/v1/agents")[0]["state"] == "free");
  CHECK(asked.items("/v1/jobs/" + id + "/why")[0]["fits"] == true);
  const auto fits =
      asked.ask("POST", "/v1/jobs/why", job_body(kEvaluation, {{"constraints", {{"cores", 4}}}}));
  CHECK(fits.json()["items"][0]["fits"] == false);
  CHECK_FALSE(fits.json()["items"][0]["reason"].get<std::string>().empty());

  SECTION("its events end with it, and go on where one was heard last") {
    auto& queue = asked.server.context().jobs();
    const auto lease = queue.lease("a");
    REQUIRE(lease);
    queue.begin(*lease);
    queue.finish(*lease, JobState::done);
    const std::string all = asked.get("/v1/jobs/" + id + "/events").body;
    CHECK(asked.get("/v1/jobs/" + id.substr(0, 8) + "/events").body == all);
    CHECK_THAT(all, Contains("\"state\":\"done\""));
    const std::size_t last = all.rfind("id: ");
    const std::string number = all.substr(last + 4, all.find('\n', last) - last - 4);
    const std::string before = std::to_string(std::stoi(number) - 1);
    const std::string rest =
        asked.ask("GET", "/v1/jobs/" + id + "/events", "", "Last-Event-ID: " + before + "\r\n")
            .body;
    CHECK_THAT(rest, Contains("id: " + number + "\n"));
    CHECK_THAT(rest, !Contains("\"state\":\"queued\""));
    CHECK_THAT(asked.get("/v1/jobs/" + id + "/events?after=" + number).body, !Contains("data:"));
    CHECK(asked.ask("DELETE", "/v1/jobs/" + id).status == 409);
    const auto refused = asked.ask("POST", "/v1/jobs/" + id + "/retry");
    CHECK(refused.status == 409);
    CHECK_THAT(refused.json()["detail"].get<std::string>(), Contains("is done"));
  }
  SECTION("a listener gets later events, and a server that stops ends the stream") {
    testing::RawClient listening(asked.server.port());
    listening.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    listening.read_until("\"queued\"");
    CHECK(asked.ask("DELETE", "/v1/jobs/" + id).json()["state"] == "cancelled");
    CHECK_THAT(listening.read_until("\"cancelled\""), Contains("id: "));
    const auto again = asked.ask("POST", "/v1/jobs/" + id + "/retry");
    CHECK(again.status == 201);
    CHECK(again.json()["id"] != id);
    CHECK(again.json()["state"] == "queued");
    CHECK_THAT(again.head, Contains("Location: /v1/jobs/" + again.json()["id"].get<std::string>()));
    CHECK(asked.ask("POST", "/v1/jobs/" + id + "/retry").json()["id"] == again.json()["id"]);
    CHECK(asked.ask("POST", "/v1/jobs/none/retry").status == 404);
    asked.server.stop();
    listening.read_all();
  }
}

/// A run with a piece of each kind, of which one answer in three is wrong.
EvaluationRun keep_run(EvaluationDatabase& database) {
  EvaluationRun run{.id = new_run_id(), .command = "d5 eval run lenet", .environment = {}};
  run.environment.hostname = "<script>alert(1)</script>";
  database.evaluation(run);
  std::vector<QueryRecord> queries(5);
  for (std::int64_t i = 0; i < 5; ++i) queries[std::size_t(i)].id = i;
  database.queries(run.id, "cell", queries);
  const std::vector<SampleAnswer> answers = {{0, "cat", 1}, {1, "<b>dog</b>", 0}, {2, "cow", 1}};
  database.answers(run.id, "cell", answers);
  Timeline timeline;
  timeline.ranks = {{}};
  database.trace(run.id, "cell", timeline);
  database.measurements(run.id, "cell", testing::records_of({"torch", 1, 0.001, 100, 0.9}));
  return run;
}

TEST_CASE("a run's records, queries, answers and traces can be read") {
  AskedServer asked;
  const auto run = keep_run(*EvaluationDatabase::open(asked.database));
  const std::string path = "/v1/runs/" + run.id.substr(0, 8);

  CHECK(asked.items("/v1/runs").size() == 1);
  const json whole = asked.get(path).json();
  CHECK(whole["id"] == run.id);
  CHECK(whole["pieces"].size() == 4);
  CHECK(whole["environment"]["hostname"] == run.environment.hostname);
  const json records = asked.items(path + "/records?metric=latency");
  REQUIRE(records.size() == 3);
  CHECK(records[2]["statistic"] == "p99");
  CHECK(records[2]["value"].get<double>() == Approx(0.099).epsilon(0.02));
  CHECK_FALSE(records[2].contains("samples"));
  CHECK(asked.items(path + "/records?metric=latency&samples=true")[0]["samples"].size() == 100);
  CHECK(asked.items(path + "/queries").size() == 5);
  CHECK(asked.get(path + "/queries?limit=2&cursor=4").json()["items"][0]["id"] == 4);
  CHECK(asked.get(path + "/queries?cursor=x").status == 422);
  CHECK(asked.get(path + "/records?cursor=1").status == 422);
  CHECK(asked.get("/v1/runs?cursor=none").status == 422);
  CHECK(asked.items(path + "/answers?piece=cell").size() == 3);
  const json wrong = asked.items(path + "/answers?wrong=true");
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0]["answer"] == "<b>dog</b>");
  CHECK(asked.get(path + "/trace").json()["traceEvents"].is_array());
  CHECK(asked.get(path + "/queries?piece=none").status == 404);
  CHECK(asked.get("/v1/runs/none").status == 404);
  CHECK(asked.get("/v1/runs/%25").status == 404);
  CHECK(asked.get("/v1/runs/'%20OR%20'1'='1").status == 404);
  CHECK(asked.items("/v1/history?model=lenet&metric=latency")[0]["is_best"] == true);

  const json same = asked.get("/v1/compare?a=" + run.id + "&b=" + run.id).json();
  CHECK(same["a"]["id"] == run.id);
  for (const auto& one : same["records"]) CHECK(one["ratio"] == 1);
  CHECK(asked.get("/v1/compare?a=" + run.id).status == 422);
  CHECK(asked.get("/v1/history?model=none").json()["items"].empty());
}

TEST_CASE("the best of each model in each framework is listed without its version") {
  AskedServer asked;
  CHECK(asked.items("/v1/measured").empty());
  (void)keep_run(*EvaluationDatabase::open(asked.database));
  const json measured = asked.items("/v1/measured");
  REQUIRE(measured.size() == 1);
  CHECK(measured[0]["model"] == "lenet");
  CHECK(measured[0]["framework"] == "torch");
  CHECK(measured[0]["latency"].get<double>() == Approx(0.0505));
  CHECK(measured[0]["throughput"] == 100);
  CHECK(measured[0]["accuracy"]["top1"] == 0.9);
  CHECK(asked.get("/v1/measured?model=net").status == 422);
}

TEST_CASE("a token's role decides, and without one there is the page alone") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "tokens.json";
  const std::string view = AccessTokens::add(file, "view", ServingRole::view);
  const std::string run = AccessTokens::add(file, "run", ServingRole::run);
  AskedServer asked(file);
  const auto status = [&](const std::string& method, const std::string& target,
                          const std::string& token) {
    const std::string headers = token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
    return asked.ask(method, target, method == "POST" ? job_body(kEvaluation) : "", headers).status;
  };
  CHECK(status("GET", "/", "") == 200);
  CHECK(status("GET", "/v1/health", "") == 200);
  CHECK(status("GET", "/v1/jobs", "") == 401);
  CHECK(status("GET", "/v1/jobs", "wrong") == 401);
  CHECK(status("GET", "/v1/jobs", view) == 200);
  CHECK(status("POST", "/v1/jobs", view) == 403);
  CHECK(status("POST", "/v1/jobs", run) == 201);
  CHECK_THAT(asked.get("/v1/jobs").head, Contains("WWW-Authenticate: Bearer"));
}

TEST_CASE("a job is cancelled by the token that asked for it, and by the role admin") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "tokens.json";
  const std::string ci = AccessTokens::add(file, "ci", ServingRole::run);
  const std::string other = AccessTokens::add(file, "other", ServingRole::run);
  const std::string admin = AccessTokens::add(file, "boss", ServingRole::admin);
  AskedServer asked(file);
  const auto ask = [&](const std::string& method, const std::string& target,
                       const std::string& token) {
    return asked.ask(method, target, method == "POST" ? job_body(kEvaluation) : "",
                     "Authorization: Bearer " + token + "\r\n");
  };
  for (const std::string& who : {ci, admin}) {
    const json job = ask("POST", "/v1/jobs", ci).json();
    CHECK(job["owner"] == "ci");
    CHECK(job["title"] == "efficientnet-lite0 · null · single_stream");
    const std::string path = "/v1/jobs/" + job["id"].get<std::string>();
    CHECK(ask("POST", "/v1/jobs", other).json()["owner"] == "ci");  // the same job
    const auto refused = ask("DELETE", path, other);
    CHECK(refused.status == 403);
    CHECK_THAT(refused.json()["detail"].get<std::string>(), Contains("ci asked for the job"));
    CHECK(ask("GET", path, other).json()["state"] == "queued");
    CHECK(ask("DELETE", path, who).json()["state"] == "cancelled");
  }
  const std::string nobodys = JobQueue::open(asked.database)->submit({.manifest = "{}"}).job.id;
  CHECK(ask("DELETE", "/v1/jobs/" + nobodys, ci).status == 403);
  CHECK(ask("DELETE", "/v1/jobs/" + nobodys, admin).status == 200);
}

TEST_CASE("a server that others reach takes tokens and TLS") {
  const testing::TemporaryFolder folder;
  CHECK_THROWS_WITH(Server({.database = folder / "r.db", .http = {.host = "0.0.0.0"}}),
                    Contains("tokens") && Contains("TLS (tls_cert and tls_key)"));
  CHECK_THROWS_WITH(Server({.database = folder / "r.db", .http = {.certificate = "c.pem"}}),
                    Contains("its key"));
}

TEST_CASE("a data set's sample is its file, where the server holds it") {
  AskedServer asked;
  for (const char* number : {"200", "-1", "x", "1.5", "99999999999999999999", "..%2F1"}) {
    INFO(number);
    CHECK(asked.get(std::string("/v1/datasets/imagenet-sample/samples/") + number).status == 404);
  }
  CHECK(asked.get("/v1/datasets/..%2F..%2Fetc/samples/0").status == 404);
  const bool is_here = asked.items("/v1/datasets")[0]["here"];
  const auto picture = asked.get("/v1/datasets/imagenet-sample@1.1.0/samples/1");
  CHECK(picture.status == (is_here ? 200 : 404));
  if (!is_here) return;
  const json manifest = asked.get("/v1/datasets/imagenet-sample").json();
  CHECK(json(detail::sha256(picture.body)) == manifest["samples"][1]["sha256"]);
  CHECK_THAT(picture.head, Contains("Content-Type: image/jpeg"));
}

TEST_CASE("the page keeps its policy when it is asked for again") {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "web");
  write_file(folder / "web/index.html", "<p>");
  write_file(folder / "web/page.js", "long");
  write_file(folder / "web/page.js.gz", "packed");
  setenv("D5_SHARE_DIR", (folder / ".").c_str(), 1);
  AskedServer asked;
  const auto first = asked.get("/");
  const std::string policy = "Content-Security-Policy: default-src 'none'; script-src 'self'";
  CHECK_THAT(first.head, Contains(policy));
  const std::string tag = first.head.substr(first.head.find("ETag: ") + 6, 64);
  const auto again =
      asked.ask("GET", "/", "", "If-None-Match: " + tag.substr(0, tag.find("\r\n")) + "\r\n");
  CHECK(again.status == 304);
  CHECK_THAT(again.head, Contains(policy));
  CHECK(asked.get("/page.js").body == "long");
  const auto packed = asked.ask("GET", "/page.js", "", "Accept-Encoding: br, gzip\r\n");
  CHECK(packed.body == "packed");
  CHECK_THAT(packed.head, Contains("Content-Encoding: gzip") && Contains("text/javascript"));
  unsetenv("D5_SHARE_DIR");
}

TEST_CASE("the page's folder gives away nothing that lies beside it") {
  AskedServer asked;
  CHECK_THAT(asked.get("/").head, Contains("Content-Type: text/html"));
  for (const char* target :
       {"/../data/openapi.yaml", "/%2e%2e/data/openapi.yaml", "/..%2fdata%2fopenapi.yaml",
        "/.git/config", "//etc/passwd", "/data"}) {
    INFO(target);
    CHECK(asked.get(target).status == 404);
  }
}

}  // namespace
}  // namespace d5
