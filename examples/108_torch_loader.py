# SPDX-License-Identifier: Apache-2.0
# Another framework's loader behind d5's sampler: torch's DataLoader feeds d5's trainer.
import sys
from typing import Any, SupportsIndex, SupportsInt

import d5
import numpy as np

try:
    import torch
    from torch.utils.data import DataLoader, TensorDataset
except ImportError as reason:
    print("skipped:", reason)
    sys.exit()


class TorchLoader(d5.Sampler):
    """Batches of a DataLoader by field; an epoch's order comes from its number, so runs resume."""

    def __init__(self, loader: Any, fields: list[str]) -> None:
        super().__init__()
        self.loader, self.fields = loader, fields
        self.reset(0)

    def reset(self, epoch: SupportsInt | SupportsIndex = 0) -> None:
        self.loader.generator.manual_seed(int(epoch))
        self.batches = iter(self.loader)

    def next(self) -> dict[str, Any] | None:  # type: ignore[override]  # d5 makes a Batch of it
        batch = next(self.batches, None)
        return None if batch is None else dict(zip(self.fields, batch))

    def __len__(self) -> int:
        return len(self.loader)


digits = d5.dataset("mnist").train
samples = [digits[i] for i in range(1024)]
images = torch.from_numpy(np.stack([sample["image"].numpy() for sample in samples]))
labels = torch.tensor([sample["label"].numpy().item() for sample in samples])
loader = DataLoader(
    TensorDataset(images, labels), batch_size=32, shuffle=True, generator=torch.Generator()
)

executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
optimizer = d5.optimizer("momentum", executor, learning_rate=0.02)
loss = d5.training_metric("loss")
trainer = d5.Trainer(optimizer, TorchLoader(loader, ["image", "label"]), epochs=3)
trainer.add_event(loss)
trainer.run()
print(f"loss after {trainer.step} batches of torch's DataLoader: {loss.value:.2f}")
assert trainer.step == 3 * 32 and loss.value < 1.5
