// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/build_operators.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "d5/core/error.hpp"
#include "d5/level0_ops/custom_operator.hpp"
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

TEST_CASE("what cannot be compiled says why") {
  const Folder folder;
  const std::string wrong = folder.write("wrong.cpp", "int x = ;\n");
  CHECK_THROWS_AS(build_operators(wrong), FormatError);
  CHECK_THROWS_WITH(build_operators(wrong), Contains("wrong.cpp:1:9: error:"));
  CHECK_THROWS_WITH(build_operators("#include \"nowhere.hpp\"\n"), Contains("nowhere.hpp"));
  CHECK_THROWS_AS(build_operators(folder / "absent.cpp"), IoError);
  CHECK_THROWS_AS(build_operators(folder / "notes.txt"), Unsupported);
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
  CHECK_THROWS_AS(run_case("build_test.Twice 2"), TypeError);  // of float32
  CHECK(build_operators(source, "", {{"DTYPE", "float"}}) !=
        build_operators(source, "", {{"DTYPE", "double"}}));
  CHECK_THROWS_AS(build_operators(source), FormatError);
  CHECK_THROWS_AS(build_operators(source, "", {{"D TYPE", "float"}}), ValueError);
}
