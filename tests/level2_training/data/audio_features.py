#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes audio_features.txt: a signal, resampled by torchaudio and as the log-mel spectrogram of librosa and torchaudio.

usage: audio_features.py > audio_features.txt   (needs torch, torchaudio, librosa, numpy)
A line: LIBRARY WHAT, settings as KEY=VALUE, a colon and the numbers.
"""

import librosa
import numpy as np
import torch
import torchaudio

t = np.arange(3000)
noise = (7919 * t + 104729 * t * t) % 1009 / 1009 - 0.5
signal = (0.5 * np.sin(2 * np.pi * 440 * t / 16000) + 0.25 * np.cos(2 * np.pi * 0.00007 * t * t) + 0.1 * noise).astype(np.float32)


def line(library, what, settings, values):
    numbers = " ".join(f"{value:.7g}" for value in np.asarray(values, np.float64).reshape(-1))
    print(f"{library} {what} {' '.join(f'{key}={value}' for key, value in settings.items())} : {numbers}")


print(f"# torchaudio {torchaudio.__version__}, librosa {librosa.__version__}; see audio_features.py")
for before, after in [(16000, 8000), (16000, 24000), (44100, 16000), (8000, 44100)]:
    short = torch.from_numpy(signal[:200])
    line("torchaudio", "resample", {"from": before, "to": after}, torchaudio.functional.resample(short, before, after))
slaney = librosa.feature.melspectrogram(y=signal, sr=16000, n_fft=400, hop_length=160, n_mels=24, pad_mode="reflect")
line("librosa", "log_mel", {"bands": 24, "logarithm": "ten", "layout": "bands_first"}, np.log10(np.maximum(slaney, 1e-10)))
htk = torchaudio.transforms.MelSpectrogram(16000, n_fft=512, hop_length=256, n_mels=16, f_min=60, f_max=7600, center=False)
line("torchaudio", "log_mel", {"length": 512, "hop": 256, "bands": 16, "low": 60, "high": 7600, "scale": "htk", "edges": "none"},
     np.log(np.maximum(htk(torch.from_numpy(signal)).numpy().T, 1e-10)))
