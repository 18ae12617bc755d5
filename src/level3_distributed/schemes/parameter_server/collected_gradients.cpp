// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/parameter_server/collected_gradients.hpp"

#include "d5/core/errors/error.hpp"
#include "level3_distributed/exchange/shards.hpp"

namespace d5::detail {

/// Sends a request to every worker but this rank.
void CollectedGradients::ask(ServerWord word, Send send, double factor) {
  for (int worker = 0; worker < parts_.roles.workers(); ++worker) {
    if (worker == rank()) continue;
    parts_.line.say(worker, word, {factor, send == Send::values ? 1.0 : 0.0});
    if (send == Send::values) parts_.line.send(own().values, worker);
  }
}

/// Receives the request of all servers, which is the same.
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
  share_ = loss_weight().share(parts_.workers, batch);
  const ValueMap& outputs = inner().run(batch, {.factor = factor});
  if (executor().ended_early()) {
    throw Unsupported("an observer ended the run early, but servers wait for its gradients");
  }
  inner().finish_all();
  executor().synchronise();
  return outputs;
}

/// Sends this worker's gradients, weighted by its share of the loss, to the other servers.
void CollectedGradients::send_gradients() {
  for (int shard = 0; shard < parts_.roles.shards(); ++shard) {
    Tensor gradients = parts_.shards[std::size_t(shard)].gradients.on_host();
    if (share_ != 1) {
      parts_.ranks.scale_local(gradients, share_);
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

/// A host buffer of the same size.
Tensor CollectedGradients::scratch(const Tensor& like) const {
  return parts_.ranks.scratch(TensorDesc{.dtype = like.dtype(), .shape = like.shape()}, like);
}

/// Sums the workers' gradients in rank order.
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
  values_are_known_ = false;  // another run of the step uses other values
  const ValueMap* outputs = &nothing;
  if (parts_.roles.works(rank())) {
    (void)hear_servers();
    outputs = &run_here(batch, how.factor);
    send_gradients();
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

/// The weight of this worker's loss among all.
double CollectedGradients::loss_share(const Batch& batch) {
  if (!loss_weight().counts(batch)) return 0;
  const bool alike = loss_weight().kind() != LossWeight::Kind::counted && batch.global_size == 0;
  return alike ? 1.0 : loss_weight().of(batch);
}

double CollectedGradients::join_losses(const std::function<double()>& mine, const Batch& batch) {
  double sum = 0, weights = 0, last = 0;
  const bool works = parts_.roles.works(rank()),
             adds = loss_weight().kind() == LossWeight::Kind::sum;
  const double own_loss = works ? mine() : 0, own_share = works ? loss_share(batch) : 0;
  for (int worker = 0; worker < parts_.roles.workers(); ++worker) {
    double loss = own_loss, of = own_share;
    if (worker != rank()) {
      const ServerMessage message = parts_.line.hear(worker);
      loss = message.numbers[0];
      of = message.numbers[1];
    }
    sum += of == 0 ? 0 : adds ? loss : loss * of;
    weights += of;
    last = loss;
  }
  parts_.line.settle();
  if (parts_.roles.workers() == 1) return last;
  return adds ? sum : sum / weights;
}

double CollectedGradients::loss_of(const Batch& batch) {
  ask(ServerWord::loss, Send::values);
  if (parts_.roles.works(rank())) (void)hear_servers();
  return join_losses([&] { return inner().loss_of(batch); }, batch);
}

double CollectedGradients::loss_of_run(const ValueMap& outputs, const Batch& batch) {
  ask(ServerWord::loss_of_run, Send::word);
  if (parts_.roles.works(rank())) (void)hear_servers();
  return join_losses([&] { return inner().loss_of_run(outputs, batch); }, batch);
}

const ValueMap& CollectedGradients::answer(const Batch& batch) {
  const ValueMap* outputs = nullptr;
  const auto tell_loss = [&](double loss) {
    for (int shard = 0; shard < parts_.roles.shards(); ++shard) {
      parts_.line.say(parts_.roles.server_of(shard), ServerWord::loss, {loss, loss_share(batch)});
    }
  };
  for (;;) {
    const ServerMessage message = hear_servers();
    switch (message.word) {
      case ServerWord::run:
        outputs = &run_here(batch, message.numbers[0]);
        send_gradients();
        break;
      case ServerWord::loss:
        tell_loss(inner().loss_of(batch));
        break;
      case ServerWord::loss_of_run:
        tell_loss(inner().loss_of_run(*outputs, batch));
        break;
      case ServerWord::done:
        parts_.line.settle();
        if (outputs) return *outputs;
        throw Unsupported(
            "the step had no backpropagation, so a worker has no outputs of its batch; choose "
            "consistent_decentralized");
      default:
        throw CommunicationError("a server sent a request to a worker that is not part of a step");
    }
    parts_.line.settle();
  }
}

}  // namespace d5::detail
