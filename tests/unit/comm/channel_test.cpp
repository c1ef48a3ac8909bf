#include "core/comm/channel.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <new>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "core/comm/timed_work.hpp"
#include "core/comm/transport.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/comm/peer_errors.hpp"
#include "titan/abi/observer.h"

namespace titan::comm {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using titan::testing::run_rank_threads;

/// Lets ranks that are done stay until all are.
class Gate {
 public:
  explicit Gate(std::int64_t ranks) : left_(ranks) {}
  void pass() {
    --left_;
    while (left_ > 0) std::this_thread::sleep_for(milliseconds(1));
  }

 private:
  std::atomic<std::int64_t> left_;
};

/// Carries all_reduces to nobody: the test ends their works, at the latest when it is asked about them.
class Inquisitive : public Transport {
 public:
  class Backend : public c10d::Backend {
   public:
    explicit Backend(c10::intrusive_ptr<TimedWork> work) : c10d::Backend(0, 2), work_(std::move(work)) {}
    const std::string getBackendName() const override { return "inquisitive"; }
    c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>&, const c10d::AllreduceOptions&) override {
      return work_;
    }

   private:
    c10::intrusive_ptr<TimedWork> work_;
  };

  c10::intrusive_ptr<c10d::Backend> open(const ChannelFacts&, milliseconds) override {
    return c10::make_intrusive<Backend>(work);
  }
  void announce(const WorkRecord&) override {}
  void waits_for(const WorkRecord* record) override { waits = record != nullptr; }
  Finding explain_timeout(const WorkRecord&) override {
    waited_when_asked = waits;
    work->complete();
    return {};
  }
  Finding explain_failure(const WorkRecord&, const std::string&) override {
    waited_when_asked = waits;
    return {};
  }
  void recover() override { recovered = true; }
  void hold(bool) override {}
  std::chrono::steady_clock::time_point held_until() override { return {}; }
  void abort(std::string_view) noexcept override {}

  c10::intrusive_ptr<TimedWork> work = c10::make_intrusive<TimedWork>();
  bool waits = false, waited_when_asked = false, recovered = false;
};

/// Has no memory for any call.
class Penniless : public Inquisitive {
 public:
  class Backend : public c10d::Backend {
   public:
    Backend() : c10d::Backend(0, 2) {}
    const std::string getBackendName() const override { return "penniless"; }
    c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>&, const c10d::AllreduceOptions&) override {
      throw std::bad_alloc();
    }
  };
  c10::intrusive_ptr<c10d::Backend> open(const ChannelFacts&, milliseconds) override {
    return c10::make_intrusive<Backend>();
  }
};

TEST(Waiting, IsSaidWhileTheReasonOfAFailureIsFound) {
  const auto transport = std::make_shared<Inquisitive>();
  Communicator communicator(config::Mesh({1, 1, -1, 1, 1}, 2), 0, transport);
  transport->work->fail("connection reset");
  EXPECT_THAT(peer_error([&] { communicator.world().all_reduce(at::ones({2}))->wait(); }), HasSubstr("a call failed"));
  EXPECT_TRUE(transport->waited_when_asked);
  EXPECT_FALSE(transport->waits) << "nor afterwards";
}

TEST(OutOfMemory, OfACallIsNoLossOfAConnection) {
  const auto transport = std::make_shared<Inquisitive>();
  Communicator communicator(config::Mesh({1, 1, -1, 1, 1}, 2), 0, transport);
  transport->work->fail(
      std::make_exception_ptr(c10::OutOfMemoryError({__func__, __FILE__, 1}, "[memory] out: 8 bytes")));
  try {
    communicator.world().all_reduce(at::ones({2}))->wait();
    FAIL() << "the call went well";
  } catch (const ResourceError& error) {
    EXPECT_STREQ(error.what(), "[memory] out: 8 bytes\n  for a call: all_reduce, sequence 1, group world (ranks 0, 1)");
  }
  EXPECT_FALSE(transport->waited_when_asked) << "nobody else is asked about it";
}

TEST(OutOfMemory, WhileACallIsStartedIsTold) {
  Communicator communicator(config::Mesh({1, 1, -1, 1, 1}, 2), 0, std::make_shared<Penniless>());
  EXPECT_THROW(communicator.world().all_reduce(at::ones({2})), ResourceError);
}

TEST(Waiting, ThatEndsLateAfterAllLeavesNoTrouble) {
  const auto transport = std::make_shared<Inquisitive>();
  Communicator communicator(config::Mesh({1, 1, -1, 1, 1}, 2), 0, transport);
  std::vector<std::int32_t> causes;
  communicator.set_witness({{}, [&](std::int32_t cause, std::string_view) { causes.push_back(cause); }});
  communicator.set_timeout(milliseconds(20));
  communicator.world().all_reduce(at::ones({2}))->wait();
  EXPECT_TRUE(transport->recovered);
  communicator.report_trouble(TITAN_DUMP_ERROR, "row 7 is broken");
  EXPECT_EQ(causes, (std::vector<std::int32_t>{TITAN_DUMP_TIMEOUT, TITAN_DUMP_ERROR}));
}

TEST(Deadline, NamesTheMissingRanksAndTheirLastCalls) {
  Gate started(4), gate(4);
  const std::vector<std::string> errors = errors_of(4, [&](Communicator& communicator) {
    communicator.set_timeout(milliseconds(60000));
    communicator.set_module("layers.3");
    Group& fsdp = communicator.group("fsdp");
    fsdp.barrier();
    WorkPtr work;
    if (communicator.rank() % 2 == 0) work = fsdp.all_reduce(at::ones({4}));
    started.pass();
    communicator.set_timeout(milliseconds(300));
    const std::string error = work ? peer_error([&] { work->wait(); }) : "no PeerError";
    gate.pass();
    throw PeerError(error);
  });
  for (const std::size_t rank : {0, 2}) {
    EXPECT_THAT(errors[rank], AllOf(HasSubstr("all_reduce, sequence 2, group fsdp (ranks 0-3), module layers.3"),
                                    HasSubstr("elapsed")))
        << rank;
  }
  // The rank whose deadline passed first names the missing ones, and the other one quotes it.
  EXPECT_THAT(errors[0],
              AllOf(HasSubstr("not done in time: missing ranks 1, 3, all_reduce, sequence 2"), HasSubstr("limit 0.3 s"),
                    HasSubstr("rank 1: last call in this group: barrier, sequence 1 in module layers.3")));
  EXPECT_THAT(errors[2], HasSubstr("missing ranks 1, 3"));
}

TEST(Deadline, IsNoneWhileARankHoldsThemAll) {
  Gate held(2);
  run_rank_threads(2, [&](Communicator& communicator) {
    communicator.set_timeout(milliseconds(communicator.rank() == 1 ? 60'000 : 100));
    if (communicator.rank() == 1) {
      communicator.hold();
      communicator.hold();
      communicator.release();
    }
    held.pass();
    if (communicator.rank() == 1) std::this_thread::sleep_for(milliseconds(500));
    const at::Tensor tensor = at::ones({1});
    communicator.world().all_reduce(tensor)->wait();
    EXPECT_EQ(tensor.item<float>(), 2);
    if (communicator.rank() == 1) communicator.release();
  });
}

TEST(Deadline, IsWholeAgainAfterAHold) {
  Gate held(2), gate(2);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string> errors = errors_of(2, [&](Communicator& communicator) {
    communicator.set_timeout(milliseconds(200));
    if (communicator.rank() == 1) communicator.hold();
    held.pass();
    std::string error = "no PeerError";
    if (communicator.rank() == 0) error = peer_error([&] { communicator.world().barrier(); });
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(milliseconds(300));
      communicator.release();
    }
    gate.pass();
    throw PeerError(error);
  });
  EXPECT_THAT(errors[0], HasSubstr("missing rank 1"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(500));
}

TEST(Deadline, AHoldEndsWithItsRank) {
  Gate held(2);
  const std::vector<std::string> errors = errors_of(2, [&](Communicator& communicator) {
    communicator.set_timeout(milliseconds(200));
    if (communicator.rank() == 1) communicator.hold();
    held.pass();
    if (communicator.rank() == 0) communicator.world().barrier();
  });
  EXPECT_THAT(errors[0], HasSubstr("rank 1"));
}

TEST(Trouble, IsToldBeforeAnythingIsGivenUp) {
  Gate gate(2);
  std::array<std::vector<std::pair<std::int32_t, std::string>>, 2> told;
  errors_of(2, [&](Communicator& communicator) {
    communicator.set_timeout(milliseconds(200));
    auto& mine = told[static_cast<std::size_t>(communicator.rank())];
    communicator.set_witness({[] { return "step 3"; },
                              [&](std::int32_t cause, std::string_view reason) { mine.emplace_back(cause, reason); }});
    EXPECT_EQ(communicator.place(), "step 3");
    if (communicator.rank() == 0) peer_error([&] { communicator.world().barrier(); });
    gate.pass();
    communicator.set_witness({});
    throw PeerError("done");
  });
  ASSERT_GE(told[0].size(), 2u);
  EXPECT_EQ(told[0].front().first, TITAN_DUMP_TIMEOUT);
  EXPECT_THAT(told[0].front().second, HasSubstr("barrier, sequence 1"));
  EXPECT_EQ(told[0].back().first, TITAN_DUMP_TIMEOUT) << "the cause stays the first one";
  EXPECT_THAT(told[0].back().second, HasSubstr("missing rank 1"));
}

TEST(Deadline, OfASendNamesThePeer) {
  Gate gate(2);
  const std::vector<std::string> errors = errors_of(2, [&](Communicator& communicator) {
    communicator.set_timeout(milliseconds(200));
    std::string error = "no PeerError";
    if (communicator.rank() == 0) error = peer_error([&] { communicator.world().send(at::ones({4}), 1, 0)->wait(); });
    gate.pass();
    throw PeerError(error);
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("send to rank 1, sequence 1"), HasSubstr("missing rank 1")));
}

TEST(Deadline, DoesNotCountTimeBeforeTheWait) {
  run_rank_threads(2, [](Communicator& communicator) {
    communicator.set_timeout(milliseconds(2000));
    const at::Tensor tensor = at::ones({4});
    if (communicator.rank() == 1) std::this_thread::sleep_for(milliseconds(100));
    const WorkPtr work = communicator.world().all_reduce(tensor);
    communicator.set_timeout(milliseconds(60000));
    std::this_thread::sleep_for(milliseconds(50));
    work->wait();
  });
}

TEST(Failure, OfOneRankEndsTheWaitsOfTheOthersWithItsText) {
  std::vector<std::string> errors(3);
  EXPECT_THROW(run_rank_threads(3,
                                [&](Communicator& communicator) {
                                  if (communicator.rank() == 1) throw DataError("[data] row 7 is broken");
                                  const auto rank = static_cast<std::size_t>(communicator.rank());
                                  errors[rank] = peer_error([&] { communicator.world().barrier(); });
                                }),
               DataError);
  EXPECT_THAT(errors[0], AllOf(HasSubstr("barrier, sequence 1"), HasSubstr("[data] row 7 is broken")));
  EXPECT_THAT(errors[2], HasSubstr("[data] row 7 is broken"));
}

TEST(Failure, IsFinal) {
  run_rank_threads(2, [](Communicator& communicator) {
    communicator.world().barrier();
    communicator.abort("first reason");
    communicator.abort("second reason");
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(peer_error([&] { communicator.world().all_reduce(at::ones({2}))->wait(); }),
                  AllOf(HasSubstr("first reason"), Not(HasSubstr("second reason"))));
    }
  });
}

TEST(Failure, ReachesEveryGroupOfTheRun) {
  const config::Mesh mesh({1, 2, 2, 1, 1}, 4);
  std::atomic<int> failed = 0;
  run_rank_threads(mesh, [&](Communicator& communicator) {
    communicator.group("dp_shard").barrier();
    communicator.group("dp_replicate").barrier();
    communicator.world().barrier();
    if (communicator.rank() == 0) return communicator.abort("enough");
    // Rank 0 is in one of these groups only for ranks 1 and 2.
    if (peer_error([&] { communicator.group("dp_shard").barrier(); }) != "no PeerError" ||
        peer_error([&] { communicator.group("dp_replicate").barrier(); }) != "no PeerError") {
      ++failed;
    }
  });
  EXPECT_EQ(failed, 3);
}

TEST(Leaving, OfARankEndsTheCallsThatNeedIt) {
  const std::vector<std::string> errors = errors_of(3, [](Communicator& communicator) {
    communicator.world().barrier();
    if (communicator.rank() == 2) return;
    communicator.world().all_reduce(at::ones({2}))->wait();
  });
  EXPECT_THAT(errors[0], HasSubstr("rank 2 has left the run"));
  EXPECT_THAT(errors[1], HasSubstr("rank 2 has left the run"));
}

TEST(Records, TellWhatWasCalledAndWhen) {
  run_rank_threads(2, [](Communicator& communicator) {
    communicator.running_module = [] { return std::string("layers.7"); };
    communicator.set_timeout(milliseconds(50000));
    std::vector<WorkRecord> retired;
    communicator.records().on_retired = [&](const WorkRecord& record) { retired.push_back(record); };
    Group& fsdp = communicator.group("fsdp");
    const at::Tensor out = at::empty({4, 3}, at::kBFloat16);
    const WorkPtr work = fsdp.all_gather(out, at::ones({2, 3}, at::kBFloat16));
    EXPECT_TRUE(retired.empty());
    work->wait();
    ASSERT_EQ(retired.size(), 1u);
    const WorkRecord& record = retired[0];
    EXPECT_EQ(record.id, 1u);
    EXPECT_EQ(record.op, "_allgather_base");
    EXPECT_EQ(record.group, "fsdp");
    EXPECT_EQ(record.channel, "world");
    EXPECT_EQ(record.module, "layers.7");
    EXPECT_EQ(record.sequence, 1u);
    EXPECT_EQ(record.members, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(record.input_sizes, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(record.output_sizes, (std::vector<std::int64_t>{4, 3}));
    EXPECT_EQ(record.dtype, at::kBFloat16);
    EXPECT_EQ(record.input_bytes, 12);
    EXPECT_EQ(record.output_bytes, 24);
    EXPECT_EQ(record.timeout_ms, 50000);
    EXPECT_EQ(record.state, WorkState::completed);
    EXPECT_TRUE(record.retired);
    EXPECT_LE(record.created, record.started);
    EXPECT_LE(record.started, record.completed);
    EXPECT_GT(record.created_epoch, std::int64_t{1'600'000'000} * 1'000'000'000);
    communicator.records().on_retired = nullptr;
  });
}

TEST(Records, OfNamesThatMeanTheSameRanksAreNumberedTogether) {
  run_rank_threads(2, [](Communicator& communicator) {
    communicator.group("fsdp").barrier();
    communicator.world().barrier();
    communicator.group("tp").barrier();
    const std::vector<WorkRecord> records = communicator.records().snapshot();
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[1].group, "world");
    EXPECT_EQ(records[1].channel, records[0].channel);
    EXPECT_EQ(records[1].sequence, 2u);
    EXPECT_NE(records[2].channel, records[0].channel);
    EXPECT_EQ(records[2].sequence, 1u);
  });
}

TEST(Records, TellAHangFromWhatIsDone) {
  Gate waiting(2), seen(2);
  run_rank_threads(2, [&](Communicator& communicator) {
    Group& world = communicator.world();
    const at::Tensor tensor = at::ones({2}), other = at::ones({2});
    const WorkPtr done = world.all_reduce(tensor);
    world.barrier();
    WorkPtr hanging;
    if (communicator.rank() == 0) hanging = world.all_reduce(other);
    waiting.pass();
    const std::vector<WorkRecord> records = communicator.records().snapshot();
    EXPECT_EQ(records[0].state, WorkState::completed) << "done, though nobody has waited for it";
    EXPECT_FALSE(records[0].retired);
    EXPECT_GT(records[0].completed, 0);
    if (communicator.rank() == 0) {
      EXPECT_EQ(records[2].state, WorkState::scheduled);
      EXPECT_EQ(records[2].started, 0);
      EXPECT_EQ(records[2].completed, 0);
    }
    seen.pass();
    if (communicator.rank() == 1) hanging = world.all_reduce(other);
    hanging->wait();
    done->wait();
    EXPECT_TRUE(communicator.records().snapshot()[0].retired);
  });
}

TEST(Records, OfAFailureSayFailed) {
  errors_of(2, [](Communicator& communicator) {
    std::vector<WorkRecord> retired;
    communicator.records().on_retired = [&](const WorkRecord& record) { retired.push_back(record); };
    if (communicator.rank() == 1) return communicator.abort("enough");
    EXPECT_NE(peer_error([&] { communicator.world().barrier(); }), "no PeerError");
    ASSERT_EQ(retired.size(), 1u);
    EXPECT_EQ(retired[0].state, WorkState::failed);
    EXPECT_GT(retired[0].completed, 0);
    EXPECT_EQ(communicator.records().snapshot().back().state, WorkState::failed);
    communicator.records().on_retired = nullptr;
  });
}

TEST(Work, MayBeGivenUp) {
  Gate gate(2);
  run_rank_threads(2, [&](Communicator& communicator) {
    if (communicator.rank() == 0) {
      WorkPtr work = communicator.world().all_reduce(at::ones({2}));
      work.reset();
    }
    gate.pass();
    if (communicator.rank() == 1) communicator.world().all_reduce(at::ones({2}))->wait();
    EXPECT_FALSE(communicator.records().snapshot().empty());
  });
}

TEST(Work, CannotBeWaitedForTwice) {
  run_rank_threads(1, [](Communicator& communicator) {
    const WorkPtr work = communicator.world().all_reduce(at::ones({2}));
    work->wait();
    EXPECT_THROW(work->wait(), InternalError);
  });
}

TEST(Determinism, SumsHaveTheSameBitsWhateverTheOrderOfArrival) {
  // Values of very different size: another order of summands gives another sum.
  const std::vector<float> values{1e8F, 1.0F, -1e8F, 3.0F};
  float expected = 0;
  for (const float value : values) expected += value;
  for (int turn = 0; turn < 8; ++turn) {
    run_rank_threads(4, [&](Communicator& communicator) {
      std::this_thread::sleep_for(milliseconds((communicator.rank() * 7 + turn * 3) % 5));
      const at::Tensor tensor = at::full({3}, values[static_cast<std::size_t>(communicator.rank())]);
      communicator.world().all_reduce(tensor)->wait();
      EXPECT_EQ(tensor.max().item<float>(), expected);
      EXPECT_EQ(tensor.min().item<float>(), expected);
    });
  }
}

}  // namespace
}  // namespace titan::comm
