# SPDX-License-Identifier: Apache-2.0
# PyTorch's DistributedDataParallel on MNIST's digits, the same script over gloo and over d5:
#
#     mpirun -np 2 python3 012_torch_ddp.py gloo
#     mpirun -np 2 python3 012_torch_ddp.py d5
import sys

import d5
import numpy as np

try:
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    import d5.torch_backend  # now "d5" is a backend, and gloo knows where mpirun's ranks meet
except ImportError as reason:
    print("skipped:", reason)
    sys.exit()

torch.set_num_threads(1)
dist.init_process_group(sys.argv[1] if len(sys.argv) > 1 else "d5")
rank, ranks = dist.get_rank(), dist.get_world_size()

digits = d5.dataset("mnist").train
samples = [digits[i] for i in range(1024)]
images = torch.from_numpy(np.stack([sample["image"].numpy() for sample in samples]))
labels = torch.tensor([sample["label"].numpy().item() for sample in samples])
train = TensorDataset(images, labels)
sampler: DistributedSampler[tuple[torch.Tensor, ...]] = DistributedSampler(train, seed=1)
loader = DataLoader(train, batch_size=64 // ranks, sampler=sampler)

torch.manual_seed(1)
layers = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 64), nn.ReLU(), nn.Linear(64, 10))
model = nn.parallel.DistributedDataParallel(layers)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    sampler.set_epoch(epoch)
    total = torch.zeros(1)
    for image, label in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(image), label)
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        optimizer.step()
        total += loss.detach()
    dist.all_reduce(total)
    mean = total.item() / (len(loader) * ranks)
    if rank == 0:
        print(f"epoch {epoch}: loss {mean:.6f} over {dist.get_backend()} on {ranks} ranks")
assert mean < 0.5
dist.destroy_process_group()
