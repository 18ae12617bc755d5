// SPDX-License-Identifier: Apache-2.0
// Damaged files: each is refused by a d5::Error, or read, in bounded time. A crash ends this
// program, and any other exception fails it.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <random>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "messages.hpp"

namespace d5::onnx {
namespace {

using Clock = std::chrono::steady_clock;
using ::onnx::AttributeProto;

void add_constant(::onnx::GraphProto& graph, const std::string& name,
                  const std::vector<std::int64_t>& values) {
  auto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::INT64);
  tensor.add_dims(std::int64_t(values.size()));
  tensor.mutable_int64_data()->Assign(values.begin(), values.end());
}

/// Some hundred bytes with what a file can hold: attributes, weights, a subgraph.
std::string network() {
  auto message = model_message();
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "x", {1, 2, 4, 4});
  declare(*graph.add_output(), "y", {2, 8});
  auto& weights = *graph.add_initializer();
  weights.set_name("w");
  weights.set_data_type(::onnx::TensorProto::INT4);
  for (const int dim : {1, 2, 3, 3}) weights.add_dims(dim);
  weights.set_raw_data(std::string(9, '\x21'));
  add_constant(graph, "s", {2, -1});
  auto& cast = add_node(graph, "Cast", {"w"}, {"v"});
  add_int(cast, "to", 1);
  auto& conv = add_node(graph, "Conv", {"x", "v"}, {"c"});
  add_ints(conv, "kernel_shape", {3, 3});
  add_ints(conv, "pads", {1, 1, 1, 1});
  add_int(conv, "group", 1);
  auto& choice = add_node(graph, "If", {"b"}, {"r"});
  declare(*graph.add_input(), "b", {}, ::onnx::TensorProto::BOOL);
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& inner = *add_attribute(choice, branch, AttributeProto::GRAPH).mutable_g();
    inner.set_name("i");
    add_node(inner, "Relu", {"c"}, {branch});
    inner.add_output()->set_name(branch);
  }
  add_node(graph, "Reshape", {"r", "s"}, {"y"});
  return message.SerializeAsString();
}

/// A file whose functions call each other.
std::string functions() {
  auto message = relu_message();
  auto& import = *message.add_opset_import();
  import.set_domain("f");
  import.set_version(1);
  for (const char* name : {"F", "G"}) {
    auto& function = *message.add_functions();
    function.set_name(name);
    function.set_domain("f");
    function.add_input("a");
    function.add_output("b");
    function.add_attribute("k");
    *function.add_opset_import() = message.opset_import(0);
    *function.add_opset_import() = import;
    if (*name == 'F') {
      auto& call = add_node(function, "G", {"a"}, {"b"});
      call.set_domain("f");
      add_attribute(call, "k", AttributeProto::INT).set_ref_attr_name("k");
    } else {
      auto& concat = add_node(function, "Concat", {"a", "a"}, {"b"});
      add_attribute(concat, "axis", AttributeProto::INT).set_ref_attr_name("k");
    }
  }
  auto& call = *message.mutable_graph()->mutable_node(0);
  call.set_op_type("F");
  call.set_domain("f");
  add_int(call, "k", 1);
  return message.SerializeAsString();
}

struct MutationCount {
  int read = 0, refused = 0;
  double slowest_seconds = 0;
};

/// Anything but a d5::Error ends the test.
void try_to_read(const std::string& bytes, MutationCount& count) {
  const std::clock_t start = std::clock();
  try {
    const ModelFile model = parse_file(bytes_of(bytes), "damaged.onnx");
    (void)serialize(model);
    ++count.read;
  } catch (const Error&) {
    ++count.refused;
  }
  count.slowest_seconds =
      std::max(count.slowest_seconds, double(std::clock() - start) / CLOCKS_PER_SEC);
}

/// What one damaged file may take of the processor; a sound one takes below a millisecond.
constexpr double kMostSeconds = 2;

/// A file may ask for this much, whatever the machine has: damage that reads as a size shows soon.
class SmallBudget {
 public:
  SmallBudget() : before_(memory_budget()) { set_memory_budget(std::size_t{64} << 20); }
  ~SmallBudget() { set_memory_budget(before_); }

 private:
  std::size_t before_;
};

TEST_CASE("every truncation is read or refused") {
  const SmallBudget budget;
  for (const std::string& bytes : {network(), functions()}) {
    CHECK_NOTHROW(parse(bytes_of(bytes), "sound.onnx"));
    MutationCount count;
    for (std::size_t size = 0; size < bytes.size(); ++size)
      try_to_read(bytes.substr(0, size), count);
    CHECK(count.refused > 0);
    CHECK(count.slowest_seconds < kMostSeconds);
  }
}

TEST_CASE("every flip of one bit is read or refused") {
  const SmallBudget budget;
  for (std::string bytes : {network(), functions()}) {
    CHECK(bytes.size() >= 200);
    CHECK(bytes.size() <= 600);
    MutationCount count;
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << (bit % 8)));
      try_to_read(bytes, count);
      bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << (bit % 8)));
    }
    CHECK(count.read > 0);
    CHECK(count.refused > 0);
    CHECK(count.slowest_seconds < kMostSeconds);
  }
}

TEST_CASE("random damage to several bytes is read or refused") {
  const SmallBudget budget;
  const std::string sound[] = {network(), functions()};
  std::mt19937_64 random(500);  // the same damage in every run, as far as time allows
  const auto below = [&](std::size_t n) { return std::size_t(random() % n); };
  MutationCount count;
  const auto end = Clock::now() + std::chrono::seconds(3);
  for (int i = 0; i < 200'000 && Clock::now() < end; ++i) {
    std::string bytes = sound[below(2)];
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
      const std::size_t place = below(bytes.size());
      switch (below(4)) {
        case 0:
          bytes[place] = char(random());
          break;
        case 1:
          bytes.insert(place, 1 + below(8), char(random()));
          break;
        case 2:
          bytes.erase(place, 1 + below(8));
          break;
        default: {
          const std::string piece = bytes.substr(place, 1 + below(40));
          bytes.insert(below(bytes.size()), piece);
        }
      }
      if (bytes.empty()) bytes = "\x08";
    }
    try_to_read(bytes, count);
  }
  INFO(count.read << " read, " << count.refused << " refused");
  CHECK(count.refused > 1000);
  CHECK(count.slowest_seconds < kMostSeconds);
}

TEST_CASE("damaged values are read or refused") {
  Type type;
  type.kind = ValueKind::sequence;
  const Sequence sequence{TensorDesc{DType::float32, {2}},
                          {Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({0}, {})}};
  std::string bytes = serialize_value(sequence, "s");
  int refused = 0;
  const auto read = [&](const std::string& text) {
    try {
      (void)parse_value(bytes_of(text), type, "damaged.pb");
    } catch (const Error&) {
      ++refused;
    }
  };
  for (std::size_t size = 0; size < bytes.size(); ++size) read(bytes.substr(0, size));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << (bit % 8)));
    read(bytes);
    bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << (bit % 8)));
  }
  CHECK(refused > 0);
}

}  // namespace
}  // namespace d5::onnx
