// SPDX-License-Identifier: Apache-2.0
// Files made to do harm: each meets a typed error that names the file, and meets it soon.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

#include "d5/core/error.hpp"
#include "d5/core/tensor.hpp"
#include "messages.hpp"

namespace d5::onnx {
namespace {

namespace fs = std::filesystem;
using ::onnx::AttributeProto;
using ::onnx::ModelProto;
using ::onnx::TensorProto;

/// The error's words; its type is the test's to say. Fails if none came, or late.
template <class E>
std::string refusal(const std::function<void()>& act) {
  const auto start = std::chrono::steady_clock::now();
  std::string words;
  try {
    act();
    FAIL("nothing was refused");
  } catch (const E& error) {
    words = error.what();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  CHECK(elapsed.count() < 2);
  return words;
}

template <class E>
std::string refusal(const ModelProto& message, const LoadOptions& options = {}) {
  const std::string words = refusal<E>([&] { (void)parse_message(message, options); });
  CHECK_THAT(words, Catch::StartsWith("'test.onnx': "));
  return words;
}

TensorProto& add_weights(ModelProto& message, const std::vector<std::int64_t>& dims) {
  auto& tensor = *message.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(TensorProto::FLOAT);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

TEST_CASE("what is no model is refused") {
  for (const std::string text : {"", "hello",
                                 "\x7f"
                                 "ELF"}) {
    CHECK_THROWS_AS(parse(bytes_of(text), "f"), FormatError);
  }
  CHECK_THROWS_AS(load("/nowhere/model.onnx"), IoError);
  CHECK_THROWS_AS(load(fs::temp_directory_path().string()), IoError);
}

TEST_CASE("a file above the limit is not parsed") {
  LoadOptions options;
  options.most_file_bytes = 10;
  CHECK_THAT(refusal<FormatError>(relu_message(), options), Catch::Contains("most_file_bytes"));
}

TEST_CASE("versions that d5 does not know are refused, with a way out") {
  auto message = relu_message();
  SECTION("opset 29") {
    message.mutable_opset_import(0)->set_version(29);
    CHECK_THAT(refusal<Unsupported>(message),
               Catch::Contains("version 29 of ai.onnx") && Catch::Contains("version_converter"));
  }
  SECTION("IR version 15") {
    message.set_ir_version(15);
    CHECK_THAT(refusal<Unsupported>(message), Catch::Contains("IR version is 15"));
  }
  SECTION("opset 0") {
    message.mutable_opset_import(0)->set_version(0);
    refusal<FormatError>(message);
  }
  SECTION("no IR version") {
    message.clear_ir_version();
    refusal<FormatError>(message);
  }
  SECTION("another domain's") {
    auto& import = *message.add_opset_import();
    import.set_domain("ai.onnx.ml");
    import.set_version(99);
    CHECK_THAT(refusal<Unsupported>(message), Catch::Contains("ai.onnx.ml"));
  }
  SECTION("two versions of one domain") {
    *message.add_opset_import() = message.opset_import(0);
    message.mutable_opset_import(1)->set_domain("ai.onnx");
    message.mutable_opset_import(1)->set_version(7);
    refusal<FormatError>(message);
  }
}

TEST_CASE("every opset from 1 to the newest loads") {
  for (int opset = 1; opset <= kNewestOpset; ++opset) {
    auto message = relu_message();
    message.mutable_opset_import(0)->set_version(opset);
    CHECK(parse_message(message).graph.nodes.at(0).opset == opset);
  }
}

TEST_CASE("graphs that cannot run in their order are refused") {
  auto message = relu_message();
  auto& graph = *message.mutable_graph();
  SECTION("a cycle") {
    graph.mutable_node(0)->set_input(0, "h");
    add_node(graph, "Relu", {"y"}, {"h"});
  }
  SECTION("an undefined name") { graph.mutable_node(0)->set_input(0, "nobody"); }
  SECTION("a name written twice") { add_node(graph, "Tanh", {"x"}, {"y"}); }
  SECTION("an output that nobody writes") { graph.mutable_output(0)->set_name("z"); }
  SECTION("an output that is listed twice") { *graph.add_output() = graph.output(0); }
  SECTION("two initializers of one name") {
    for (int i = 0; i < 2; ++i) add_weights(message, {1}).add_float_data(1);
  }
  SECTION("an operator that ONNX does not know") { graph.mutable_node(0)->set_op_type("Rleu"); }
  SECTION("too many inputs") { graph.mutable_node(0)->add_input("x"); }
  SECTION("no graph") { message.clear_graph(); }
  refusal<FormatError>(message);
}

TEST_CASE("control characters in names are escaped in messages") {
  auto message = relu_message();
  SECTION("of a tensor") { message.mutable_graph()->mutable_node(0)->set_input(0, "\x1b[2J\n"); }
  SECTION("of a tensor, as one character of two bytes") {
    message.mutable_graph()->mutable_node(0)->set_input(0,
                                                        "\xc2\x9b"
                                                        "2J");
  }
  SECTION("of an output") {
    message.mutable_graph()->mutable_output(0)->set_name("\x1b]0;evil\x07");
    *message.mutable_graph()->add_output() = message.graph().output(0);
  }
  SECTION("of a node with a bad attribute") {
    auto& node = *message.mutable_graph()->mutable_node(0);
    node.set_op_type("Concat");
    node.set_name("\x1b[31mred");
    add_int(node, "axis", std::int64_t{1} << 62);
  }
  const std::string words = refusal<FormatError>(message);
  for (const char c : words) CHECK(static_cast<unsigned char>(c) >= 0x20);
  CHECK(words.find("\xc2\x9b") == std::string::npos);
}

TEST_CASE("dimensions that do not fit the data are refused before memory is taken") {
  auto message = relu_message();
  SECTION("more elements than data") { add_weights(message, {1000}).add_float_data(1); }
  SECTION("fewer elements than data") {
    add_weights(message, {2}).mutable_raw_data()->assign(12, 'x');
  }
  SECTION("a product that overflows") {
    add_weights(message, {std::int64_t{1} << 40, std::int64_t{1} << 40}).add_float_data(1);
  }
  SECTION("a negative one") { add_weights(message, {-1}).add_float_data(1); }
  SECTION("an unknown element type") { add_weights(message, {1}).set_data_type(99); }
  SECTION("nothing declared in an attribute") {
    auto& node = add_node(*message.mutable_graph(), "Constant", {}, {"c"});
    auto& tensor = *add_attribute(node, "value", AttributeProto::TENSOR).mutable_t();
    tensor.set_data_type(TensorProto::INT64);
    tensor.add_dims(std::int64_t{1} << 60);
  }
  refusal<FormatError>(message);
}

TEST_CASE("an element type that ONNX has and d5 has not is said to be so") {
  auto message = relu_message();
  add_weights(message, {1}).set_data_type(TensorProto::FLOAT6E2M3);
  message.mutable_graph()->mutable_initializer(0)->add_int32_data(1);
  CHECK_THAT(refusal<Unsupported>(message), Catch::Contains("floats of 6 bits"));
}

TEST_CASE("a sparse tensor that would fill the memory is refused") {
  auto message = relu_message();
  auto& sparse = *message.mutable_graph()->add_sparse_initializer();
  for (int i = 0; i < 2; ++i) sparse.add_dims(std::int64_t{1} << 28);
  auto& values = *sparse.mutable_values();
  values.set_name("w");
  values.set_data_type(TensorProto::FLOAT);
  values.add_dims(1);
  values.add_float_data(1);
  auto& indices = *sparse.mutable_indices();
  indices.set_data_type(TensorProto::INT64);
  indices.add_dims(1);
  indices.add_int64_data(3);
  CHECK_THAT(refusal<MemoryError>(message), Catch::Contains("memory budget"));
}

TEST_CASE("attributes that no operator can mean are refused") {
  auto message = model_message();
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "x", {1, 4, 8, 8});
  declare(*graph.add_input(), "w", {4, 4, 3, 3});
  declare(*graph.add_output(), "y", {1, 4, 8, 8});
  auto& node = add_node(graph, "Conv", {"x", "w"}, {"y"});
  node.set_name("conv1");
  const std::int64_t huge = std::int64_t{1} << 62;
  std::string attribute;
  SECTION("group 0") { add_int(node, attribute = "group", 0); }
  SECTION("a group below 0") { add_int(node, attribute = "group", -huge); }
  SECTION("a kernel of 2^62") { add_ints(node, attribute = "kernel_shape", {huge, huge}); }
  SECTION("a kernel of 0") { add_ints(node, attribute = "kernel_shape", {0, 3}); }
  SECTION("strides of 0") { add_ints(node, attribute = "strides", {0, 1}); }
  SECTION("negative dilations") { add_ints(node, attribute = "dilations", {-1, 1}); }
  SECTION("negative pads") { add_ints(node, attribute = "pads", {0, 0, -1, 0}); }
  SECTION("pads for another number of dimensions") {
    add_ints(node, "kernel_shape", {3, 3});
    add_ints(node, attribute = "pads", {1, 1});
  }
  const std::string words = refusal<FormatError>(message);
  CHECK_THAT(words, Catch::Contains("Conv 'conv1'") && Catch::Contains(attribute) &&
                        Catch::Contains("expected"));
}

TEST_CASE("attributes of other operators have their ranges too") {
  auto message = model_message(12);
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "x", {4, 4});
  declare(*graph.add_output(), "y", {4, 4});
  auto& node = add_node(graph, "", {"x"}, {"y"});
  const auto as = [&](const char* op_type) -> auto& {
    node.set_op_type(op_type);
    return node;
  };
  SECTION("negative splits") { add_ints(as("Split"), "split", {-4, 8}); }
  SECTION("a permutation that repeats itself") { add_ints(as("Transpose"), "perm", {0, 0}); }
  SECTION("a permutation out of range") { add_ints(as("Transpose"), "perm", {0, 2}); }
  SECTION("a cast to nothing") { add_int(as("Cast"), "to", 77); }
  SECTION("a cast to a number that no type has") {
    add_int(as("Cast"), "to", (std::int64_t{1} << 32) + 1);
  }
  SECTION("blocks of 0") { add_int(as("SpaceToDepth"), "blocksize", 0); }
  SECTION("a keepdims of 2") { add_int(as("ReduceMax"), "keepdims", 2); }
  SECTION("random numbers without end") {
    node.clear_input();
    add_ints(as("RandomNormal"), "shape", {std::int64_t{1} << 31, std::int64_t{1} << 31});
  }
  SECTION("a node in a subgraph") {
    as("Relu");
    auto& inner =
        *add_attribute(add_node(graph, "If", {"x"}, {"z"}), "then_branch", AttributeProto::GRAPH)
             .mutable_g();
    inner.set_name("i");
    add_int(add_node(inner, "SpaceToDepth", {"x"}, {"s"}), "blocksize", -1);
    inner.add_output()->set_name("s");
    auto& other = *graph.mutable_node(1)->add_attribute();
    other = graph.node(1).attribute(0);
    other.set_name("else_branch");
  }
  refusal<FormatError>(message);
}

/// `levels` functions, each of which calls the next `calls` times.
ModelProto function_bomb(int levels, int calls) {
  auto message = relu_message();
  auto& import = *message.add_opset_import();
  import.set_domain("f");
  import.set_version(1);
  for (int level = 0; level < levels; ++level) {
    auto& function = *message.add_functions();
    function.set_name("F" + std::to_string(level));
    function.set_domain("f");
    function.add_input("t0");
    function.add_output("t" + std::to_string(calls));
    *function.add_opset_import() = message.opset_import(0);
    *function.add_opset_import() = import;
    for (int i = 0; i < calls; ++i) {
      const bool last = level + 1 == levels;
      auto& node = add_node(function, last ? "Relu" : "F" + std::to_string(level + 1),
                            {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)});
      if (!last) node.set_domain("f");
    }
  }
  auto& call = *message.mutable_graph()->mutable_node(0);
  call.set_op_type("F0");
  call.set_domain("f");
  return message;
}

TEST_CASE("functions that expand without bound are refused before they expand") {
  SECTION("9 levels of 9 calls") {
    CHECK_THAT(refusal<FormatError>(function_bomb(9, 9)), Catch::Contains("387420489 nodes"));
  }
  SECTION("so many that the number overflows") {
    CHECK_THAT(refusal<FormatError>(function_bomb(90, 9)), Catch::Contains("nodes"));
  }
  SECTION("a chain without branches") {
    CHECK_THAT(refusal<FormatError>(function_bomb(3000, 1)), Catch::Contains("more than 100"));
  }
  SECTION("a function that calls itself") {
    auto message = function_bomb(3, 2);
    message.mutable_functions(2)->mutable_node(0)->set_op_type("F0");
    message.mutable_functions(2)->mutable_node(0)->set_domain("f");
    CHECK_THAT(refusal<FormatError>(message), Catch::Contains("calls itself"));
  }
  SECTION("few nodes with large constants") {
    auto message = function_bomb(5, 9);
    auto& leaf = *message.mutable_functions(4)->mutable_node(0);
    leaf.set_doc_string(std::string(std::size_t{1} << 20, 'x'));
    const std::size_t budget = memory_budget();
    set_memory_budget(std::size_t{1} << 30);
    refusal<MemoryError>(message);
    set_memory_budget(budget);
  }
  SECTION("within the limit they are inlined") {
    CHECK(parse_message(function_bomb(3, 9)).graph.nodes.size() == 729);
  }
}

/// If in If in If, each in both branches' place.
ModelProto nested(int depth, const char* op_type = "If") {
  auto message = relu_message();
  declare(*message.mutable_graph()->add_input(), "b", {}, TensorProto::BOOL);
  ::onnx::GraphProto graph;
  graph.set_name("i");
  add_node(graph, "Relu", {"x"}, {"leaf"});
  graph.add_output()->set_name("leaf");
  for (int level = 0; level < depth; ++level) {
    ::onnx::GraphProto outer;
    outer.set_name("i");
    const std::string name = "t" + std::to_string(level);
    const bool last = level + 1 == depth;
    auto& holder = last ? *message.mutable_graph() : outer;
    if (std::string(op_type) == "If") {
      auto& node = add_node(holder, "If", {"b"}, {name});
      ::onnx::GraphProto other;
      other.set_name("e");
      add_node(other, "Relu", {"x"}, {"e" + std::to_string(level)});
      other.add_output()->set_name("e" + std::to_string(level));
      *add_attribute(node, "then_branch", AttributeProto::GRAPH).mutable_g() = graph;
      *add_attribute(node, "else_branch", AttributeProto::GRAPH).mutable_g() = other;
    } else {
      auto& node = add_node(holder, "Loop", {"", "b", "x"}, {name});
      const std::string id = std::to_string(level);
      declare(*graph.add_input(), "n" + id, {}, TensorProto::INT64);
      declare(*graph.add_input(), "c" + id, {}, TensorProto::BOOL);
      declare(*graph.add_input(), "s" + id, {2, 3});
      add_node(graph, "Identity", {"c" + id}, {"o" + id});
      ::onnx::ValueInfoProto value = graph.output(0);
      graph.clear_output();
      graph.add_output()->set_name("o" + id);
      *graph.add_output() = value;
      *add_attribute(node, "body", AttributeProto::GRAPH).mutable_g() = graph;
    }
    outer.add_output()->set_name(name);
    graph = outer;
  }
  return message;
}

TEST_CASE("subgraphs may nest, but not without end") {
  for (const char* op_type : {"If", "Loop"}) {
    INFO(op_type);
    CHECK_NOTHROW(parse_message(nested(20, op_type)));
    LoadOptions options;
    options.most_nesting = 10;
    CHECK_THAT(refusal<FormatError>(nested(11, op_type), options), Catch::Contains("nest 11 deep"));
    CHECK_NOTHROW(parse_message(nested(10, op_type), options));
    refusal<FormatError>(nested(200, op_type));
  }
}

TEST_CASE("types that nest without end are refused") {
  auto message = relu_message();
  auto* type = message.mutable_graph()->mutable_input(0)->mutable_type();
  for (int i = 0; i < 5000; ++i) type = type->mutable_sequence_type()->mutable_elem_type();
  refusal<FormatError>(message);
}

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("d5_hostile_test_" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_ / "model");
    write("outside.bin", "0123456789abcdef");
    write("model/inside.bin", "0123456789abcdef");
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] fs::path path() const { return path_; }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
  }

 private:
  fs::path path_;
};

struct External {
  std::string location, offset = "", length = "";
  std::int64_t elements = 4;
};

std::string save_external(const Folder& folder, const External& external) {
  auto message = relu_message();
  auto& tensor = add_weights(message, {external.elements});
  tensor.set_data_location(TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", external.location);
  add("offset", external.offset);
  add("length", external.length);
  folder.write("model/model.onnx", message.SerializeAsString());
  return (folder.path() / "model/model.onnx").string();
}

TEST_CASE("external data is read from inside the model's folder") {
  const Folder folder;
  const auto path = save_external(folder, {"inside.bin", "4", "8", 2});
  const Model model = load(path);
  CHECK(std::string(static_cast<const char*>(model.graph.initializers.at("w").raw()), 8) ==
        "456789ab");
  // Many tensors may name the same bytes; together they meet the memory budget.
  const std::size_t budget = memory_budget();
  set_memory_budget(7);
  CHECK_THROWS_AS(load(path), MemoryError);
  set_memory_budget(budget);
}

TEST_CASE("external data elsewhere is refused") {
  const Folder folder;
  const auto refused = [&](const External& external) {
    const auto path = save_external(folder, external);
    refusal<Error>([&] { (void)load(path); });
  };
  SECTION("by an absolute path") { refused({(folder.path() / "outside.bin").string()}); }
  SECTION("by climbing out") { refused({"../outside.bin"}); }
  SECTION("by climbing out and in again") { refused({"../model/inside.bin"}); }
  SECTION("through a link") {
    fs::create_symlink(folder.path() / "outside.bin", folder.path() / "model/link.bin");
    refused({"link.bin"});
  }
  SECTION("through a link to a folder") {
    fs::create_directory_symlink(folder.path(), folder.path() / "model/up");
    refused({"up/outside.bin"});
  }
  SECTION("in a folder") {
    fs::create_directory(folder.path() / "model/sub");
    refused({"sub"});
  }
  SECTION("in a device") { refused({"/dev/zero"}); }
  SECTION("in a pipe") {
    REQUIRE(::mkfifo((folder.path() / "model/pipe").c_str(), 0600) == 0);
    refused({"pipe"});
  }
  SECTION("in no file") { refused({"missing.bin"}); }
  SECTION("past the end") { refused({"inside.bin", "8", "16"}); }
  SECTION("at an offset that overflows") { refused({"inside.bin", "18446744073709551615", "16"}); }
  SECTION("at a negative offset") { refused({"inside.bin", "-4", "16"}); }
  SECTION("with a length that is not the tensor's") { refused({"inside.bin", "0", "8"}); }
  SECTION("larger than the file") { refused({"inside.bin", "", "", std::int64_t{1} << 40}); }
  SECTION("of a model from memory") {
    save_external(folder, {"inside.bin"});
    std::ifstream file(folder.path() / "model/model.onnx", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    CHECK_THROWS_AS(parse(bytes_of(bytes), "memory"), FormatError);
  }
}

}  // namespace
}  // namespace d5::onnx
