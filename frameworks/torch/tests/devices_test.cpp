// SPDX-License-Identifier: Apache-2.0
// Torch's kernels on a second device: the stand-in (tests/standin), whose memory the host cannot
// touch and whose results arrive late.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "d5/level1_network/validation/network_check.hpp"
#include "tests/level0_ops/framework_suite.hpp"
#include "tests/level2_training/trained_lenet.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// It is loaded before torch, which registers kernels for the devices that it then knows.
Device standin() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "standin";
  setenv("D5_PLUGIN_PATH", folder.c_str(), 1);
  return device_from_name("standin:0");
}

}  // namespace

TEST_CASE("torch computes on a device what the reference computes") {
  const Device device = standin();
  const testing::FrameworkSuite suite("torch", D5_TORCH_TEST_DIR);
  testing::Exceptions exceptions(std::filesystem::path(D5_TORCH_TEST_DIR) /
                                 "standin_exceptions.txt");
  for (const auto& op_case : suite.cases_that_run(1)) {
    INFO(op_case.line);
    const auto records = test_forward(
        op_case, "torch",
        {.tolerance = ForwardTolerance{.relative = 1e-4, .absolute = 1e-5}, .device = device});
    REQUIRE_FALSE(records.empty());
    const bool lacks = exceptions.has("lacks " + op_case.line);
    for (const auto& record : records) {
      INFO(record.subject << ": " << record.metric << ": " << record.reason);
      CHECK(agrees(record) != lacks);
    }
  }
  exceptions.check_used();
}

TEST_CASE("networks on a device have the reference's outputs and gradients") {
  const Device device = standin();
  const testing::TemporaryFolder folder;
  // Attention by products and softmax, whose gradients are autograd's.
  const std::string encoder = folder / "encoder.onnx";
  models()
      .at("transformer-encoder")
      .make({{"layers", 1},
             {"width", 16},
             {"heads", 2},
             {"hidden", 32},
             {"vocabulary", 50},
             {"length", 8},
             {"with_loss", true}})
      .save(encoder);
  for (const std::string& model : {std::string("lenet"), std::string("resnet-20"), encoder}) {
    const auto records = check_network(
        model, {.frameworks = {"torch"}, .sizes = {.batch = 2}, .execution = {.device = device}});
    REQUIRE(records.size() > 1);
    for (const auto& record : records) {
      INFO(model << ": " << record.metric << ": " << record.reason);
      CHECK(record.status == Status::passed);
      CHECK(record.device == "standin:0");
    }
  }
}

TEST_CASE("LeNet trains on a device with the bits of torch on the host") {
  const Device device = standin();
  for (const char* optimizer : {"momentum", "adam"}) {
    d5::test::check_trains_alike(optimizer, {.frameworks = {"torch"}},
                                 {.frameworks = {"torch"}, .device = device});
  }
}

TEST_CASE("torch's own executors refuse a device by name") {
  const Device device = standin();
  for (const char* executor : {"torch:torch", "torch:script"}) {
    const auto records =
        check_network("lenet", {.frameworks = {executor}, .execution = {.device = device}});
    REQUIRE(records.size() == 1);
    CHECK(records.front().status == Status::unsupported);
    CHECK_THAT(records.front().reason, Catch::Contains("standin:0"));
  }
}
