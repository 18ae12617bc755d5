// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/custom_operator.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "d5/abi.h"
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
namespace fs = std::filesystem;

namespace {

/// A folder for what this test builds.
struct BuildFolder : testing::TemporaryFolder {
  /// Compiles one file into a shared library, as a user outside the tree does.
  [[nodiscard]] std::string library(const fs::path& source, const std::string& name,
                                    const std::string& headers = "include") const {
    const std::string result = path() / (name + ".so");
    const std::string command =
        fmt::format("{} -Wall -Wextra -Werror -shared -fPIC -I '{}/{}' '{}' -o '{}' -lm",
                    source.extension() == ".c" ? "cc -std=c11" : "c++ -std=c++20",
                    std::getenv("D5_SOURCE_DIR"), headers, source.string(), result);
    REQUIRE(std::system(command.c_str()) == 0);
    return result;
  }
  [[nodiscard]] std::string library_of(const std::string& text, const std::string& name) const {
    const fs::path source = path() / (name + ".c");
    std::ofstream(source) << text;
    return library(source, name);
  }
};

fs::path source_dir() {
  const char* folder = std::getenv("D5_SOURCE_DIR");
  if (!folder) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
  return folder;
}

OperatorRegistry& reference() { return framework("reference").part<OperatorRegistry>(); }

/// A case's operator and what it is planned with for a CUDA device, which need not be there.
class ForCuda {
 public:
  explicit ForCuda(const std::string& line) : op_case_(parse_case(line)) {}
  [[nodiscard]] const OperatorCase& op_case() const { return op_case_; }
  [[nodiscard]] const Operator& op() const { return *op_; }
  [[nodiscard]] PlanContext& context() { return context_; }

 private:
  OperatorCase op_case_;
  std::unique_ptr<Operator> op_ = reference().make(op_case_.node);
  std::vector<ValueDesc> inputs_{op_case_.inputs.at(0).desc()};
  std::vector<const Value*> constants_{nullptr};
  std::vector<ValueDesc> outputs_ = op_->infer(InferContext(op_case_.node, inputs_, constants_));
  PlanContext context_{*op_,       op_case_.node, inputs_,
                       constants_, outputs_,      {.device = {DeviceKind::cuda, 0}}};
};

}  // namespace

TEST_CASE("an operator in C++ is loaded, runs forward and backward") {
  const fs::path source = source_dir() / "examples/101_custom_operator/log_cosh.cpp";
  BuildFolder folder;
  CHECK(load_custom_operators(folder.library(source, "log_cosh")) ==
        std::vector<std::string>{"example.LogCosh"});

  const auto y = result_of("example.LogCosh@1 {0,1,-1,1000} scale=2");
  CHECK(y[0] == 0);
  CHECK(y[1] == Approx(2 * std::log(std::cosh(1.0))));
  CHECK(y[2] == y[1]);
  CHECK(y[3] == Approx(2 * (1000 - std::log(2.0))));
  check_gradient("example.LogCosh@1 3x4 scale=2", 1);
  check_gradient("example.LogCosh@1 17x33", 1);

  // Its refusals arrive as d5's errors.
  CHECK_THROWS_AS(run_case("example.LogCosh@1 int32:3"), TypeError);
  CHECK_THROWS_WITH(run_case("example.LogCosh@1 int32:3"),
                    "example.LogCosh 'output0': the input must be float32 or float64");
  CHECK_THROWS_AS(run_case("example.LogCosh@1 3 3"), ShapeError);

  // A name is taken once.
  CHECK_THROWS_AS(load_custom_operators(folder.library(source, "again")), ValueError);
}

TEST_CASE("a library that is no table of operators of this version is refused") {
  source_dir();
  BuildFolder folder;
  const std::size_t before = custom_operators().list().size();
  CHECK_THROWS_AS(load_custom_operators(folder / "absent.so"), IoError);
  CHECK_THROWS_AS(load_custom_operators(folder.library_of("int nothing;", "empty")), Unsupported);
  // The table of version 1 had no size of its entries.
  const std::string old =
      "#include <stddef.h>\n"
      "#include <stdint.h>\n"
      "typedef struct { int32_t abi_version; size_t operator_count; const void* operators; } v1;\n"
      "const v1* d5_custom_operators(void) {\n"
      "  static const v1 table = {1, 1, 0};\n"
      "  return &table;\n"
      "}\n";
  const std::string library = folder.library_of(old, "old");
  CHECK_THROWS_AS(load_custom_operators(library), Unsupported);
  CHECK_THROWS_WITH(
      load_custom_operators(library),
      Catch::Matchers::Contains("is of ABI version 1, expected one built against d5/abi.h of "
                                "version 2"));
  CHECK(custom_operators().list().size() == before);
}

TEST_CASE("entries of another length are read by the size that the table says") {
  source_dir();
  BuildFolder folder;
  const std::string text =
      "#include <d5/abi.h>\n"
      "static d5_status infer(const void* s, const d5_tensor* x, size_t n, d5_tensor_desc* y,\n"
      "                       size_t m, d5_error* e) {\n"
      "  (void)s, (void)x, (void)n, (void)m, (void)e;\n"
      "  y[0].dtype = D5_FLOAT32, y[0].rank = 0;\n"
      "  return D5_OK;\n"
      "}\n"
      "static d5_status one(void* s, const d5_call* c, d5_error* e) {\n"
      "  (void)s, (void)e;\n"
      "  *(float*)c->outputs[0].data = 1;\n"
      "  return D5_OK;\n"
      "}\n"
      "static d5_status two(void* s, const d5_call* c, d5_error* e) {\n"
      "  (void)s, (void)e;\n"
      "  *(float*)c->outputs[0].data = 2;\n"
      "  return D5_OK;\n"
      "}\n"
      "#define ENTRY(word, f) {.domain = PREFIX, .name = word, .since_version = 1,\\\n"
      "                        .infer = infer, .forward = f}\n";
  const std::string longer =
      "#define PREFIX \"longer\"\n" + text +
      "typedef struct { d5_operator known; void (*later)(void); } entry;\n"
      "static const entry entries[] = {{ENTRY(\"One\", one), 0}, {ENTRY(\"Two\", two), 0}};\n"
      "const d5_operator_table* d5_custom_operators(void) {\n"
      "  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(entry), 2,\n"
      "                                          (const d5_operator*)entries};\n"
      "  return &table;\n"
      "}\n";
  load_custom_operators(folder.library_of(longer, "longer"));
  CHECK(result_of("longer.One@1 3") == std::vector<float>{1});
  CHECK(result_of("longer.Two@1 3") == std::vector<float>{2});

  // One that ends before `forward` lacks it.
  const std::string shorter =
      "#define PREFIX \"shorter\"\n" + text +
      "static const d5_operator entries[] = {ENTRY(\"One\", one), ENTRY(\"Two\", two)};\n"
      "const d5_operator_table* d5_custom_operators(void) {\n"
      "  static const d5_operator_table table = {D5_ABI_VERSION, offsetof(d5_operator, forward), "
      "1,\n"
      "                                          entries};\n"
      "  return &table;\n"
      "}\n";
  CHECK_THROWS_WITH(load_custom_operators(folder.library_of(shorter, "shorter")),
                    Catch::Matchers::Contains("lacks a domain, a name, infer or forward"));
}

TEST_CASE("a call says its size, device and stream; a kernel of another device is refused") {
  source_dir();
  BuildFolder folder;
  const std::string probe =
      "#include <d5/abi.h>\n"
      "static d5_status infer(const void* s, const d5_tensor* x, size_t n, d5_tensor_desc* y,\n"
      "                       size_t m, d5_error* e) {\n"
      "  (void)s, (void)x, (void)n, (void)m, (void)e;\n"
      "  y[0].dtype = D5_INT64, y[0].rank = 1, y[0].dims[0] = 6;\n"
      "  return D5_OK;\n"
      "}\n"
      "static d5_status forward(void* s, const d5_call* c, d5_error* e) {\n"
      "  (void)s, (void)e;\n"
      "  int64_t* y = c->outputs[0].data;\n"
      "  y[0] = c->size == sizeof(d5_call), y[1] = (int64_t)c->input_count;\n"
      "  y[2] = c->inputs[1].data == 0, y[3] = c->device.kind, y[4] = c->device.index;\n"
      "  y[5] = c->stream == 0;\n"
      "  return D5_OK;\n"
      "}\n"
      "static const d5_operator operators[] = {\n"
      "    {.domain = \"test\", .name = \"Probe\", .since_version = 1, .infer = infer,\n"
      "     .forward = forward}};\n"
      "const d5_operator_table* d5_custom_operators(void) {\n"
      "  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), 1,\n"
      "                                          operators};\n"
      "  return &table;\n"
      "}\n";
  load_custom_operators(folder.library_of(probe, "probe"));
  CHECK(result_of<std::int64_t>("test.Probe@1 3 - 2") ==
        std::vector<std::int64_t>{1, 3, 1, D5_CPU, 0, 1});

  ForCuda probe_for_cuda("test.Probe@1 3");
  CHECK_THROWS_AS(probe_for_cuda.op().plan(probe_for_cuda.context()), Unsupported);
}

TEST_CASE("an operator of its own for CUDA runs there; one on the host does not") {
  source_dir();
  BuildFolder folder;
  const std::string both =
      "#include <d5/abi.h>\n"
      "static d5_status infer(const void* s, const d5_tensor* x, size_t n, d5_tensor_desc* y,\n"
      "                       size_t m, d5_error* e) {\n"
      "  (void)s, (void)x, (void)n, (void)m, (void)e;\n"
      "  y[0].dtype = D5_INT64, y[0].rank = 0;\n"
      "  return D5_OK;\n"
      "}\n"
      "static d5_status host(void* s, const d5_call* c, d5_error* e) {\n"
      "  (void)s, (void)e;\n"
      "  *(int64_t*)c->outputs[0].data = 10 + c->device.kind;\n"
      "  return D5_OK;\n"
      "}\n"
      "static d5_status cuda(void* s, const d5_call* c, d5_error* e) {\n"
      "  (void)s, (void)e;\n"
      "  *(int64_t*)c->outputs[0].data = 20 + c->device.kind;\n"
      "  return D5_OK;\n"
      "}\n"
      "static const d5_operator operators[] = {\n"
      "    {.domain = \"test\", .name = \"Both\", .since_version = 1, .infer = infer,\n"
      "     .forward = host, .forward_cuda = cuda}};\n"
      "const d5_operator_table* d5_custom_operators(void) {\n"
      "  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), 1,\n"
      "                                          operators};\n"
      "  return &table;\n"
      "}\n";
  load_custom_operators(folder.library_of(both, "both"));
  CHECK(result_of<std::int64_t>("test.Both@1 3") == std::vector<std::int64_t>{10 + D5_CPU});

  // Memory of the host stands in for the device's: what is tried is which function is called.
  ForCuda both_for_cuda("test.Both@1 3");
  const auto kernel = reference().plan(both_for_cuda.context());
  Value output = Tensor::scalar<std::int64_t>(0);
  const Value* input_pointers[] = {&both_for_cuda.op_case().inputs[0]};
  Value* output_pointers[] = {&output};
  OpContext run;
  run.inputs = input_pointers;
  run.outputs = output_pointers;
  run.context_node = &both_for_cuda.op_case().node;
  kernel->forward(run);
  CHECK(output.tensor().item<std::int64_t>() == 20 + D5_CUDA);
}

TEST_CASE("an exception of an operator fails its run alone") {
  source_dir();
  BuildFolder folder;
  const fs::path source = folder / "throwing.cpp";
  std::ofstream(source) << R"(
#include <stdexcept>
#include <d5/abi.h>
static d5_status infer(const void*, const d5_tensor* x, size_t, d5_tensor_desc* y, size_t,
                       d5_error*) {
  y[0].dtype = x[0].dtype, y[0].rank = 0;
  return D5_OK;
}
static d5_status known(void*, const d5_call*, d5_error*) { throw std::runtime_error("my fault"); }
static d5_status unknown(void*, const d5_call*, d5_error*) { throw 42; }
static d5_operator entry(const char* name, d5_status (*forward)(void*, const d5_call*, d5_error*)) {
  d5_operator result{};
  result.domain = "throwing", result.name = name, result.since_version = 1;
  result.infer = infer, result.forward = forward;
  return result;
}
const d5_operator_table* d5_custom_operators() {
  static const d5_operator operators[] = {entry("Known", known), entry("Unknown", unknown)};
  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), 2, operators};
  return &table;
}
)";
  load_custom_operators(folder.library(source, "throwing"));
  CHECK_THROWS_WITH(run_case("throwing.Known@1 3"), "throwing.Known 'output0': threw: my fault");
  CHECK_THROWS_WITH(run_case("throwing.Unknown@1 3"),
                    Catch::Matchers::Contains("other than a std::exception"));
  const auto rows = test_forward(parse_case("throwing.Unknown@1 3"), "reference");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].status == Status::failed);
}

TEST_CASE("the work of an operator is what it says") {
  source_dir();
  BuildFolder folder;
  load_custom_operators(
      folder.library(source_dir() / "examples/101_custom_operator/log_cosh.cpp", "work"),
      IfTaken::replace);
  const OperatorCase op_case = parse_case("example.LogCosh@1 2x5");
  const std::vector<ValueDesc> inputs{TensorDesc{DType::float32, {2, 5}}};
  const Cost cost =
      custom_operators().make(op_case.node)->cost(InferContext(op_case.node, inputs, {}));
  CHECK(cost.flop == 30);
  CHECK(cost.bytes_read == 40);
  CHECK(cost.bytes_written == 40);
}

TEST_CASE("an invalid shape is refused before anything is allocated") {
  source_dir();
  BuildFolder folder;
  const std::string liar =
      "#include <d5/abi.h>\n"
      "static d5_status infer(const void* s, const d5_tensor* x, size_t n, d5_tensor_desc* y,\n"
      "                       size_t m, d5_error* e) {\n"
      "  (void)s, (void)x, (void)n, (void)m, (void)e;\n"
      "  y[0].dtype = D5_FLOAT32, y[0].rank = 1, y[0].dims[0] = -5;\n"
      "  return D5_OK;\n"
      "}\n"
      "static d5_status forward(void* s, const d5_call* c, d5_error* e) {\n"
      "  (void)s, (void)c, (void)e;\n"
      "  return D5_OK;\n"
      "}\n"
      "static const d5_operator operators[] = {\n"
      "    {.domain = \"test\", .name = \"Liar\", .since_version = 1, .infer = infer,\n"
      "     .forward = forward}};\n"
      "const d5_operator_table* d5_custom_operators(void) {\n"
      "  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), 1,\n"
      "                                          operators};\n"
      "  return &table;\n"
      "}\n";
  load_custom_operators(folder.library_of(liar, "liar"));
  CHECK_THROWS_AS(run_case("test.Liar@1 3"), ShapeError);
}

TEST_CASE("a library built before operators could ask for ranks is loaded as it is") {
  const fs::path source = source_dir() / "examples/101_custom_operator/log_cosh.cpp";
  BuildFolder folder;
  load_custom_operators(folder.library(source, "before", "tests/house/before/include"),
                        IfTaken::replace);
  CHECK(result_of("example.LogCosh@1 {0,1} scale=2")[1] == Approx(2 * std::log(std::cosh(1.0))));
  check_gradient("example.LogCosh@1 3x4 scale=2", 1);
}

TEST_CASE("an operator that asks for ranks fails if there are none") {
  source_dir();
  BuildFolder folder;
  const std::string asks =
      "#include <d5/abi.h>\n"
      "static d5_status create(const d5_node* node, void** self, d5_error* e) {\n"
      "  return node->communicator(node, 0, (const d5_communicator**)self, e);\n"
      "}\n"
      "static d5_status infer(const void* s, const d5_tensor* x, size_t n, d5_tensor_desc* y,\n"
      "                       size_t m, d5_error* e) {\n"
      "  (void)s, (void)n, (void)m, (void)e;\n"
      "  y[0].dtype = x[0].dtype, y[0].rank = 0;\n"
      "  return D5_OK;\n"
      "}\n"
      "static d5_status forward(void* s, const d5_call* c, d5_error* e) {\n"
      "  (void)s, (void)c, (void)e;\n"
      "  return D5_OK;\n"
      "}\n"
      "static const d5_operator operators[] = {\n"
      "    {.domain = \"test\", .name = \"Asks\", .since_version = 1, .create = create,\n"
      "     .infer = infer, .forward = forward}};\n"
      "const d5_operator_table* d5_custom_operators(void) {\n"
      "  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), 1,\n"
      "                                          operators};\n"
      "  return &table;\n"
      "}\n";
  load_custom_operators(folder.library_of(asks, "asks"));
  CHECK_THROWS_AS(run_case("test.Asks@1 3"), Unsupported);
  CHECK_THROWS_WITH(run_case("test.Asks@1 3"),
                    Catch::Matchers::Contains("test.Asks 'output0': communication group 'world' "
                                              "was asked for, but there are no ranks here"));
}
