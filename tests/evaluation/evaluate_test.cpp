// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/evaluate.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/run/evaluation_lock.hpp"
#include "tests/busy_processors.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

EvaluationManifest evaluation_of(const testing::ToyEvaluation& toy) {
  EvaluationManifest manifest;
  manifest.name = "test";
  manifest.version = "1.0.0-dev";
  manifest.models = {toy.model()};
  manifest.frameworks = {"reference"};
  manifest.scenarios = {{"closed_loop"}};
  manifest.queries = 10;
  return manifest;
}

const Measurement& record_of(const Results& results, const std::string& metric) {
  const auto place = std::ranges::find(results.measurements, metric, &Measurement::metric);
  REQUIRE(place != results.measurements.end());
  return *place;
}

/// Whether no answer speaks against a time; what the machine does meanwhile may.
bool is_trusted(const Measurement& record) {
  return record.status == Status::passed || (record.status == Status::mistrusted &&
                                             record.reason.find("answers") == std::string::npos);
}

Results run(const testing::ToyEvaluation& toy) { return evaluate(evaluation_of(toy)); }

/// Records the calls of a sink.
struct HeardSink final : EvaluationSink {
  std::vector<SampleAnswer> answered;
  std::vector<QueryRecord> asked;
  void evaluation(const EvaluationRun&) override {}
  void measurements(const std::string&, const std::string&, std::span<const Measurement>) override {
  }
  void queries(const std::string&, const std::string&,
               std::span<const QueryRecord> records) override {
    asked.assign(records.begin(), records.end());
  }
  void answers(const std::string&, const std::string&,
               std::span<const SampleAnswer> answers) override {
    answered.assign(answers.begin(), answers.end());
  }
  void trace(const std::string&, const std::string&, const Timeline& timeline) override {
    traced = timeline;
  }
  Timeline traced;
};

TEST_CASE("a model is answered, judged and timed as its manifest says") {
  const testing::ToyEvaluation toy;
  HeardSink sink;
  const Results results = evaluate(evaluation_of(toy), {.sink = &sink});
  const Measurement& top1 = record_of(results, "top1");
  CHECK(top1.status == Status::passed);
  CHECK(top1.samples == std::vector<double>(12, 1.0));
  CHECK(top1.subject == "toy@1.0.0-dev");
  CHECK(top1.level == "evaluation");
  CHECK(record_of(results, "latency").samples.size() == 10);
  CHECK(record_of(results, "cold_start").samples.size() == 1);
  REQUIRE(sink.answered.size() == 12);
  CHECK_THAT(sink.answered[4].answer, Catch::Contains("\"classes\":[1,"));
  CHECK_THAT(sink.answered[4].answer, Catch::Contains("\"labels\":[\"green\","));
  REQUIRE(sink.asked.size() == 10);
  for (const auto& query : sink.asked) CHECK(query.ended >= query.issued);
}

const TraceRecord& span_called(const Timeline& timeline, const std::string& name) {
  const auto place = std::ranges::find(timeline.records, name, &TraceRecord::name);
  REQUIRE(place != timeline.records.end());
  return *place;
}

TEST_CASE("a trace goes from the request by ids to the network's node") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_of(toy);
  manifest.trace_levels = {"framework"};
  manifest.accuracy = false;
  HeardSink sink;
  (void)evaluate(manifest, {.sink = &sink});
  const Timeline& all = sink.traced;
  const TraceRecord& request = span_called(all, "request");
  const TraceRecord& batch = span_called(all, "batch");
  REQUIRE(request.arguments.size() == 3);
  CHECK(std::get<std::int64_t>(request.arguments[2].value) == std::int64_t(batch.id));
  const TraceRecord& predict = span_called(all, "predict");
  CHECK(predict.parent == batch.id);
  CHECK(span_called(all, "prepare").parent == batch.id);
  // A node's parents lead to predict.
  const auto node = std::ranges::find_if(all.records, [](const auto& record) {
    return record.name.find("GlobalAveragePool") != std::string::npos;
  });
  REQUIRE(node != all.records.end());
  std::uint64_t id = node->parent;
  while (id != 0 && id != predict.id) {
    id = std::ranges::find(all.records, id, &TraceRecord::id)->parent;
  }
  CHECK(id == predict.id);

  manifest.trace_levels = {"model"};
  (void)evaluate(manifest, {.sink = &sink});
  CHECK_FALSE(sink.traced.records.empty());
  for (const auto& record : sink.traced.records) CHECK(record.level == "evaluation");
}

TEST_CASE("batches do not change answers") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_of(toy);
  HeardSink one, five;
  (void)evaluate(manifest, {.sink = &one});
  manifest.batches = {5};
  const Results results = evaluate(manifest, {.sink = &five});
  CHECK(record_of(results, "top1").status == Status::passed);
  REQUIRE(five.answered.size() == one.answered.size());
  for (std::size_t i = 0; i < one.answered.size(); ++i) {
    CHECK(five.answered[i].answer == one.answered[i].answer);
  }
}

TEST_CASE("a slip in the manifest misses the claim, by name, and what is timed is mistrusted") {
  const testing::ToyEvaluation toy;
  // Blue first: red and blue are taken for each other, so 4 of 12 are right.
  toy.write_model("  - {name: resize", "  - colour_order\n  - {name: resize");
  const Results results = run(toy);
  const Measurement& top1 = record_of(results, "top1");
  CHECK(top1.status == Status::failed);
  CHECK(estimate(top1).value == Approx(4.0 / 12));
  CHECK_THAT(top1.reason, Catch::Contains("0.3333") && Catch::Contains("1 is claimed") &&
                              Catch::Contains("by construction"));
  const Measurement& latency = record_of(results, "latency");
  CHECK(latency.status == Status::mistrusted);
  CHECK_THAT(latency.reason, Catch::Contains("top1"));
  CHECK(exit_status(results.measurements) == 1);
}

TEST_CASE("a network with open sizes is opened with those of its own samples") {
  const testing::ToyEvaluation toy;
  Network network("toy");  // takes 16 x 16 alone, but leaves both sizes open
  network.add_input("image", DType::float32, {"N", 3, "H", "W"});
  network.add_constant("rows", Tensor::vector(std::vector<std::int64_t>{-1, 3, 256, 1}));
  network.add_node("Reshape", {"image", "rows"}, {"reshaped"});
  network.add_node("GlobalAveragePool", {"reshaped"}, {"pooled"});
  network.add_node("Flatten", {"pooled"}, {"means"});
  network.add_output("means");
  network.save(toy / "toy.onnx");
  toy.write_model("");
  const Results results = run(toy);
  CHECK(estimate(record_of(results, "top1")).value == 1);
  CHECK(is_trusted(record_of(results, "latency")));
}

TEST_CASE("a batch is one thing: the scenario's own is the cell's") {
  const testing::ToyEvaluation toy;
  EvaluationManifest manifest = evaluation_of(toy);
  manifest.accuracy = false;
  manifest.scenarios = {{"batched"}, {"batched", {{"batch", 4}}}, {"closed_loop", {{"users", 1}}}};
  const auto batches_of = [&] {
    std::vector<std::pair<std::string, std::string>> cells;
    for (const Measurement& record : evaluate(manifest).measurements) {
      if (record.metric != "throughput") continue;
      cells.emplace_back(condition_of(record, "scenario"), condition_of(record, "batch"));
      CHECK(is_trusted(record));
    }
    return cells;
  };
  using Cells = std::vector<std::pair<std::string, std::string>>;
  const std::string one_user = "closed_loop:users=1";
  CHECK(batches_of() == Cells{{"batched", "1"}, {"batched", "4"}, {one_user, "1"}});
  manifest.batches = {4};  // one user's queries have one sample each
  CHECK(batches_of() == Cells{{"batched", "4"}, {"batched", "4"}, {one_user, "1"}});
  manifest.batches = {2};
  CHECK_THROWS_WITH(evaluate(manifest), Catch::Contains("batches of 4, but batch=2 is given"));
  manifest.scenarios = {{"batched"}};
  manifest.batches = {3};
  for (const Measurement& record : evaluate(manifest).measurements) {
    if (record.metric == "batch") CHECK(estimate(record).value == 3);  // computed together
  }
}

TEST_CASE("a wrong mean misses the claim") {
  const testing::ToyEvaluation toy;
  toy.write_model("mean: 127, deviation: 128",
                  "mean: [250, 30, 30], deviation: [128, 128, 128]");  // no picture is red any more
  CHECK(estimate(record_of(run(toy), "top1")).value == Approx(8.0 / 12));
}

TEST_CASE("without a claim, the measure that compares such answers judges them") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_of(toy);
  manifest.dataset = toy / "colours.yaml";
  std::string text = read_file(toy.model());
  text.erase(text.find("accuracy:\n"));
  write_file(toy.model(), text);
  write_file(toy / "colours/pa.png", "no picture");  // the first sample precedes the choice
  const Results results = evaluate(manifest);
  const Measurement& top1 = record_of(results, "top1");
  CHECK(estimate(top1).value == Approx(11.0 / 12));
  CHECK_THAT(top1.reason, Catch::Contains("1 samples have no answer"));
}

TEST_CASE("an answer that no measure compares is not judged, and what is timed is trusted") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_of(toy);
  manifest.dataset = toy / "colours.yaml";
  std::string text = read_file(toy.model());
  text.erase(text.find("answer:\n"));
  write_file(toy.model(), text);
  const Results results = evaluate(manifest);
  const Measurement& accuracy = record_of(results, "accuracy");
  CHECK(accuracy.status == Status::unsupported);
  CHECK(accuracy.samples.empty());
  CHECK_THAT(accuracy.reason,
             Catch::Contains("an answer of means with a data set of image, label"));
  CHECK(is_trusted(record_of(results, "latency")));
}

TEST_CASE("times beside other work are mistrusted, if they are those of this process") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_of(toy);
  manifest.frameworks = {"reference", "null:output=means:classes=3"};
  manifest.scenarios = {{"closed_loop", {{"users", 1}}}};
  manifest.seconds = 0.5;
  const testing::BusyProcessors other_work;
  for (const Measurement& record : evaluate(manifest).measurements) {
    if (record.metric != "latency" && record.metric != "throughput") continue;
    INFO(record.framework << " " << record.metric << ": " << record.reason);
    const bool is_doubted = record.reason.find("other work kept") != std::string::npos;
    CHECK(is_doubted == (record.framework == "reference"));
    CHECK((record.status == Status::mistrusted || !is_doubted));
  }
}

TEST_CASE("a sample that is another, or none, is wrong and told, and ends nothing") {
  const testing::ToyEvaluation toy;
  write_file(toy / "colours/pc.png", "no picture");
  const Results results = run(toy);
  const Measurement& top1 = record_of(results, "top1");
  CHECK(top1.status == Status::failed);
  CHECK(estimate(top1).value == Approx(11.0 / 12));
  CHECK_THAT(top1.reason, Catch::Contains("1 samples have no answer") &&
                              Catch::Contains("pc.png") && Catch::Contains("SHA-256"));
}

TEST_CASE("a manifest and a network that disagree are refused, with both sides") {
  const testing::ToyEvaluation toy;
  struct Slip {
    std::string from, to, says;
  };
  const auto slip = GENERATE(
      values<Slip>({{"shape: [3, 16, 16]", "shape: [3, 32, 32]",
                     "3x32x32 in the manifest, but float32 Nx3x16x16"},
                    {"- name: image", "- name: picture", "image"},
                    {"- name: means", "- name: mean", "means"},
                    {"- name: means", "- {name: means, type: int64}", "is int64 in the manifest"},
                    {"height: 16, width: 16", "height: 8, width: 8", "8x8"}}));
  toy.write_model(slip.from, slip.to);
  const Results results = run(toy);
  const Measurement& top1 = record_of(results, "top1");
  CHECK(top1.status == Status::failed);
  CHECK_THAT(top1.reason, Catch::Contains(slip.says));
}

TEST_CASE("a model's file that is another is refused") {
  const testing::ToyEvaluation toy;
  write_file(toy / "toy.onnx", "another");
  CHECK_THAT(record_of(run(toy), "top1").reason, Catch::Contains("toy.onnx"));
}

TEST_CASE("a sink hears the row of each failure, as the results have it") {
  struct RowSink final : EvaluationSink {
    std::vector<Measurement> rows;
    void evaluation(const EvaluationRun&) override {}
    void measurements(const std::string&, const std::string&,
                      std::span<const Measurement> records) override {
      rows.insert(rows.end(), records.begin(), records.end());
    }
    void queries(const std::string&, const std::string&, std::span<const QueryRecord>) override {}
    void answers(const std::string&, const std::string&, std::span<const SampleAnswer>) override {}
    void trace(const std::string&, const std::string&, const Timeline&) override {}
  } sink;
  const testing::ToyEvaluation toy;
  const EvaluationManifest manifest = evaluation_of(toy);
  std::filesystem::remove(toy / "toy.onnx");
  const Results results = evaluate(manifest, {.sink = &sink});
  REQUIRE(results.measurements.size() == 2);  // the accuracy and the scenario
  REQUIRE(sink.rows.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(sink.rows[i].status == Status::failed);
    CHECK(sink.rows[i].metric == results.measurements[i].metric);
    CHECK(sink.rows[i].reason == results.measurements[i].reason);
  }
}

TEST_CASE("a split is evaluated alone") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_of(toy);
  manifest.split = "half";
  CHECK(record_of(evaluate(manifest), "top1").samples.size() == 6);
}

TEST_CASE("a measured cell is not measured again") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_of(toy);
  const std::string out = toy / "results.json";
  const Results first = evaluate(manifest, {.out = out});
  const Results again = evaluate(manifest, {.out = out, .resume = true});
  CHECK(record_of(first, "latency").samples == record_of(again, "latency").samples);
  manifest.queries = 11;
  CHECK_THROWS_AS(evaluate(manifest, {.out = out, .resume = true}), ValueError);
}

TEST_CASE("the key is that of all that fixes an evaluation") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_of(toy);
  const std::string key = fix_evaluation(manifest).key;
  CHECK(fix_evaluation(manifest).key == key);
  manifest.seed = 1;
  CHECK(fix_evaluation(manifest).key != key);
  manifest.seed = 0;
  toy.write_model("deviation: 128", "deviation: 127");
  CHECK(fix_evaluation(manifest).key != key);
}

TEST_CASE("a version keeps its content, but for a pre-release") {
  const testing::ToyEvaluation toy;
  toy.write_model("version: 1.0.0-dev", "version: 1.0.0");
  (void)find_manifest<ModelManifest>(toy.model());
  (void)find_manifest<ModelManifest>(toy.model());
  std::string text = read_file(toy.model());
  text.replace(text.find("deviation: 128"), 14, "deviation: 127");
  write_file(toy.model(), text);
  CHECK_THROWS_WITH(find_manifest<ModelManifest>(toy.model()),
                    Catch::Contains("toy@1.0.0 is now") && Catch::Contains("stood for"));
}

TEST_CASE("a lock runs the same evaluation, and tells what is another") {
  const testing::ToyEvaluation toy;
  const auto manifest = evaluation_of(toy);
  const FixedEvaluation fixed = fix_evaluation(manifest);
  write_file(toy / "e.lock.json", evaluation_lock(fixed));
  CHECK(locked_evaluation(toy / "e.lock.json").key == fixed.key);
  toy.write_model("deviation: 128", "deviation: 127");
  CHECK_THROWS_WITH(locked_evaluation(toy / "e.lock.json"),
                    Catch::Contains("models/toy@1.0.0-dev/sha256") &&
                        Catch::Contains("was locked") && Catch::Contains(fixed.models[0].digest));
  toy.write_model("");
  write_file(toy / "e.lock.json", "{}");
  CHECK_THROWS_AS(locked_evaluation(toy / "e.lock.json"), FormatError);
}

TEST_CASE("a framework of a version that the model excludes is unsupported") {
  const testing::ToyEvaluation toy;
  toy.write_model("outputs:", "frameworks: {reference: '>=999'}\noutputs:");
  const Results results = run(toy);
  CHECK(record_of(results, "top1").status == Status::unsupported);
  CHECK_THAT(record_of(results, "top1").reason, Catch::Contains(">=999"));
}

}  // namespace
}  // namespace d5
