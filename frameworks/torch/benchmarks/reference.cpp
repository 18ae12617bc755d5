// SPDX-License-Identifier: Apache-2.0
// How far the reference is behind torch: Conv and Gemm on sizes from DeepBench's training suite,
// and inference of ResNet-50, interleaved. Prints the ratio of times, reference over torch.
//
//     bench_torch_reference [THREADS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "d5/core/framework.hpp"
#include "d5/core/measurement.hpp"
#include "d5/core/random.hpp"
#include "d5/core/threads.hpp"
#include "d5/level0_ops/level0_ops.hpp"
#include "d5/level1_network/level1_network.hpp"

namespace {

void compare(const std::string& what, const std::function<void()>& reference,
             const std::function<void()>& torch) {
  const auto times = d5::measure_interleaved({{"reference", reference}, {"torch", torch}},
                                             {.warmup = 1, .most_seconds = 30});
  const auto result = d5::compare(times[0].samples, times[1].samples);
  std::printf("%-72s %7.2f [%.2f, %.2f], torch %.3f ms%s%s\n", what.c_str(), result.ratio,
              result.ratio_interval.low, result.ratio_interval.high,
              1e3 * d5::summarise(times[1].samples).median, times[0].reason.empty() ? "" : "; ",
              times[0].reason.c_str());
}

void compare_operator(const std::string& line) {
  const auto op_case = d5::parse_case(line, 1);
  const auto runner = [&](const char* framework) {
    return d5::OperatorRunner(d5::framework(framework).part<d5::OperatorRegistry>(), op_case.node,
                              op_case.inputs);
  };
  auto reference = runner("reference"), torch = runner("torch");
  compare(line, [&] { reference.forward(); }, [&] { torch.forward(); });
}

void compare_resnet() {
  const auto executor = [](const char* framework) {
    return d5::make_executor(d5::models().at("resnet-50").make({{"seed", 1}}),
                             {.frameworks = {framework, "reference"}});
  };
  const auto reference = executor("reference"), torch = executor("torch");
  d5::Tensor image = d5::Tensor::empty(d5::DType::float32, {1, 3, 224, 224});
  d5::RandomStream random(1);
  for (float& value : image.span<float>()) value = random.normal();
  const d5::ValueMap inputs{{reference->network().input_names().at(0), image}};
  compare(
      "ResNet-50, inference of one image", [&] { reference->inference(inputs); },
      [&] { torch->inference(inputs); });
}

}  // namespace

int main(int argc, char** argv) {
  d5::set_threads(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
  std::printf("%d threads; time of the reference over torch's\n", d5::threads());
  for (const char* line : {
           "Gemm 1760x1760 1760x16",
           "Gemm 1760x1760 1760x128",
           "Gemm 512x512 512x512",
           "Conv 4x3x112x112 64x3x7x7 pads=3x3x3x3 strides=2x2",
           "Conv 4x64x56x56 64x64x3x3 pads=1x1x1x1",
           "Conv 4x256x14x14 256x256x3x3 pads=1x1x1x1",
           "Conv 4x512x7x7 2048x512x1x1",
       }) {
    compare_operator(line);
  }
  compare_resnet();
}
