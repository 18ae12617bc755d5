// SPDX-License-Identifier: Apache-2.0
// Network models of frameworks.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "tests/prediction/simple_cluster.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

/// The simplest model: a message arrives after a second.
class SecondNetwork final : public SimulatedNetwork {
 public:
  SecondNetwork(const ClusterDescription&, int) {}
  void start(const SimulatedMessage& message, double now) override {
    under_way_.push_back({message.id, What::sent, now + 1});
    under_way_.push_back({message.id, What::arrived, now + 1});
  }
  bool advance(double limit, std::vector<Change>& changes) override {
    if (under_way_.empty() || under_way_.front().time > limit) return false;
    changes.assign(1, under_way_.front());
    under_way_.erase(under_way_.begin());
    return true;
  }

 private:
  std::vector<Change> under_way_;
};

TEST_CASE("a framework's network is simulated over by the framework's name") {
  add_framework("seconds", "1", [](Framework& framework) {
    framework.part<NativeNetworks>().add("seconds",
                                         SimulatedNetworkEntry::of<SecondNetwork>("a second"));
  });
  CHECK(find_simulated_network("seconds").summary() == "a second");
  SimulationOptions options;
  options.model = {"seconds"};
  const auto report = run_simulated(
      2, simple_cluster(2),
      [](SimulatedRank& self, const std::shared_ptr<Communicator>& ranks) {
        Tensor data = Tensor::zeros(DType::float32, {1});
        if (self.rank() == 0) ranks->send(data, 1);
        if (self.rank() == 1) ranks->receive(data, 0);
      },
      options);
  CHECK(report.seconds == 1);
}

TEST_CASE("a network whose framework is absent is an error with the reason and a way out") {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "d5_framework_nowhere.left_out") << "it was not installed\n";
  setenv("D5_PLUGIN_PATH", folder.path().c_str(), 1);
  CHECK_THROWS_AS(find_simulated_network("nowhere"), Unsupported);
  CHECK_THROWS_WITH(find_simulated_network("nowhere"),
                    Catch::Contains("it was not installed") && Catch::Contains("'ports'"));
  unsetenv("D5_PLUGIN_PATH");
  CHECK_THROWS_WITH(find_simulated_network("prots"), Catch::Contains("ports"));
}

}  // namespace
}  // namespace d5
