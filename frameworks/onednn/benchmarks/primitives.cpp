// SPDX-License-Identifier: Apache-2.0
// Compares convolutions and matrix products in d5 with hand-written calls of oneDNN: weights of
// inference are reordered once, everything else is row-major at both ends of every call. One table
// of ratios: `bench_onednn_primitives --benchmark_filter=ratio`.
#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level0_ops/bench/bench.hpp"
#include "d5/level1_network/source/model_source.hpp"

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Passes = d5::BenchOptions::Passes;

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
memory::desc in_rows(const d5::Tensor& tensor) {
  return described(tensor, tensor.shape().rank() == 4 ? Tag::abcd : Tag::ab);
}

/// The tensor's own memory.
memory rows(d5::Tensor& tensor) { return {in_rows(tensor), processor(), tensor.raw()}; }
/// The transpose of the tensor's own memory.
memory turned(d5::Tensor& tensor) {
  return {in_rows(tensor).permute_axes({1, 0}), processor(), tensor.raw()};
}

/// Calls run one after another; `keep` owns what they use.
struct Calls {
  std::vector<std::pair<dnnl::primitive, std::unordered_map<int, memory>>> all;
  std::vector<d5::Tensor> keep;
  dnnl::stream stream{processor()};

  void add(const dnnl::primitive& primitive, const std::unordered_map<int, memory>& arguments) {
    all.emplace_back(primitive, arguments);
  }
  void reorder(const memory& from, const memory& to) {
    add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }
  /// `from`, reordered in each run if `desc` is another layout.
  memory read(const memory& from, const memory::desc& desc) {
    if (from.get_desc() == desc) return from;
    const memory to(desc, processor());
    reorder(from, to);
    return to;
  }
  /// Memory that a primitive writes as `desc`; `write_back` reorders it to `to`.
  memory write(const memory& to, const memory::desc& desc) {
    return to.get_desc() == desc ? to : memory(desc, processor());
  }
  void write_back(const memory& from, const memory& to) {
    if (from.get_data_handle() != to.get_data_handle()) reorder(from, to);
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

d5::Subject subject_of(const std::shared_ptr<Calls>& calls) {
  return {.run = [calls] { calls->run(); }};
}

/// 3x3, stride 1, padded by 1, as many channels out as in.
struct Convolution {
  std::int64_t images, channels, size;

  [[nodiscard]] std::string line() const {
    return fmt::format("Conv {0}x{1}x{2}x{2} {1}x{1}x3x3 pads=1x1x1x1", images, channels, size);
  }
  [[nodiscard]] d5::Tensor x() const { return random_tensor({images, channels, size, size}); }
  [[nodiscard]] d5::Tensor w() const { return random_tensor({channels, channels, 3, 3}); }

  [[nodiscard]] d5::Subject by_hand(Passes pass) const {
    constexpr auto kAuto = dnnl::algorithm::convolution_auto;
    const memory::dims one = {1, 1};
    const auto calls = std::make_shared<Calls>();
    d5::Tensor x = this->x(), w = this->w(), y = x.copy();
    calls->keep = {x, w, y};
    const auto kind = pass == Passes::forward ? dnnl::prop_kind::forward_inference
                                              : dnnl::prop_kind::forward_training;
    const dnnl::convolution_forward::primitive_desc forward(processor(), kind, kAuto, any(x),
                                                            any(w), any(y), one, one, one);
    if (pass == Passes::forward) {
      const memory source = calls->read(rows(x), forward.src_desc());
      const memory weights = reordered_once(rows(w), forward.weights_desc());
      const memory result = calls->write(rows(y), forward.dst_desc());
      calls->add(dnnl::convolution_forward(forward),
                 {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}});
      calls->write_back(result, rows(y));
    } else if (pass == Passes::backward_data) {
      const dnnl::convolution_backward_data::primitive_desc desc(processor(), kAuto, any(x), any(w),
                                                                 any(y), one, one, one, forward);
      const memory weights = calls->read(rows(w), desc.weights_desc());
      const memory dy = calls->read(rows(y), desc.diff_dst_desc());
      const memory dx = calls->write(rows(x), desc.diff_src_desc());
      calls->add(dnnl::convolution_backward_data(desc),
                 {{DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}});
      calls->write_back(dx, rows(x));
    } else {
      const dnnl::convolution_backward_weights::primitive_desc desc(
          processor(), kAuto, any(x), any(w), any(y), one, one, one, forward);
      const memory source = calls->read(rows(x), desc.src_desc());
      const memory dy = calls->read(rows(y), desc.diff_dst_desc());
      const memory dw = calls->write(rows(w), desc.diff_weights_desc());
      calls->add(dnnl::convolution_backward_weights(desc),
                 {{DNNL_ARG_SRC, source}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, dw}});
      calls->write_back(dw, rows(w));
    }
    return subject_of(calls);
  }
};

/// Shapes: a rows,depth; b depth,columns.
struct Product {
  std::int64_t rows_of_a, depth, columns;

  [[nodiscard]] std::string line() const {
    return fmt::format("MatMul {}x{} {}x{}", rows_of_a, depth, depth, columns);
  }
  [[nodiscard]] d5::Tensor x() const { return random_tensor({rows_of_a, depth}); }
  [[nodiscard]] d5::Tensor w() const { return random_tensor({depth, columns}); }

  [[nodiscard]] d5::Subject by_hand(Passes pass) const {
    const auto calls = std::make_shared<Calls>();
    d5::Tensor a = x(), b = w(), y = random_tensor({rows_of_a, columns});
    calls->keep = {a, b, y};
    memory left = rows(a), right = rows(b), result = rows(y);
    if (pass == Passes::forward) {
      const dnnl::matmul::primitive_desc wanted(processor(), in_rows(a), any(b), in_rows(y));
      right = reordered_once(right, wanted.weights_desc());
    } else if (pass == Passes::backward_data) {
      left = rows(y), right = turned(b), result = rows(a);
    } else {
      left = turned(a), right = rows(y), result = rows(b);
    }
    const dnnl::matmul::primitive_desc desc(processor(), left.get_desc(), right.get_desc(),
                                            result.get_desc());
    calls->add(dnnl::matmul(desc),
               {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, result}});
    return subject_of(calls);
  }
};

d5::Subject inference(const std::string& line) {
  const d5::Network network = d5::open_model(line);
  const std::shared_ptr<d5::GraphExecutor> executor =
      d5::make_executor(network, {.frameworks = {"onednn"}});
  return {.run = [executor, inputs = d5::random_inputs(network)] {
    (void)executor->inference(inputs);
  }};
}

template <class Problem>
void add(const Problem& problem) {
  const std::string line = problem.line();
  d5::benchmarks::add(line + "/forward",
                      {{"by_hand", [=] { return problem.by_hand(Passes::forward); }},
                       {"d5", [=] { return inference(line); }}});
  for (const Passes pass : {Passes::backward_data, Passes::backward_weights}) {
    d5::benchmarks::add(
        line + (pass == Passes::backward_data ? "/backward-data" : "/backward-weights"),
        {{"by_hand", [=] { return problem.by_hand(pass); }},
         {"d5", [=] { return d5::operator_subject(d5::parse_case(line), "onednn", pass); }}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  (void)d5::framework("onednn");  // one library for both
  add(Convolution{.images = 1, .channels = 64, .size = 56});
  add(Convolution{.images = 16, .channels = 256, .size = 14});
  add(Product{.rows_of_a = 512, .depth = 512, .columns = 512});
  add(Product{.rows_of_a = 35, .depth = 2048, .columns = 4096});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
