// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/own_steps.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"
#include "d5/level2_training/data/sample_step.hpp"
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
  CHECK(sample_steps().find("python") == nullptr);  // nobody allowed it
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
  }
}

}  // namespace
}  // namespace d5
