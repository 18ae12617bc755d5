// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/build_operators.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "tests/level0_ops/run_case.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A folder that is the user's cache too, while it lives.
class Folder : public testing::TemporaryFolder {
 public:
  Folder() { setenv("XDG_CACHE_HOME", (path() / "cache").c_str(), 1); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path() / name) << text;
    return path() / name;
  }
};

/// An environment variable, as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// The operator build_test.NAME, which makes `value` of anything; in C and in C++.
std::string constant(const std::string& name, const std::string& value) {
  return R"(
#include <stddef.h>
#include "d5/abi.h"
static d5_status infer(const void* s, const d5_tensor* x, size_t n, d5_tensor_desc* y, size_t m,
                       d5_error* e) {
  (void)s, (void)x, (void)n, (void)m, (void)e;
  y[0].dtype = D5_FLOAT32, y[0].rank = 0;
  return D5_OK;
}
static d5_status forward(void* s, const d5_call* c, d5_error* e) {
  (void)s, (void)e;
  *(float*)c->outputs[0].data = )" +
         value + R"(;
  return D5_OK;
}
static d5_operator only;
const d5_operator_table* d5_custom_operators(void) {
  static d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), 1, &only};
  only.domain = "build_test", only.name = ")" +
         name + R"(", only.since_version = 1;
  only.infer = infer, only.forward = forward;
  return &table;
}
)";
}

/// The first block of a language in a page, as it stands there.
std::string block_of(const std::string& page, const std::string& language) {
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!source) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
  const std::string text = read_file(std::string(source) + "/" + page);
  const std::string fence = "```" + language + "\n";
  const auto begin = text.find(fence) + fence.size(), end = text.find("```", begin);
  REQUIRE(end != std::string::npos);
  return text.substr(begin, end - begin);
}

/// y = tanh(log(1 + e^x)) x, and `factor` times its derivative, in float32 alone where `types` is
/// "Mish<float>".
std::string mish(const std::string& types, const std::string& factor) {
  return R"(
#include <cmath>
#include "d5/abi.hpp"
template <class T>
struct Mish {
  static constexpr const char* kName = "Mish";
  static constexpr const char* kDomain = "build_test";
  std::vector<d5::abi::Desc> infer(const d5::abi::Inputs& inputs) const {
    return {d5::abi::desc_of<T>(inputs.dims<T>(0))};
  }
  void forward(const d5::abi::Call& call) {
    const auto x = call.input<T>(0);
    const auto y = call.output<T>(0);
    for (std::int64_t i = 0; i < x.elements(); ++i) y[i] = x[i] * std::tanh(std::log1p(std::exp(x[i])));
  }
  void backward(const d5::abi::Call& call) {
    const auto x = call.input<T>(0);
    const auto dy = call.grad_output<T>(0);
    const auto dx = call.grad_input<T>(0);
    for (std::int64_t i = 0; i < dx.elements(); ++i) {
      const T t = std::tanh(std::log1p(std::exp(x[i])));
      const T slope = t + x[i] * (1 - t * t) / (1 + std::exp(-x[i]));
      dx[i] = T()" +
         factor + R"() * slope * dy[i];
    }
  }
};
D5_OPERATOR()" +
         types + ")\n";
}

void load(const std::string& text) {
  (void)load_custom_operators(build_operators(text), IfTaken::replace);
}

std::vector<float> result_of_text(const std::string& text) {
  const auto names = load_custom_operators(build_operators(text), IfTaken::replace);
  return result_of(names.at(0) + " 3");
}

}  // namespace

TEST_CASE("operators are compiled from text, and a new text takes the old one's place") {
  const Folder folder;
  CHECK(result_of_text(constant("Text", "1.5f")) == std::vector<float>{1.5F});
  CHECK(result_of_text(constant("Text", "2.5f")) == std::vector<float>{2.5F});
  // Elsewhere a name is taken once.
  CHECK_THROWS_AS(load_custom_operators(build_operators(constant("Text", "3"))), ValueError);
}

TEST_CASE("operators are compiled from a file in C or C++, into the cache or where one says") {
  const Folder folder;
  const std::string ending = GENERATE(as<std::string>(), ".c", ".cpp");
  const std::string source =
      folder.write("an operator" + ending, constant("In" + ending.substr(1), "4"));
  const std::string output = folder / "out.so";
  CHECK(build_operators(source, output) == output);
  CHECK(load_custom_operators(output) ==
        std::vector<std::string>{"build_test.In" + ending.substr(1)});
}

TEST_CASE(
    "what is compiled already is compiled again only if something that it is made of changes") {
  const Folder folder;
  const std::string source =
      folder.write("mine.cpp", "#include \"mine.hpp\"\n" + constant("Mine", "VALUE"));
  (void)folder.write("mine.hpp", "#define VALUE 1\n");
  const std::string first = build_operators(source);
  const auto written = fs::last_write_time(first);
  CHECK(build_operators(source) == first);
  CHECK(fs::last_write_time(first) == written);

  (void)folder.write("mine.hpp", "#define VALUE 2\n");
  const std::string second = build_operators(source);
  CHECK(second != first);
  const Variable flags("CXXFLAGS", "-O1");
  CHECK(build_operators(source) != second);
  // Nothing unfinished is left.
  for (const auto& file : fs::directory_iterator(folder / "cache/d5/operators")) {
    CHECK(file.path().extension() == ".so");
  }
}

TEST_CASE("a library in the cache that was changed is not used") {
  const Folder folder;
  const std::string text = constant("Sealed", "1.5f");
  const std::string library = build_operators(text);
  const std::string right = read_file(library);
  const std::size_t middle = right.size() / 2;
  for (const std::string& changed :
       {read_file(build_operators(constant("Sealed", "2.5f"))).substr(0, right.size() - 64),
        std::string(right).replace(middle, 1, 1, char(~right[middle])), right.substr(0, middle),
        std::string()}) {
    write_file(library, changed);
    CHECK(build_operators(text) == library);
    CHECK(read_file(library) == right);
  }
}

TEST_CASE("a compilation that fails says why") {
  const Folder folder;
  const std::string wrong = folder.write("wrong.cpp", "int x = ;\n");
  CHECK_THROWS_AS(build_operators(wrong), FormatError);
  CHECK_THROWS_WITH(build_operators(wrong), Contains("wrong.cpp:1:9: error:"));
  CHECK_THROWS_WITH(build_operators("#include \"nowhere.hpp\"\n"), Contains("nowhere.hpp"));
  CHECK_THROWS_AS(build_operators(folder / "absent.cpp"), IoError);
  CHECK_THROWS_AS(build_operators(folder / "notes.txt"), Unsupported);
  CHECK_THROWS_WITH(build_operators("int preprocessed;\n#include \"nowhere.hpp\"\n"),
                    !Contains("int preprocessed"));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "#error fault " + std::to_string(i) + "\n";
  CHECK_THROWS_WITH(build_operators(many),
                    Contains("fault 0") && !Contains("fault 99") && Contains(" more lines)"));
  const Variable compiler("CXX", "no-such-compiler");
  CHECK_THROWS_AS(build_operators(wrong), Unsupported);
  CHECK_THROWS_WITH(build_operators(wrong), Contains("install g++") && Contains("set CXX"));
}

TEST_CASE("without a home there is no cache, and the error says how to name one") {
  const Folder folder;
  const std::string source = folder.write("mine.c", constant("Homeless", "1"));
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  CHECK_THROWS_AS(build_operators(source), IoError);
  CHECK_THROWS_WITH(build_operators(source), Contains("XDG_CACHE_HOME"));
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
}

TEST_CASE("a class over abi.hpp is an operator, compiled for the type that a macro says") {
  const Folder folder;
  const std::string source = folder.write("twice.cpp", R"(
#include "d5/abi.hpp"
template <class T>
struct Twice {
  static constexpr const char* kName = "Twice";
  static constexpr const char* kDomain = "build_test";
  double more;
  explicit Twice(const d5::abi::Node& node) : more(node.real("more", 0)) {}
  std::vector<d5::abi::Desc> infer(const d5::abi::Inputs& inputs) const {
    if (inputs.dims<T>(0).size() > 1) throw d5::abi::Refusal(D5_SHAPE_ERROR, "one dimension only");
    return {d5::abi::desc_of<T>(inputs.dims<T>(0))};
  }
  double flop(const d5::abi::Inputs& inputs) const { return double(inputs.dims<T>(0)[0]); }
  void forward(const d5::abi::Call& call) {
    const auto x = call.input<T>(0);
    const auto y = call.output<T>(0);
    for (std::int64_t i = 0; i < x.elements(); ++i) y[i] = T(2 * x[i] + more);
  }
};
D5_OPERATOR(Twice<DTYPE>)
)");
  const auto load = [&](const char* type) {
    return load_custom_operators(build_operators(source, "", {{"DTYPE", type}}), IfTaken::replace);
  };
  CHECK(load("float") == std::vector<std::string>{"build_test.Twice"});
  CHECK(result_of("build_test.Twice {1,2} more=0.5") == std::vector<float>{2.5F, 4.5F});
  CHECK_THROWS_AS(run_case("build_test.Twice 2x2"), ShapeError);
  CHECK_THROWS_WITH(run_case("build_test.Twice 2x2"), Contains("one dimension only"));
  CHECK_THROWS_AS(run_case("build_test.Twice 2 more=word"), TypeError);
  CHECK(load("double") == std::vector<std::string>{"build_test.Twice"});
  CHECK_THROWS_AS(run_case("build_test.Twice 2"), TypeError);  // float32
  CHECK(build_operators(source, "", {{"DTYPE", "float"}}) !=
        build_operators(source, "", {{"DTYPE", "double"}}));
  CHECK_THROWS_AS(build_operators(source), FormatError);
  CHECK_THROWS_AS(build_operators(source, "", {{"D TYPE", "float"}}), ValueError);
}

TEST_CASE("the class of the page compiles as it stands there, and has a gradient that is checked") {
  const Folder folder;
  const auto names =
      load_custom_operators(build_operators(block_of("docs/reference/custom_operators.md", "cpp")));
  REQUIRE(names == std::vector<std::string>{"example.Twice"});
  CHECK(result_of("example.Twice {1,2}") == std::vector<float>{2, 4});
  CHECK(result_of<double>("example.Twice float64:{1,2}") == std::vector<double>{2, 4});
  check_gradient("example.Twice 2x3", 1);
}

TEST_CASE("classes of one name are one operator, each for its element types") {
  const Folder folder;
  load(mish("Mish<float>, Mish<double>", "1"));
  const double right = std::tanh(std::log1p(std::exp(1.0)));
  CHECK(result_of("build_test.Mish {1}").at(0) == Approx(right));
  CHECK(result_of<double>("build_test.Mish float64:{1}").at(0) == Approx(right).epsilon(1e-15));
  check_gradient("build_test.Mish 3x4", 1);
  CHECK_THROWS_AS(run_case("build_test.Mish int32:3"), TypeError);
  CHECK_THROWS_WITH(run_case("build_test.Mish int32:3"),
                    Contains("of type 6, expected 1") && Contains("of type 6, expected 11"));
  load(mish("Mish<float>, Mish<double>", "1.001"));
  CHECK(test_gradient(parse_case("build_test.Mish 3x4"), "reference").at(0).status ==
        Status::failed);
}

TEST_CASE("the gradient of an operator of one element type is checked in that type") {
  const Folder folder;
  const auto checked = [](const std::string& line, GradientMode mode) {
    const auto records = test_gradient(parse_case(line, 1), "reference", {.mode = mode});
    REQUIRE(records.size() == 1);
    INFO(records[0].reason);
    CHECK(records[0].conditions.at("precision") == "float32");
    return records[0].status;
  };
  const std::vector<std::string> lines = {"build_test.Mish 3x4", "build_test.Mish 2x3%10",
                                          "build_test.Mish {-30,-1,0,1e-3,1,100}",
                                          "build_test.Mish scalar"};
  load(mish("Mish<float>", "1"));
  for (const auto& line : lines) CHECK(checked(line, GradientMode::full) == Status::passed);
  for (const auto mode : {GradientMode::automatic, GradientMode::projection}) {
    CHECK(checked("build_test.Mish 40x50", mode) == Status::passed);
  }
  for (const char* factor : {"2", "1.01", "0", "-1"}) {
    load(mish("Mish<float>", factor));
    for (const auto& line : lines) CHECK(checked(line, GradientMode::full) == Status::failed);
    CHECK(checked("build_test.Mish 40x50", GradientMode::automatic) == Status::failed);
  }
}

TEST_CASE("kinks and jumps of an operator in float32 alone are what they are in float64") {
  const Folder folder;
  const auto sharp = [](const std::string& forward, const std::string& slope) {
    return R"(
#include <cmath>
#include "d5/abi.hpp"
struct Sharp {
  static constexpr const char* kName = "Sharp";
  static constexpr const char* kDomain = "build_test";
  std::vector<d5::abi::Desc> infer(const d5::abi::Inputs& inputs) const {
    return {d5::abi::desc_of<float>(inputs.dims<float>(0))};
  }
  void forward(const d5::abi::Call& call) {
    const auto xs = call.input<float>(0);
    for (std::int64_t i = 0; i < xs.elements(); ++i) {
      const float x = xs[i];
      call.output<float>(0)[i] = )" +
           forward + R"(;
    }
  }
  void backward(const d5::abi::Call& call) {
    const auto xs = call.input<float>(0);
    for (std::int64_t i = 0; i < xs.elements(); ++i) {
      const float x = xs[i];
      call.grad_input<float>(0)[i] = float()" +
           slope + R"() * call.grad_output<float>(0)[i];
    }
  }
};
D5_OPERATOR(Sharp)
)";
  };
  const auto status = [](const std::string& inputs) {
    return test_gradient(parse_case("build_test.Sharp " + inputs, 2), "reference").at(0).status;
  };
  const std::string relu = "x > 0 ? x : 0", floor = "std::floor(x)";
  for (const char* right : {"x > 0", "x >= 0", "x > 0 ? 1 : x < 0 ? 0 : 0.5"}) {
    load(sharp(relu, right));
    CHECK(status("{-1,0,0.01,0.03,-0.002,2}") == Status::passed);
    CHECK(status("20x30~2") == Status::passed);
  }
  for (const char* wrong : {"x != 0 ? x > 0 : 1.5", "x != 0 ? x > 0 : -0.5", "x > 0 ? 0.9 : 0"}) {
    load(sharp(relu, wrong));
    CHECK(status("{-1,0,0.01,0.03,-0.002,2}") == Status::failed);
    CHECK(status("20x30~2") == Status::failed);
  }
  load(sharp(floor, "0"));
  CHECK(status("{-1,0,0.5,2}") == Status::passed);
  load(sharp(floor, "x == std::floor(x) ? 1 : 0"));
  CHECK(status("{-1,0,0.5,2}") == Status::failed);
}

TEST_CASE("equal numbers are no fault of a median in float32, and a wrong one is found") {
  const Folder folder;
  const char* source = std::getenv("D5_SOURCE_DIR");
  REQUIRE(source);
  std::string text =
      read_file(std::string(source) + "/examples/111_median_pooling/median_pooling.cpp");
  const auto status = [](const std::string& line) {
    const auto record = test_gradient(parse_case(line, 1), "reference").at(0);
    INFO(record.reason);
    CHECK(record.conditions.at("precision") == "float32");
    return record.status;
  };
  const std::vector<std::string> lines = {"example.MedianPooling 2x3x6x7 size=3",
                                          "example.MedianPooling 1x2x6x7~1 size=3",
                                          "example.MedianPooling 2x3x6x7~1 size=3"};
  load(text);
  for (const auto& line : lines) CHECK(status(line) == Status::passed);
  const std::string right = "dx[in] += dy[out]";
  text.replace(text.find(right), right.size(), "dx[in] += T(1.5) * dy[out]");
  load(text);
  for (const auto& line : lines) CHECK(status(line) == Status::failed);
}
