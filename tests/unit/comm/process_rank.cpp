// One rank of a run of several processes, for process_test.cpp: joins by torchrun's environment, does what its
// arguments say, and writes what happened to standard output.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <torch/csrc/autograd/autograd.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"

namespace titan::comm {
namespace {

using std::chrono::milliseconds;

void expect(bool condition, const char* what) {
  if (!condition) throw InternalError("wrong result: ", what);
}

at::Tensor input(std::int64_t rank, std::int64_t rows, at::ScalarType dtype) {
  return at::arange(rows * 3, at::kDouble)
      .mul(1.7)
      .sub(static_cast<double>(rank) * 2.3 + 3)
      .reshape({rows, 3})
      .to(dtype);
}

at::Tensor sum(std::int64_t ranks, std::int64_t rows, at::ScalarType dtype) {
  at::Tensor total = input(0, rows, dtype).to(at::kDouble);
  for (std::int64_t rank = 1; rank < ranks; ++rank) total = total.add(input(rank, rows, dtype).to(at::kDouble));
  return total;
}

/// As rank threads sum: in order of rank, bfloat16 in float32.
at::Tensor sum_in_order(std::int64_t ranks, std::int64_t rows, at::ScalarType dtype) {
  const at::ScalarType wide = dtype == at::kBFloat16 ? at::kFloat : dtype;
  at::Tensor total = input(0, rows, dtype).to(wide);
  for (std::int64_t rank = 1; rank < ranks; ++rank) total = total.add(input(rank, rows, dtype).to(wide));
  return total.to(dtype);
}

bool close(const at::Tensor& got, const at::Tensor& wanted, double tolerance) {
  return got.to(at::kDouble).sub(wanted.to(at::kDouble)).abs().max().item<double>() <= tolerance;
}

void check_reductions(Group& group, at::ScalarType dtype, double tolerance) {
  const std::int64_t ranks = group.size(), rank = group.rank();
  const at::Tensor reduced = input(rank, 4, dtype).clone();
  group.all_reduce(reduced)->wait();
  expect(close(reduced, sum(ranks, 4, dtype), tolerance), "all_reduce");
  const at::Tensor largest = input(rank, 4, dtype).clone();
  group.all_reduce(largest, Reduce::max)->wait();
  expect(at::equal(largest, input(0, 4, dtype)), "all_reduce max");
  const at::Tensor part = at::empty({2, 3}, dtype);
  group.reduce_scatter(part, input(rank, ranks * 2, dtype))->wait();
  expect(at::equal(part, sum_in_order(ranks, ranks * 2, dtype).narrow(0, rank * 2, 2)), "reduce_scatter");
}

void check_movements(Group& group, at::ScalarType dtype) {
  const std::int64_t ranks = group.size(), rank = group.rank();
  const at::Tensor gathered = at::empty({ranks * 2, 3}, dtype);
  group.all_gather(gathered, input(rank, 2, dtype))->wait();
  for (std::int64_t peer = 0; peer < ranks; ++peer) {
    expect(at::equal(gathered.narrow(0, peer * 2, 2), input(peer, 2, dtype)), "all_gather");
  }
  const at::Tensor cast = input(rank, 2, dtype).clone();
  group.broadcast(cast, ranks - 1)->wait();
  expect(at::equal(cast, input(ranks - 1, 2, dtype)), "broadcast");

  std::vector<std::int64_t> in_rows, out_rows;
  std::vector<at::Tensor> sent, wanted;
  for (std::int64_t peer = 0; peer < ranks; ++peer) {
    in_rows.push_back((rank + peer) % 3);
    out_rows.push_back((rank + peer) % 3);
    sent.push_back(at::full({in_rows.back(), 3}, rank * 10 + peer, dtype));
    wanted.push_back(at::full({out_rows.back(), 3}, peer * 10 + rank, dtype));
  }
  const at::Tensor expected = at::cat(wanted), received = at::empty(expected.sizes(), dtype);
  group.all_to_all(received, at::cat(sent), out_rows, in_rows)->wait();
  expect(at::equal(received, expected), "all_to_all");

  if (ranks == 1) return;
  const at::Tensor arrived = at::empty({2, 3}, dtype);
  const WorkPtr sending = group.send(input(rank, 2, dtype), (rank + 1) % ranks, 7);
  group.receive(arrived, (rank + ranks - 1) % ranks, 7)->wait();
  sending->wait();
  expect(at::equal(arrived, input((rank + ranks - 1) % ranks, 2, dtype)), "send and receive");
}

/// Over several rounds of whatever buffers there are, with and without a rest.
void check_sizes(Group& group) {
  const std::int64_t ranks = group.size(), rank = group.rank();
  for (const std::int64_t rows : {1, 333, 40'000, 120'001}) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
      const at::Tensor reduced = input(rank, rows, dtype).clone();
      const WorkPtr reducing = group.all_reduce(reduced);
      const at::Tensor part = at::empty({rows, 3}, dtype), gathered = at::empty({rows * ranks, 3}, dtype);
      const WorkPtr scattering = group.reduce_scatter(part, input(rank, ranks * rows, dtype));
      const WorkPtr gathering = group.all_gather(gathered, input(rank, rows, dtype));
      const at::Tensor cast = input(rank, rows, dtype).clone();
      group.broadcast(cast, 0)->wait();
      gathering->wait();
      scattering->wait();
      reducing->wait();
      const at::Tensor expected = sum_in_order(ranks, rows, dtype).to(at::kDouble);
      const double tolerance = expected.abs().max().item<double>() * (dtype == at::kFloat ? 1e-6 : 1e-2);
      expect(close(reduced, expected, tolerance), "all_reduce of many");
      const at::Tensor sums = sum_in_order(ranks, ranks * rows, dtype);
      expect(at::equal(part, sums.narrow(0, rank * rows, rows)), "reduce_scatter of many");
      for (std::int64_t peer = 0; peer < ranks; ++peer) {
        expect(at::equal(gathered.narrow(0, peer * rows, rows), input(peer, rows, dtype)), "all_gather of many");
      }
      expect(at::equal(cast, input(0, rows, dtype)), "broadcast of many");
    }
  }
}

/// Rows that only some ranks have, and many of them.
void check_uneven(Group& group) {
  const std::int64_t ranks = group.size(), rank = group.rank();
  const auto rows = [](std::int64_t from, std::int64_t to) { return from == 0 ? 0 : (from * 70'001 + to) % 200'000; };
  std::vector<std::int64_t> in_rows, out_rows;
  std::vector<at::Tensor> sent, wanted;
  for (std::int64_t peer = 0; peer < ranks; ++peer) {
    in_rows.push_back(rows(rank, peer));
    out_rows.push_back(rows(peer, rank));
    sent.push_back(at::full({in_rows.back(), 3}, rank * 10 + peer, at::kInt));
    wanted.push_back(at::full({out_rows.back(), 3}, peer * 10 + rank, at::kInt));
  }
  const at::Tensor expected = at::cat(wanted), received = at::empty(expected.sizes(), at::kInt);
  group.all_to_all(received, at::cat(sent), out_rows, in_rows)->wait();
  expect(at::equal(received, expected), "uneven all_to_all");
}

/// Sends that wait for receives made in another order, among them one without elements.
void check_tags(Group& group) {
  const std::int64_t ranks = group.size(), rank = group.rank();
  if (ranks == 1) return;
  const std::int64_t to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  const std::vector<std::int64_t> rows = {5, 300'000, 0, 7};
  std::vector<WorkPtr> works;
  std::vector<at::Tensor> arrived;
  for (std::size_t tag = 0; tag < rows.size(); ++tag) {
    works.push_back(group.send(input(rank, rows[tag], at::kFloat), to, static_cast<std::int64_t>(tag)));
    arrived.push_back(at::empty({rows[tag], 3}, at::kFloat));
  }
  for (std::size_t tag = rows.size(); tag-- > 0;) {
    group.receive(arrived[tag], from, static_cast<std::int64_t>(tag))->wait();
  }
  for (const WorkPtr& work : works) work->wait();
  for (std::size_t tag = 0; tag < rows.size(); ++tag) {
    expect(at::equal(arrived[tag], input(from, rows[tag], at::kFloat)), "receives in another order");
  }
  // More at once than anybody has places for.
  works.clear();
  arrived.clear();
  for (int i = 0; i < 200; ++i) works.push_back(group.send(at::full({1}, i), to, 9));
  for (int i = 0; i < 200; ++i) {
    arrived.push_back(at::full({1}, -1));
    works.push_back(group.receive(arrived.back(), from, 9));
  }
  for (const WorkPtr& work : works) work->wait();
  for (int i = 0; i < 200; ++i) expect(arrived[static_cast<std::size_t>(i)].item<std::int64_t>() == i, "many sends");
}

/// Calls of two channels, which the ranks make in different orders and wait for later.
void check_channels(Communicator& communicator) {
  if (communicator.size() != 4) return;
  Group& world = communicator.world();
  Group& pair = communicator.group("tp");
  const bool is_odd = communicator.rank() % 2 == 1;
  for (const std::int64_t count : {1, 500'000}) {
    const at::Tensor a = at::full({count}, 1, at::kFloat), b = at::full({count}, 1, at::kFloat);
    WorkPtr first, second;
    if (is_odd) second = pair.all_reduce(b);
    first = world.all_reduce(a);
    if (!is_odd) second = pair.all_reduce(b);
    (is_odd ? first : second)->wait();
    (is_odd ? second : first)->wait();
    expect(a.min().item<float>() == 4 && a.max().item<float>() == 4, "all_reduce of the world");
    expect(b.min().item<float>() == 2 && b.max().item<float>() == 2, "all_reduce of pairs");
  }
}

/// Whether this process has memory that it shares with other ranks.
bool shares_memory() {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find("memfd:titan-comm") != std::string::npos;
}

void check_gradients(Group& group) {
  const at::Tensor in = input(group.rank(), 2, at::kDouble).requires_grad_(true);
  const at::Tensor out = group.differentiable_all_gather(in, -1);
  torch::autograd::backward({out.mul(static_cast<double>(group.rank() + 1)).sum()}, {});
  const auto ranks = static_cast<double>(group.size());
  expect(close(in.grad(), at::full({2, 3}, ranks * (ranks + 1) / 2, at::kDouble), 1e-12), "gradient of all_gather");
}

void check_all(Communicator& communicator) {
  Group& world = communicator.world();
  check_reductions(world, at::kDouble, 1e-12);
  check_reductions(world, at::kLong, 0);
  check_reductions(world, at::kFloat, 1e-4);
  // Rounded once: half a unit in the last place of sums below 256.
  check_reductions(world, at::kBFloat16, 0.5);
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kLong}) check_movements(world, dtype);
  check_sizes(world);
  check_uneven(world);
  check_tags(world);
  check_channels(communicator);
  check_gradients(world);
  const auto texts = gather_texts(world, std::string(static_cast<std::size_t>(communicator.rank()) * 5, 'x'));
  for (std::size_t i = 0; i < texts.size(); ++i) expect(texts[i] == std::string(i * 5, 'x'), "gather_texts");
  std::vector<double> values{1.0, static_cast<double>(communicator.rank())};
  sum_over(world, values);
  expect(values[0] == static_cast<double>(communicator.size()), "sum_over");
  world.barrier();
  for (const WorkRecord& record : communicator.records().snapshot()) {
    expect(record.state == WorkState::completed && record.created <= record.started &&
               record.started <= record.completed && record.retired,
           "times of a record");
  }
}

/// Leaves SIGUSR1 to go_on_when_told(). Called before there are other threads.
void hold_back_the_signal() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

/// Waits until the test has done what it does meanwhile.
void go_on_when_told() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGUSR1);
  const timespec limit{300, 0};
  expect(::sigtimedwait(&signals, nullptr, &limit) == SIGUSR1, "nobody says when to go on");
}

/// Sums until something fails.
void sum_for_ever(Communicator& communicator) {
  communicator.set_module("layers.3");
  for (;;) {
    communicator.world().all_reduce(at::full({4}, 1, at::kFloat))->wait();
    std::this_thread::sleep_for(milliseconds(20));
  }
}

/// Sums much until something fails: the signal, which meets this process in the middle of it.
void sum_much(Communicator& communicator, int signal) {
  const at::Tensor much = at::full({32 << 20}, 0, at::kFloat);
  if (signal != 0) {
    std::thread([signal] {
      std::this_thread::sleep_for(milliseconds(700));
      ::raise(signal);
    }).detach();
  }
  for (;;) communicator.world().all_reduce(much)->wait();
}

/// What this rank does after some common calls; the others go on.
void misbehave(Communicator& communicator, const std::string& fault) {
  if (fault == "die") ::raise(SIGKILL);
  if (fault == "stop") ::raise(SIGSTOP);
  if (fault == "throw") throw DataError("[data] row 7 is broken");
  if (fault == "sleep") std::this_thread::sleep_for(std::chrono::seconds(600));
  if (fault == "other") communicator.world().barrier();
  if (fault == "shape") communicator.world().all_reduce(at::full({9000}, 1, at::kFloat))->wait();
  if (fault == "hold") communicator.hold();
  if (fault == "hold_and_die") communicator.hold();
  if (fault == "hold_and_die") std::this_thread::sleep_for(2 * communicator.timeout());
  if (fault == "hold_and_die") ::raise(SIGKILL);
}

/// Longer than any rank waits; then all do their work.
void hold_for_long(Communicator& communicator, bool is_holder) {
  if (is_holder) {
    misbehave(communicator, "hold");
    std::this_thread::sleep_for(3 * communicator.timeout());
  }
  communicator.world().all_reduce(at::full({4}, 1, at::kFloat))->wait();
  if (is_holder) std::this_thread::sleep_for(3 * communicator.timeout());
  communicator.world().barrier();
  if (is_holder) communicator.release();
  // Another one, which nobody ends: the rank leaves with it.
  if (is_holder) communicator.hold();
}

void check_backend(const Communicator& communicator, const std::string& backend) {
  expect(communicator.size() == 1 || shares_memory() == (backend == "auto" || backend == "shm"), "backend");
}

void act(Communicator& communicator, const std::string& action, std::int64_t culprit, const std::string& backend) {
  if (action == "check") {
    check_all(communicator);
    return check_backend(communicator, backend);
  }
  if (action == "pause") {
    communicator.world().barrier();
    std::cout << "connected" << std::endl;
    go_on_when_told();
    return check_all(communicator);
  }
  for (int i = 0; i < 3; ++i) communicator.world().all_reduce(at::full({4}, 1, at::kFloat))->wait();
  check_backend(communicator, backend);
  if (action == "leave" && communicator.rank() == culprit) return;
  if (action == "hold") return hold_for_long(communicator, communicator.rank() == culprit);
  const bool is_culprit = communicator.rank() == culprit;
  if (action == "die_within") sum_much(communicator, is_culprit ? SIGKILL : 0);
  if (action == "stop_within") sum_much(communicator, is_culprit ? SIGSTOP : 0);
  if (is_culprit) misbehave(communicator, action);
  sum_for_ever(communicator);
}

CpuBackend backend_of(const std::string& name) {
  return name == "gloo" ? CpuBackend::gloo : name == "shm" ? CpuBackend::shm : CpuBackend::automatic;
}

std::int64_t number(const char* text) { return std::strtoll(text, nullptr, 10); }

/// Serves a store, as a launcher does, until it is killed.
int serve_store() {
  c10d::TCPStoreOptions options;
  options.isServer = true;
  options.waitWorkers = false;
  options.port = static_cast<std::uint16_t>(number(std::getenv("MASTER_PORT")));
  options.masterListenFd = static_cast<int>(number(std::getenv("TITAN_STORE_FD")));
  const auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

int run(char** arguments) {
  const std::string action = arguments[1];
  if (action == "serve") return serve_store();
  hold_back_the_signal();
  const RankEnvironment environment = read_rank_environment().value();
  std::unique_ptr<Communicator> communicator;
  try {
    // Neighbours are pairs, where there are some of them.
    const std::int64_t tp = environment.world_size == 4 ? 2 : 1;
    communicator = connect(config::Mesh({1, 1, -1, 1, tp}, environment.world_size), environment,
                           milliseconds(number(arguments[3])), at::kCPU, backend_of(arguments[5]));
    communicator->set_timeout(milliseconds(number(arguments[4])));
    std::cout << "joined" << std::endl;
    act(*communicator, action, number(arguments[2]), arguments[5]);
    communicator.reset();
    std::cout << "done" << std::endl;
    return 0;
  } catch (const Error& error) {
    std::cout << error.what() << std::endl;
    if (communicator != nullptr) communicator->abort(error.what());
    return static_cast<int>(error.exit());
  }
}

}  // namespace
}  // namespace titan::comm

/// ACTION CULPRIT INIT_TIMEOUT_MS TIMEOUT_MS CPU_BACKEND
int main(int count, char** arguments) { return count == 6 ? titan::comm::run(arguments) : 64; }
