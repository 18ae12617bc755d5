// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/client/serving_client.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/query_record.hpp"
#include "serving/client/event_lines.hpp"
#include "tests/evaluation/sample_evaluation.hpp"
#include "tests/serving/asked_server.hpp"
#include "tests/serving/own_certificate.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using testing::AskedServer;

constexpr const char* kSmall = R"(kind: evaluation
name: small
version: 1.0.0
models: efficientnet-lite0
frameworks: "null"
scenarios: single_stream
)";

TEST_CASE("server-sent events are read wherever the stream is cut") {
  const std::string stream =
      ": hello\nretry: 10\n\nid: 1\ndata: one\n\nid: 2\r\ndata: two\r\ndata:more\r\n\r\ndata: lost";
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    detail::EventLines lines;
    std::vector<std::string> heard;
    const auto hear = [&](const std::string& id, const std::string& data) {
      heard.push_back(id + "=" + data);
    };
    lines.add(std::string_view(stream).substr(0, cut), hear);
    lines.add(std::string_view(stream).substr(cut), hear);
    CHECK(heard == std::vector<std::string>{"1=one", "2=two\nmore"});
  }
}

TEST_CASE("an event that does not end is refused") {
  const std::string kilobyte(1024, 'x');
  for (const std::string& piece : {kilobyte, "data:" + kilobyte + "\n"}) {
    detail::EventLines lines;
    const auto read_on = [&] {
      for (int i = 0; i < 20'000; ++i) lines.add(piece, [](const auto&, const auto&) {});
    };
    CHECK_THROWS_WITH(read_on(), Contains("more than 16777216 bytes"));
  }
}

TEST_CASE("a client asks, follows, and fetches what an agent measured") {
  AskedServer asked;
  auto& queue = asked.server.context().jobs();
  queue.publish({.name = "a"});
  const ServingClient client("127.0.0.1:" + std::to_string(asked.server.port()));
  const auto [job, was_there] = client.submit(kSmall);
  CHECK_FALSE(was_there);
  CHECK(client.submit(kSmall).was_there);
  CHECK(client.why(job.id).at(0).fits);
  CHECK(client.jobs({.states = {JobState::queued}}).items.size() == 1);
  CHECK_FALSE(client.job(job.id).manifest.empty());

  const auto lease = queue.lease("a");
  REQUIRE(lease);
  queue.begin(*lease);
  const std::string run = run_of_part(job.id, 0);
  const auto records = testing::records_of({"torch", 1, 0.001, 100, 0.9});
  const auto database = EvaluationDatabase::open(asked.database);
  Environment machine;
  machine.cpu = "a processor";
  database->evaluation({.id = run, .environment = machine});
  database->measurements(run, "cell", records);
  queue.finish(*lease, JobState::done);

  std::vector<JobState> states;
  client.follow(job.id, [&](const JobEvent& event) { states.push_back(event.state); });
  REQUIRE_FALSE(states.empty());
  CHECK(states.front() == JobState::queued);
  CHECK(states.back() == JobState::done);
  const Results results = client.results(run);
  REQUIRE(results.measurements.size() == records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    CHECK(results.measurements[i].metric == records[i].metric);
    CHECK(results.measurements[i].samples == records[i].samples);
    CHECK(results.measurements[i].conditions == records[i].conditions);
  }
  CHECK(results.environment.cpu == machine.cpu);
  CHECK_FALSE(client.cancel(job.id));
  CHECK_THROWS_WITH(client.retry(job.id), Contains("is done"));

  const Job other = client.submit(kSmall, "2").job;
  CHECK(client.cancel(other.id));
  const auto again = client.retry(other.id);
  CHECK_FALSE(again.was_there);
  CHECK(again.job.on == "2");
  CHECK(client.retry(other.id).was_there);
}

TEST_CASE("a server's refusal is thrown with its message") {
  AskedServer asked;
  const ServingClient client(asked.server.address());
  CHECK_THROWS_AS(client.job("none"), NotFound);
  CHECK_THROWS_WITH(client.submit("kind: evaluation\nmodles: x\n"), Contains("modles"));
  CHECK_THROWS_WITH(client.submit(kSmall, "sevne"), Contains("the server says"));
  CHECK_THROWS_AS(ServingClient("ftp://somewhere"), ValueError);
  asked.server.stop();
  CHECK_THROWS_WITH(client.job("none"), Contains("is 'd5 serve' running there?"));
}

TEST_CASE("over TLS a server is known by its certificate") {
  const testing::OwnCertificate own;
  if (!own.made) {
    WARN("skipped: no program openssl makes a certificate");
    return;
  }
  Server server({.database = own.folder / "results.db",
                 .http = {.port = 0, .certificate = own.certificate, .key = own.key}});
  server.begin();
  CHECK_THAT(server.address(), Catch::StartsWith("https://"));
  const std::string address = "https://localhost:" + std::to_string(server.port());
  CHECK_THAT(ServingClient(address, {.certificates = own.certificate}).send("GET", "/v1/health"),
             Contains("\"up\""));
  CHECK_THROWS_WITH(ServingClient(address).send("GET", "/v1/health"),
                    Contains("certificate") && Contains("$D5_CA") && !Contains("running there"));
  // Without TLS there is no answer.
  CHECK(testing::raw_answer(server.port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .substr(0, 4) != "HTTP");
}

}  // namespace
}  // namespace d5
