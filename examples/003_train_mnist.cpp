// SPDX-License-Identifier: Apache-2.0
// Trains LeNet, part by part, on the sample of MNIST included in d5, and prints the results.
#include <d5/d5.hpp>
#include <iostream>

int main() {
  const auto data = d5::open_dataset(
      "mnist", {{"subset", "sample"}, {"train_samples", 1200}, {"test_samples", 200}});
  const auto train =
      d5::samplers().at("shuffle").make(data.train, {{"batch_size", 32}, {"seed", 1}});
  const auto test = d5::samplers().at("ordered").make(data.test, {{"batch_size", 100}});

  d5::Network network = d5::models().at("lenet").make({{"seed", 1}, {"with_loss", true}});
  const auto optimizer =
      d5::optimizers().at("adam").make(d5::make_executor(std::move(network)), "loss");

  d5::Trainer trainer(*optimizer, *train, test.get(), {.epochs = 2});
  const auto accuracy = std::make_shared<d5::TestAccuracy>();
  const auto time = std::make_shared<d5::EpochTime>();
  trainer.events().add(accuracy);
  trainer.events().add(time);
  trainer.run();

  for (std::size_t epoch = 0; epoch < accuracy->samples().size(); ++epoch) {
    std::cout << "epoch " << epoch + 1 << ": " << time->samples()[epoch] << " s, test accuracy "
              << accuracy->samples()[epoch] << '\n';
  }
  return accuracy->samples().back() > 0.6 ? 0 : 1;
}
