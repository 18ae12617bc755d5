// SPDX-License-Identifier: Apache-2.0
// A convolution and a matrix product through d5's plan, beside the calls of oneDNN that somebody
// would write by hand: weights reordered once, images in rows on both ends.
#include <oneapi/dnnl/dnnl.hpp>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/random.hpp"
#include "d5/level1_network/graph_executor.hpp"

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr std::int64_t kImages = 1, kChannels = 64, kSize = 56, kSquare = 512;

const dnnl::engine& processor() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

d5::Tensor random_tensor(const d5::Shape& shape) {
  d5::Tensor result = d5::Tensor::empty(d5::DType::float32, shape);
  d5::RandomStream random(1, 0);
  for (float& value : result.span<float>()) value = random.normal();
  return result;
}

memory::desc described(const d5::Tensor& tensor, Tag tag) {
  const auto dims = tensor.shape().dims();
  return {{dims.begin(), dims.end()}, memory::data_type::f32, tag};
}
memory::desc any(const d5::Tensor& tensor) { return described(tensor, Tag::any); }

/// The tensor's own memory, in rows.
memory rows(d5::Tensor& tensor) {
  return {described(tensor, tensor.shape().rank() == 4 ? Tag::abcd : Tag::ab), processor(),
          tensor.raw()};
}

/// What runs one after another; `keep` is what it uses.
struct Calls {
  std::vector<std::pair<dnnl::primitive, std::unordered_map<int, memory>>> all;
  std::vector<d5::Tensor> keep;
  dnnl::stream stream{processor()};

  void reorder(const memory& from, const memory& to) {
    all.push_back({dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
  }
  void run() {
    for (const auto& [primitive, arguments] : all) primitive.execute(stream, arguments);
    stream.wait();
  }
};

memory reordered_once(const memory& from, const memory::desc& desc) {
  memory to(desc, processor());
  Calls once;
  once.reorder(from, to);
  once.run();
  return to;
}

d5::Subject convolution_by_hand() {
  const auto calls = std::make_shared<Calls>();
  d5::Tensor x = random_tensor({kImages, kChannels, kSize, kSize});
  d5::Tensor w = random_tensor({kChannels, kChannels, 3, 3}), y = x.copy();
  calls->keep = {x, w, y};
  const dnnl::convolution_forward::primitive_desc desc(
      processor(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, any(x),
      any(w), any(y), {1, 1}, {1, 1}, {1, 1});
  const memory source(desc.src_desc(), processor()), result(desc.dst_desc(), processor());
  const memory weights = reordered_once(rows(w), desc.weights_desc());
  calls->reorder(rows(x), source);
  calls->all.push_back(
      {dnnl::convolution_forward(desc),
       {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}}});
  calls->reorder(result, rows(y));
  return {.run = [calls] { calls->run(); }};
}

d5::Subject product_by_hand() {
  const auto calls = std::make_shared<Calls>();
  d5::Tensor a = random_tensor({kSquare, kSquare}), b = a.copy(), y = a.copy();
  calls->keep = {a, b, y};
  const dnnl::matmul::primitive_desc desc(processor(), described(a, Tag::ab), any(b),
                                          described(y, Tag::ab));
  const memory weights = reordered_once(rows(b), desc.weights_desc());
  calls->all.push_back(
      {dnnl::matmul(desc),
       {{DNNL_ARG_SRC, rows(a)}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, rows(y)}}});
  return {.run = [calls] { calls->run(); }};
}

d5::Subject plan(const std::string& op_type, const d5::Tensor& x, const d5::Tensor& w,
                 std::map<std::string, d5::onnx::Attribute, std::less<>> attributes = {}) {
  d5::Network network(op_type);
  std::vector<d5::onnx::Dim> dims;
  for (const std::int64_t dim : x.shape()) dims.emplace_back(dim);
  network.add_input("x", d5::DType::float32, dims);
  network.add_parameter("w", w);
  network.add_node(op_type, {"x", "w"}, {"y"}, std::move(attributes));
  network.add_output("y");
  const std::shared_ptr<d5::GraphExecutor> executor =
      d5::make_executor(network, {.frameworks = {"onednn"}});
  const d5::ValueMap inputs{{"x", x}};
  return {.run = [executor, inputs] { (void)executor->inference(inputs); }};
}

d5::Subject convolution() {
  return plan("Conv", random_tensor({kImages, kChannels, kSize, kSize}),
              random_tensor({kChannels, kChannels, 3, 3}),
              {{"pads", std::vector<std::int64_t>(4, 1)}});
}
d5::Subject product() {
  return plan("MatMul", random_tensor({kSquare, kSquare}), random_tensor({kSquare, kSquare}));
}

}  // namespace

int main(int argc, char** argv) {
  (void)d5::framework("onednn");  // one library for both
  d5::benchmarks::add("convolution_64x56x56",
                      {{"by_hand", convolution_by_hand}, {"plan", convolution}});
  d5::benchmarks::add("product_512", {{"by_hand", product_by_hand}, {"plan", product}});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
