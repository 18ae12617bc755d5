// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/own_steps.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/image/image.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

bool has_numpy() {
  if (std::system("python3 -c 'import numpy' 2>/dev/null") == 0) return true;
  WARN("left out: python3 has no numpy");
  return false;
}

/// Sample i is {i, i + 0.5}.
class HalfSteps final : public Dataset {
 public:
  [[nodiscard]] std::string name() const override { return "half steps"; }
  [[nodiscard]] std::int64_t size() const override { return 6; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      batch[0].data<float>()[2 * i] = float(indices[i]);
      batch[0].data<float>()[2 * i + 1] = float(indices[i]) + 0.5F;
    }
  }

 private:
  std::vector<Field> fields_{{.name = "pair", .desc = {DType::float32, Shape{2}}}};
};

TEST_CASE("a function of one's own is a step, and costs no more than its sample") {
  const Settings mine{{"function", "mine.py::f"}};  // nobody allowed it
  CHECK_THROWS_WITH(sample_steps().at("python").make(mine), Catch::Contains("allow_code"));
  CHECK_THROWS_WITH(answer_steps().at("python").make(mine), Catch::Contains("allow_code"));
  CHECK_THAT(own_step_refusal("python"), Catch::Contains("allow_code"));
  CHECK(own_step_refusal("pythn").empty());
  allow_own_steps();
  allow_own_steps();
  CHECK(own_step_refusal("python").empty());
  if (!has_numpy()) return;
  const testing::TemporaryFolder folder;
  write_file(folder / "mine.py",
             "import os\n"
             "def thrice(x):\n"
             "    print('is no answer')\n"
             "    if x[0] == 1: raise ValueError('one')\n"
             "    if x[0] == 2: os._exit(5)\n"
             "    if x[0] == 3: return x\n"
             "    return (3 * x).astype('float64').reshape(2, 1)\n");
  const ModelPipeline way(std::make_shared<HalfSteps>(),
                          {{.name = "x",
                            .field = "pair",
                            .steps = {{"python",
                                       {{"function", folder / "mine.py::thrice"},
                                        {"type", "float64"},
                                        {"shape", "2x1"},
                                        {"seconds", 8.0}}}}}},
                          {});
  const auto prepared = [&](std::int64_t sample) {
    PipelineItem item{.sample = sample};
    way.prepare(item);
    return item.inputs;
  };
  const ValueMap four = prepared(4);
  const Tensor& x = four.at("x").tensor();
  CHECK(x.shape() == Shape{1, 2, 1});
  CHECK(x.data<double>()[0] == 12);
  CHECK(x.data<double>()[1] == 13.5);
  CHECK_THROWS_WITH(prepared(1), Catch::Contains("ValueError: one"));
  CHECK_THROWS_WITH(prepared(2), Catch::Contains("its process ended"));
  CHECK_THROWS_WITH(prepared(3), Catch::Contains("2x1"));  // what it said that it returns
  CHECK(prepared(5).at("x").tensor().data<double>()[0] == 15);
}

TEST_CASE("a call of Python's that hangs is ended") {
  allow_own_steps();
  if (!has_numpy()) return;
  const testing::TemporaryFolder folder;
  write_file(folder / "mine.py", "import time\ndef wait(x):\n    time.sleep(100)\n");
  const ModelPipeline way(
      std::make_shared<HalfSteps>(),
      {{.name = "x",
        .field = "pair",
        .steps = {{"python", {{"function", folder / "mine.py::wait"}, {"seconds", 0.5}}}}}},
      {});
  PipelineItem item;
  CHECK_THROWS_WITH(way.prepare(item), Catch::Contains("no answer within 0.5 s"));
}

TEST_CASE("a word that names no function is refused") {
  allow_own_steps();
  for (const std::string function : {"", "mine.py", "::f", "mine.py::"}) {
    CHECK_THROWS_AS(sample_steps().at("python").make({{"function", function}}), ValueError);
    CHECK_THROWS_AS(answer_steps().at("python").make({{"function", function}}), ValueError);
  }
}

TEST_CASE("a function before 'decode' gets the bytes of a file, and may give others") {
  allow_own_steps();
  if (!has_numpy()) return;
  const testing::TemporaryFolder folder;
  write_file(folder / "mine.py",
             "import numpy\n"
             "def unwrapped(x):\n"
             "    assert x.dtype == numpy.uint8 and x.ndim == 1\n"
             "    return x[4:]\n"
             "def counted(x):\n"
             "    return numpy.bincount(x, minlength=256).astype('int32')\n"
             "def told(x):\n"
             "    return 'text'\n");
  const Tensor picture = Tensor::of<std::uint8_t>({1, 2, 3}, {1, 2, 3, 40, 50, 60});
  const std::string file = "wrap" + encode_png(picture);
  const auto samples = std::make_shared<TensorDataset>(
      "files", std::vector<std::pair<std::string, Tensor>>{
                   {"file", Tensor::vector(std::vector<std::string>{file, "aab"})}});
  const auto prepared = [&](std::int64_t sample, const std::vector<EntryChoice>& steps) {
    const ModelPipeline way(samples, {{.name = "x", .field = "file", .steps = steps}}, {});
    PipelineItem item{.sample = sample};
    way.prepare(item);
    return item.inputs.at("x").tensor();
  };
  const auto step = [&](const std::string& function, Settings settings = {}) {
    settings.set("function", folder / "mine.py::" + function);
    return EntryChoice{"python", settings};
  };
  const Tensor decoded = prepared(0, {step("unwrapped"), {"decode"}});
  REQUIRE(decoded.shape() == Shape{1, 1, 2, 3});
  CHECK(decoded.data<std::uint8_t>()[4] == 50);
  const Tensor counts = prepared(1, {step("counted", {{"type", "int32"}, {"shape", "256"}})});
  REQUIRE(counts.shape() == Shape{1, 256});
  CHECK(counts.data<std::int32_t>()['a'] == 2);
  CHECK_THROWS_WITH(prepared(1, {step("told")}), Catch::Contains("returned text"));
}

TEST_CASE("a function of one's own makes an answer of all values, text and numbers") {
  allow_own_steps();
  if (!has_numpy()) return;
  const testing::TemporaryFolder folder;
  write_file(folder / "mine.py",
             "import numpy\n"
             "def named(values):\n"
             "    best = int(values['scores'].argmax())\n"
             "    words = values['words']\n"
             "    return {'text': words[best], 'score': values['scores'][best],\n"
             "            'classes': numpy.array([best])}\n"
             "def nothing(values):\n"
             "    return None\n"
             "def objects(values):\n"
             "    return {'x': numpy.array([None])}\n"
             "def failing(values):\n"
             "    return {'x': values['no such']}\n");
  const auto step = [&](const std::string& function) {
    return answer_steps().at("python").make({{"function", folder / "mine.py::" + function}});
  };
  ValueMap values{{"scores", Tensor::vector(std::vector<float>{1, 3, 2})},
                  {"words", Tensor::vector(std::vector<std::string>{"one", "zw\xc3\xb6lf", "\n"})}};
  step("named")->run(values);
  CHECK(values.size() == 5);
  CHECK(values.at("text").tensor().item<std::string>() == "zw\xc3\xb6lf");
  CHECK(values.at("text").tensor().shape() == Shape{});
  CHECK(values.at("score").tensor().item<float>() == 3);
  CHECK(values.at("classes").tensor().data<std::int64_t>()[0] == 1);
  CHECK_THROWS_WITH(step("nothing")->run(values), Catch::Contains("expected a dict"));
  CHECK_THROWS_WITH(step("objects")->run(values), Catch::Contains("expected numbers or text"));
  CHECK_THROWS_WITH(step("failing")->run(values),
                    Catch::Contains("KeyError: ") && Catch::Contains("no such"));
}

}  // namespace
}  // namespace d5
