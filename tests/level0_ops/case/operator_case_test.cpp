// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/case/operator_case.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/size_range.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

TEST_CASE("a case names an operator, its inputs and its attributes") {
  const OperatorCase c =
      parse_case("Conv@11 2x3x8x8 4x3x3x3 - pads=1x0x1x0 group=1 auto_pad=NOTSET");
  CHECK(c.node.op_type == "Conv");
  CHECK(c.node.opset == 11);
  CHECK(c.node.inputs.size() == 3);
  CHECK(c.node.has_input(1));
  CHECK_FALSE(c.node.has_input(2));
  CHECK(c.inputs[0].tensor().shape() == Shape{2, 3, 8, 8});
  CHECK(c.inputs[0].tensor().dtype() == DType::float32);
  CHECK(c.inputs[2].kind() == ValueKind::none);
  CHECK(*c.node.attribute<std::vector<std::int64_t>>("pads") ==
        std::vector<std::int64_t>{1, 0, 1, 0});
  CHECK(*c.node.attribute<std::int64_t>("group") == 1);
  CHECK(*c.node.attribute<std::string>("auto_pad") == "NOTSET");
}

TEST_CASE("attributes take the type that the operator's schema asks for") {
  // 1 would be an integer by its looks.
  CHECK(*parse_case("Gemm 1x1 1x1 alpha=1").node.attribute<float>("alpha") == 1);
  CHECK(*parse_case("MaxPool 1x1x3 kernel_shape=2")
             .node.attribute<std::vector<std::int64_t>>("kernel_shape") ==
        std::vector<std::int64_t>{2});
  CHECK(parse_case("LSTM 1x1x1 1x4x1 1x4x1 activations=Relu,Tanh,Tanh")
            .node.attribute<std::vector<std::string>>("activations")
            ->size() == 3);
}

TEST_CASE("without an opset it is the newest, without outputs the fewest") {
  CHECK(parse_case("Relu 1").node.opset >= 28);
  CHECK(parse_case("Relu 1").node.outputs.size() == 1);
  CHECK(parse_case("MaxPool 1x1x3 kernel_shape=2 outputs=2").node.outputs.size() == 2);
  CHECK(parse_case("ai.onnx.ml.Normalizer 3").node.domain == "ai.onnx.ml");
}

TEST_CASE("literal values are taken as written") {
  const auto values = [](const std::string& input) {
    return parse_case("Op " + input).inputs[0].tensor();
  };
  CHECK(values("int64:{2,-1}").span<std::int64_t>()[1] == -1);
  CHECK(values("int64:{2,-1}").shape() == Shape{2});
  CHECK(values("float64:2x1{0.5,1e-3}").shape() == Shape{2, 1});
  CHECK(values("bool:{1,0}").span<bool>()[0]);
  CHECK(values("scalar{3}").item<float>() == 3);
  CHECK(values("string:{a,b}").span<std::string>()[1] == "b");
  CHECK(values("{}").shape() == Shape{0});
}

TEST_CASE("behind an arrow stands what is expected of the outputs") {
  const OperatorCase one = parse_case("Add {1,2} {3,4} -> {4,6}");
  REQUIRE(one.expected.size() == 1);
  CHECK(one.expected[0].tensor().span<float>()[1] == 6);
  CHECK(one.inputs.size() == 2);
  CHECK(parse_case("Add 2 2").expected.empty());
  // The case has as many outputs as are expected; one that is not judged has no value.
  const OperatorCase split = parse_case("Split {1,2,3} -> - int64:2{2,3}");
  CHECK(split.node.outputs.size() == 2);
  CHECK(split.expected[0].kind() == ValueKind::none);
  CHECK(split.expected[1].tensor().shape() == Shape{2});
  CHECK_THROWS_WITH(parse_case("Add 2 2 ->"), Catch::Contains("outputs after it"));
  CHECK_THROWS_WITH(parse_case("Add 2 2 -> 2"), Catch::Contains("the values of an output"));
  CHECK_THROWS_WITH(parse_case("Add 2 2 outputs=1 -> {1} {2}"), Catch::Contains("2 outputs"));
}

TEST_CASE("random values depend on the seed and the place, and keep their bound") {
  const auto first = [](std::uint64_t seed) {
    return std::as_const(parse_case("Add 4 4", seed).inputs[0]).tensor().span<float>()[0];
  };
  CHECK(first(1) == first(1));
  CHECK(first(1) != first(2));
  const OperatorCase c = parse_case("Add 4 4");
  CHECK(c.inputs[0].tensor().span<float>()[0] != c.inputs[1].tensor().span<float>()[0]);
  const OperatorCase bounded = parse_case("Op int64:1000%3");
  bool reached[3] = {};
  for (const std::int64_t value : bounded.inputs[0].tensor().span<std::int64_t>()) {
    REQUIRE(value >= 0);
    REQUIRE(value < 3);
    reached[value] = true;
  }
  CHECK((reached[0] && reached[1] && reached[2]));
}

TEST_CASE("a wrong line is refused with the place") {
  CHECK_THROWS_WITH(parse_case("Conv 2x3 pads=1xone"),
                    "case, column 17: 'one' found, expected integers separated by x");
  CHECK_THROWS_AS(parse_case(""), FormatError);
  CHECK_THROWS_AS(parse_case("Relu 2x-3"), FormatError);
  CHECK_THROWS_AS(parse_case("Relu 2x"), FormatError);
  CHECK_THROWS_AS(parse_case("Relu@x 2"), FormatError);
  CHECK_THROWS_WITH(parse_case("Relu@99 2"), Catch::Contains("expected an opset from 1 to"));
  CHECK_THROWS_AS(parse_case("Relu@0 2"), FormatError);
  CHECK_NOTHROW(parse_case("org.example.Triple@99 2"));
  CHECK_THROWS_WITH(parse_case("Trilu string:2x3"), Catch::Contains("strings in braces"));
  CHECK_THROWS_AS(parse_case("Relu {1,2"), FormatError);
  CHECK_THROWS_AS(parse_case("Relu 3{1,2}"), FormatError);
  CHECK_THROWS_AS(parse_case("Relu int64:{1.5}"), FormatError);
  CHECK_THROWS_AS(parse_case("Relu 3 slope=1"), FormatError);                // no such attribute
  CHECK_THROWS_AS(parse_case("MaxPool kernel_shape=2 1x1x3"), FormatError);  // order
  CHECK_THROWS_AS(parse_case("Relu 3 outputs=0"), FormatError);
  CHECK_THROWS_AS(parse_case("Relu flaot32:3"), NotFound);
}

TEST_CASE("a case that is read takes no memory before it is drawn") {
  const CaseLine large = read_case("Relu 1000000x1000000x8", 3);
  CHECK(large.node.op_type == "Relu");
  CHECK(large.node.inputs.size() == 1);
  CHECK_THROWS_AS(large.draw(), MemoryError);
  CHECK_THROWS_AS(read_case("Relu 2y3"), FormatError);
}

TEST_CASE("a line with ranges stands for every combination of its values, each a line of its own") {
  const auto lines = [](const std::string& line) {
    std::vector<std::string> result;
    for (const CaseLine& one : expand_case(line)) result.push_back(one.line);
    return result;
  };
  using Lines = std::vector<std::string>;
  CHECK(lines("Gemm {m}x{k} {k}x{n} transA=0 for m=1,20 k=3 n=4,5") ==
        Lines{"Gemm 1x3 3x4 transA=0", "Gemm 1x3 3x5 transA=0", "Gemm 20x3 3x4 transA=0",
              "Gemm 20x3 3x5 transA=0"});
  CHECK(lines("Relu 1x{n} for n=16..100*2") == Lines{"Relu 1x16", "Relu 1x32", "Relu 1x64"});
  CHECK(lines("Relu {n} for n=7,0..5+2,8..9") ==
        Lines{"Relu 7", "Relu 0", "Relu 2", "Relu 4", "Relu 8", "Relu 9"});
  // Attributes and types vary as shapes do; braces around no name are values.
  CHECK(lines("MaxPool 1x1x9x9 kernel_shape={k} for k=2x2,3x3") ==
        Lines{"MaxPool 1x1x9x9 kernel_shape=2x2", "MaxPool 1x1x9x9 kernel_shape=3x3"});
  CHECK(lines("Gather {t}:5 int64:1x2{2,{i}} for t=float32,int8 i=1") ==
        Lines{"Gather float32:5 int64:1x2{2,1}", "Gather int8:5 int64:1x2{2,1}"});
  CHECK(lines("Add {1,2} {3,4} -> {4,{x}} for x=6") == Lines{"Add {1,2} {3,4} -> {4,6}"});
  CHECK(lines("Relu {1,2}") == Lines{"Relu {1,2}"});
  CHECK(expand_case("Relu {n} for n=1,2", 7).at(1).seed == 7);
  // The names are identities of the records, and the case's own line says them again.
  const CaseLine swept = expand_case("Gemm {m}x3 3x{n} for m=1,20 n=4").at(1);
  CHECK(swept.sweep.values == Conditions{{"m", identity(20)}, {"n", identity(4)}});
  CHECK(swept.draw().line == "Gemm 20x3 3x4");
  CHECK(swept.draw().full_line() == "Gemm {m}x3 3x{n} for m=20 n=4");
  const CaseLine again = expand_case(swept.draw().full_line()).at(0);
  CHECK(again.line == swept.line);
  CHECK(again.sweep.values == swept.sweep.values);
  CHECK(expand_case("Relu 5").at(0).sweep.values.empty());
  const auto words = read_case_words({"Relu", "{n}", "for", "n=1,2"});
  CHECK(words.size() == 2);
}

TEST_CASE("a range that is wrong, unused or too long is refused with the place") {
  using Catch::Contains;
  CHECK_THROWS_WITH(expand_case("Relu {n} for n=1..x"),
                    Contains("column 19: 'x' found, expected an integer of a range"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for n=4..1"), Contains("goes up"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for n=0..8*2"), Contains("a factor of 2 or more"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for n=0..8+0"), Contains("a step of 1 or more"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for n=1,,2"), Contains("every comma"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for n=1 n=2"), Contains("no values yet"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for n=1 m=2"), Contains("before 'for', as {m}"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for"), Contains("names after it"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for 7"), Contains("a name of letters"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for n=2,y"),
                    Contains("column 6") && Contains("'Relu y'"));
  CHECK_THROWS_WITH(expand_case("Relu {n}x{m} for n=1..400 m=1..400"), Contains("100000 cases"));
  CHECK_THROWS_WITH(expand_case("Relu {n} for n=1..9000000000000000000"), Contains("100000 cases"));
  CHECK_THROWS_WITH(parse_case("Relu {n} for n=1"), Contains("column 10"));
  CHECK(expand_case("Relu 0x{n} for n=9000000000000000000..9223372036854775807*2").size() == 1);
}

TEST_CASE("a file of cases is read line by line, and errors name the line") {
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!source) {
    WARN("D5_SOURCE_DIR is not set: skipped");
    return;
  }
  const auto count = [&](const std::string& folder) {
    std::size_t cases = 0;
    for (const auto& entry : std::filesystem::directory_iterator(source + folder)) {
      INFO(entry.path());
      CHECK_NOTHROW(cases += read_cases(entry.path().string()).size());
    }
    return cases;
  };
  CHECK(count("/tests/cases") > 40);
  CHECK(count("/data/deepbench") == 590);
  CHECK_THROWS_AS(read_cases("/nowhere/cases.txt"), IoError);
}

TEST_CASE("a line of a file that is no case is refused by its number, and the others are cases") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "cases.txt";
  std::ofstream(path) << "# ours\nRelu 2x3\nRellu 2x3\nTanh 2x\nAdd 2 2\n";
  const auto cases = read_case_words({path});
  REQUIRE(cases.size() == 4);
  CHECK(cases[0].refusal.empty());
  CHECK_THAT(cases[1].refusal,
             Catch::Contains("line 3") && Catch::Contains("Rellu") && Catch::Contains("Relu"));
  CHECK_THAT(cases[2].refusal, Catch::Contains("line 4"));
  CHECK(cases[3].refusal.empty());
  CHECK_THROWS_WITH(cases[1].draw(), Catch::Contains("line 3"));
  CHECK_THROWS_AS(read_case_words({"Rellu 2x3"}), NotFound);
  std::ofstream(path) << "Rellu 2x3\n";
  CHECK_THROWS_WITH(read_case_words({path}), Catch::Contains("line 1"));
}

TEST_CASE("whole numbers lie on both sides of zero, and their products are exact everywhere") {
  const OperatorCase one = parse_case("Gemm 8x300~3 300x8~3");
  std::map<float, int> counts;
  for (const float x : one.inputs[0].tensor().span<float>()) ++counts[x];
  CHECK(counts.size() == 7);
  for (const auto& [value, count] : counts) {
    INFO(value);
    CHECK(value == std::round(value));
    CHECK(std::abs(value) <= 3);
    CHECK(count > 2400 / 7 / 2);
  }
  CHECK(parse_case("Relu uint8:100~3").inputs[0].tensor().span<std::uint8_t>()[0] <= 3);
  const Measurement record =
      test_forward(one, "reference", {.exact = true, .tolerance = {{0, 0}}}).at(0);
  CHECK(record.samples == std::vector{0.0});
  CHECK_THROWS_AS(parse_case("Relu 4~0"), FormatError);
  CHECK_THROWS_AS(parse_case("Relu 4%2~3"), FormatError);
  CHECK_THROWS_AS(parse_case("Relu 4~x"), FormatError);
}

TEST_CASE("weights of recurrent layers leave the state room") {
  const auto deviation = [](const Tensor& x) {
    double squares = 0;
    for (const float v : x.span<float>()) squares += double(v) * v;
    return std::sqrt(squares / double(x.elements()));
  };
  const OperatorCase one = parse_case("LSTM 2x3x48 1x1200x48 1x1200x300 hidden_size=300");
  CHECK(deviation(one.inputs[0].tensor()) == Approx(1).epsilon(0.2));
  CHECK(deviation(one.inputs[1].tensor()) == Approx(1 / std::sqrt(3 * 48)).epsilon(0.05));
  CHECK(deviation(one.inputs[2].tensor()) == Approx(1 / std::sqrt(3 * 300)).epsilon(0.05));
  // So a wide network forgets a rounding rather than doubling it in each step.
  const auto records = test_forward(parse_case("RNN 50x4x500 1x500x500 1x500x500 hidden_size=500"),
                                    "reference", {.exact = true});
  for (const auto& record : records) CHECK(record.status == Status::passed);
}

TEST_CASE("sizes are read as the values of a range in a case are") {
  CHECK(sizes_from("4") == std::vector<std::int64_t>{4});
  CHECK(sizes_from("1,4..16*2,20..30+5") == std::vector<std::int64_t>{1, 4, 8, 16, 20, 25, 30});
  for (const char* text : {"", "0", "-1", "1,", "4..1", "x", "1.5", "1..x"}) {
    INFO(text);
    CHECK_THROWS_AS(sizes_from(text), ValueError);
  }
}

TEST_CASE("an operator without its inputs is answered with a case that has them") {
  const auto message_of = [](const std::vector<std::string>& words) -> std::string {
    try {
      (void)read_case_words(words);
    } catch (const ValueError& error) {
      return error.what();
    }
    return "";
  };
  const std::string conv = message_of({"Conv"});
  CHECK_THAT(conv, Catch::StartsWith("case 'Conv' lacks X, W;"));
  const std::size_t begin = conv.find("\"Conv ") + 1;
  REQUIRE(begin > 0);
  const std::string example = conv.substr(begin, conv.rfind('"') - begin);
  CHECK_NOTHROW(test_forward(parse_case(example), "reference"));
  for (const char* name : {"Gemm", "Relu", "Add", "MatMul", "BatchNormalization", "Not", "Where"}) {
    INFO(name);
    CHECK_THAT(message_of({name}), Catch::Contains(std::string(": \"") + name + " "));
  }
  CHECK(message_of({"RandomNormal shape=2x3"}).empty());
  CHECK_THAT(message_of({"Relu 2x3", "Gemm 2x3 3x4", "4x5"}),
             Catch::Contains("'4x5' is not an operator") && Catch::Contains("quotes"));
}
