// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/parameter_server/collected_gradients.hpp"

#include "d5/core/error.hpp"
#include "level3_distributed/exchange/shards.hpp"

namespace d5::detail {

double CollectedGradients::weight(const Batch& batch) const {
  if (batch.global_size == 0) return 1.0 / parts_.roles.workers();
  return static_cast<double>(batch.size) / static_cast<double>(batch.global_size);
}

/// Every worker but this rank hears it.
void CollectedGradients::ask(ServerWord word, Send send, double factor) {
  for (int worker = 0; worker < parts_.roles.workers(); ++worker) {
    if (worker == rank()) continue;
    parts_.line.say(worker, word, {factor, send == Send::values ? 1.0 : 0.0});
    if (send == Send::values) parts_.line.send(own().values, worker);
  }
}

/// All servers ask for the same.
ServerMessage CollectedGradients::hear_servers() {
  ServerMessage message;
  for (int shard = 0; shard < parts_.roles.shards(); ++shard) {
    const int server = parts_.roles.server_of(shard);
    if (server == rank()) continue;
    message = parts_.line.hear(server);
    if (message.numbers[1] == 0) continue;
    parts_.line.receive(parts_.shards[std::size_t(shard)].values, server);
    executor().network().values_changed();
  }
  return message;
}

const ValueMap& CollectedGradients::run_here(const Batch& batch, double factor) {
  const ValueMap& outputs = inner().run(batch, {.factor = factor});
  if (executor().ended_early()) {
    throw Unsupported("an observer ended the run early, but servers wait for its gradients");
  }
  inner().finish_all();
  executor().synchronise();
  return outputs;
}

/// This worker's, by its share of the samples, to the servers that it is not.
void CollectedGradients::send_gradients(const Batch& batch) {
  for (int shard = 0; shard < parts_.roles.shards(); ++shard) {
    Tensor gradients = parts_.shards[std::size_t(shard)].gradients.on_host();
    if (const double share = weight(batch); share != 1) {
      parts_.ranks.scale_local(gradients, share);
    }
    const int server = parts_.roles.server_of(shard);
    if (server == rank()) {
      mine_ = gradients;
      continue;
    }
    parts_.line.say(server, ServerWord::gradient);
    parts_.line.send(gradients, server);
  }
}

/// On the host, of the same size.
Tensor CollectedGradients::scratch(const Tensor& like) const {
  return parts_.ranks.scratch(TensorDesc{.dtype = like.dtype(), .shape = like.shape()}, like);
}

/// The sum, in the order of ranks.
void CollectedGradients::collect(const GradientRun& how) {
  Tensor sum;
  for (int worker = 0; worker < parts_.roles.workers(); ++worker) {
    Tensor gradients = mine_;
    if (worker != rank()) {
      (void)parts_.line.hear(worker);
      gradients = scratch(own().gradients);
      parts_.line.receive(gradients, worker);
    }
    if (sum.defined()) {
      parts_.ranks.reduce_local(sum, gradients);
    } else if (worker == rank()) {
      sum = scratch(gradients);
      parts_.ranks.copy_local(sum, gradients);
    } else {
      sum = gradients;
    }
  }
  parts_.line.settle();
  parts_.ranks.copy_local(own().gradients, sum);
  if (!how.all || !parts_.servers) return;
  for (int shard = 0; shard < parts_.roles.shards(); ++shard) {
    Tensor& gradients = parts_.shards[std::size_t(shard)].gradients;
    Tensor here = gradients.on_host();
    parts_.servers->broadcast(here, shard);
    if (!(gradients.device() == Device{})) gradients.copy_from(here);
  }
}

const ValueMap& CollectedGradients::run(const Batch& batch, const GradientRun& how) {
  static const ValueMap nothing;
  if (how.write == GradientRun::Write::add) {
    throw Unsupported(
        "gradients that servers have collected cannot be added to: add before "
        "(GradientLayer::accumulated)");
  }
  const bool known = values_are_known_ && !parts_.prepares;
  ask(ServerWord::run, known ? Send::word : Send::values, how.factor);
  values_are_known_ = false;  // another run of the step is with others
  const ValueMap* outputs = &nothing;
  if (parts_.roles.works(rank())) {
    (void)hear_servers();
    outputs = &run_here(batch, how.factor);
    send_gradients(batch);
  }
  collect(how);
  return *outputs;
}

void CollectedGradients::end_step() {
  ask(ServerWord::done, Send::values);
  if (parts_.roles.works(rank())) (void)hear_servers();
  parts_.line.settle();
  values_are_known_ = true;
}

double CollectedGradients::mean_loss(const std::function<double()>& mine, const Batch& batch) {
  double sum = 0, weights = 0, last = 0;
  const double own_loss = parts_.roles.works(rank()) ? mine() : 0;
  for (int worker = 0; worker < parts_.roles.workers(); ++worker) {
    double loss = own_loss, of = batch.global_size == 0 ? 1.0 : double(batch.size);
    if (worker != rank()) {
      const ServerMessage message = parts_.line.hear(worker);
      loss = message.numbers[0];
      of = message.numbers[1];
    }
    sum += loss * of;
    weights += of;
    last = loss;
  }
  parts_.line.settle();
  if (parts_.roles.workers() == 1) return last;
  return sum / weights;
}

double CollectedGradients::loss_of(const Batch& batch) {
  ask(ServerWord::loss, Send::values);
  if (parts_.roles.works(rank())) (void)hear_servers();
  return mean_loss([&] { return inner().loss_of(batch); }, batch);
}

double CollectedGradients::loss_of_run(const ValueMap& outputs, const Batch& batch) {
  ask(ServerWord::loss_of_run, Send::word);
  if (parts_.roles.works(rank())) (void)hear_servers();
  return mean_loss([&] { return inner().loss_of_run(outputs, batch); }, batch);
}

const ValueMap& CollectedGradients::answer(const Batch& batch) {
  const ValueMap* outputs = nullptr;
  const auto tell_loss = [&](double loss) {
    for (int shard = 0; shard < parts_.roles.shards(); ++shard) {
      parts_.line.say(parts_.roles.server_of(shard), ServerWord::loss,
                      {loss, batch.global_size == 0 ? 1.0 : double(batch.size)});
    }
  };
  for (;;) {
    const ServerMessage message = hear_servers();
    switch (message.word) {
      case ServerWord::run:
        outputs = &run_here(batch, message.numbers[0]);
        send_gradients(batch);
        break;
      case ServerWord::loss:
        tell_loss(inner().loss_of(batch));
        break;
      case ServerWord::loss_of_run:
        tell_loss(inner().loss_of_run(*outputs, batch));
        break;
      case ServerWord::done:
        parts_.line.settle();
        return *outputs;
      default:
        throw CommunicationError("a server asked a worker for what is not of a step");
    }
    parts_.line.settle();
  }
}

}  // namespace d5::detail
