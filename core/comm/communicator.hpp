#pragma once

#include <c10/core/Device.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/rank_environment.hpp"
#include "core/comm/group.hpp"
#include "core/comm/records.hpp"
#include "core/comm/witness.hpp"
#include "core/config/mesh.hpp"
#include "titan/abi/collective.h"

namespace titan::comm {

class Transport;

/// One rank's view of the run's ranks: its groups, their records and their deadline. A titan_mesh* is a Communicator*.
/// Used on the rank's training thread unless said otherwise.
class Communicator {
 public:
  /// `transport` brings the bytes; what join() and connect() below make of it.
  Communicator(config::Mesh mesh, std::int64_t rank, std::shared_ptr<Transport> transport);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const config::Mesh& mesh() const { return mesh_; }
  std::int64_t rank() const { return rank_; }
  std::int64_t size() const { return mesh_.world_size(); }
  /// Whether other ranks get what this one hands over: false in a rehearsal, where they are taken to be like this one.
  bool moves_data() const;
  /// The rank's group of that name (config::Mesh::axes), made on first use: all its ranks have to ask for it. Names
  /// that mean the same ranks share one channel and its sequence numbers. The reference lives as long as the
  /// communicator.
  Group& group(std::string_view name);
  Group& world() { return group("world"); }

  /// How long a wait may take from now on.
  void set_timeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds timeout() const { return timeout_; }

  /// The module named in the records of the calls that follow; empty: what running_module says.
  void set_module(std::string_view module);
  /// Tells which module runs, for records. Set once, by whoever owns the tree.
  std::function<std::string()> running_module;
  Recorder& records() { return *records_; }
  /// [any thread] Makes somebody the witness, or nobody; returns when the one before is not being asked any more.
  void set_witness(Witness witness) { stand_->set(std::move(witness)); }
  /// [any thread] Where the rank is, in words; empty: nobody says.
  std::string place() const { return stand_->place(); }
  /// [any thread] Tells the witness of trouble.
  void report_trouble(std::int32_t cause, std::string_view reason) noexcept { stand_->report(cause, reason); }

  /// Says that what was reported as a timeout was none: the call is done after all.
  void recover();

  /// Suspends the deadlines of all ranks, until release(). Nests.
  void hold();
  void release();

  /// [any thread] Tells the witness, makes every wait of this rank fail from now on, tells the others where the
  /// transport can, and gives up what is under way, so that nothing blocks the end of the process. The first reason
  /// counts.
  void abort(std::string_view reason) noexcept;

 private:
  friend class Channel;
  config::Mesh mesh_;
  std::int64_t rank_;
  std::shared_ptr<Transport> transport_;
  std::map<std::string, std::unique_ptr<Group>, std::less<>> groups_;
  std::map<std::string, std::shared_ptr<Channel>, std::less<>> channels_;
  std::chrono::milliseconds timeout_{300000};
  std::string module_;
  std::shared_ptr<WitnessStand> stand_ = std::make_shared<WitnessStand>();  // outlives it as the records do
  std::atomic<bool> is_aborted_{false};
  std::shared_ptr<Recorder> records_;  // outlives the communicator while a call of it is under way
};

/// Ranks that are threads of this process: reductions in order of rank, so that every run gives the same bits.
class ThreadWorld {
 public:
  explicit ThreadWorld(config::Mesh mesh);
  ~ThreadWorld();

  /// One rank's communicator; call once for each rank, on its thread.
  std::unique_ptr<Communicator> join(std::int64_t rank);
  /// [any thread] Makes all waits of all ranks fail.
  void abort(std::string_view reason) noexcept;

 private:
  class Impl;
  config::Mesh mesh_;
  std::shared_ptr<Impl> impl_;
};

/// What carries tensors of the CPU between processes. `automatic`: shared memory between ranks of one machine, else
/// gloo.
enum class CpuBackend { automatic, shm, gloo };

/// Joins the ranks that are processes, by torchrun's environment: over `cpu_backend`, and for a GPU
/// (this rank's, with its index) over NCCL and gloo. Returns when all ranks are there and agree
/// on the number of ranks. PeerError names the ranks that did not come within the timeout, or the address that cannot
/// be bound or reached; ConfigError: two processes claim one rank, or the numbers of ranks differ.
std::unique_ptr<Communicator> connect(config::Mesh mesh, const RankEnvironment& environment,
                                      std::chrono::milliseconds init_timeout, at::Device device = at::kCPU,
                                      CpuBackend cpu_backend = CpuBackend::automatic);

/// The titan.collective/1 table.
const titan_collective_v1* collective_interface();

}  // namespace titan::comm
