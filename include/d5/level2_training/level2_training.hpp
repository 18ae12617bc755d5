// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/accuracy.hpp"
#include "d5/level2_training/batch_feed.hpp"
#include "d5/level2_training/carried_file.hpp"
#include "d5/level2_training/checkpoint.hpp"
#include "d5/level2_training/dataset.hpp"
#include "d5/level2_training/download.hpp"
#include "d5/level2_training/loss_curve.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "d5/level2_training/sampler.hpp"
#include "d5/level2_training/tensor_dataset.hpp"
#include "d5/level2_training/trainer.hpp"
#include "d5/level2_training/training_event.hpp"
#include "d5/level2_training/training_metric.hpp"
#include "d5/level2_training/training_time.hpp"
