# SPDX-License-Identifier: Apache-2.0
# LeNet on MNIST in ten lines. dataset("mnist", data="folder") takes the whole set.
import d5

mnist = d5.dataset("mnist")
executor = d5.executor(d5.model("lenet", with_loss=True))
optimizer = d5.optimizer("momentum", executor, learning_rate=0.05)
train = d5.sampler("shuffle", mnist.train, batch_size=64)
test = d5.sampler("ordered", mnist.test, batch_size=500)
accuracy = d5.training_metric("test_accuracy")
trainer = d5.Trainer(optimizer, train, test, epochs=2)
trainer.add_event(accuracy)
trainer.run()
print(f"test accuracy {accuracy.value:.3f}")
