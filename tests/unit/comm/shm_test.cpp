// Ranks as threads of one process that talk as processes do: each has the segment mapped on its own.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "core/comm/reduction.hpp"
#include "core/comm/shm/endpoint.hpp"

namespace titan::comm::shm {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using Work = c10::intrusive_ptr<TimedWork>;

class Ranks : public ::testing::Test {
 protected:
  void open(std::size_t size) {
    segments_.push_back(Segment::create(size));
    while (segments_.size() < size) segments_.push_back(Segment::open(segments_.front()->offer(), size));
    std::vector<std::int64_t> members;
    for (std::size_t rank = 0; rank < size; ++rank) members.push_back(static_cast<std::int64_t>(10 + rank));
    for (std::size_t rank = 0; rank < size; ++rank) {
      claims_.push_back(Segment::open(segments_.front()->offer(), size));
      claims_[rank]->claim(rank);
      endpoints_.push_back(std::make_unique<Endpoint>(segments_[rank], rank, members));
    }
  }
  Work submit(std::size_t rank, const Endpoint::Make& make) {
    auto work = c10::make_intrusive<TimedWork>();
    endpoints_[rank]->submit(work, make);
    return work;
  }
  static TimedWork::Clock::time_point soon() { return TimedWork::Clock::now() + seconds(60); }
  bool ends(std::size_t rank, const Work& work) { return endpoints_[rank]->await(*work, soon()); }
  /// Runs `body` for each rank on a thread of its own.
  void each(const std::function<void(std::size_t rank)>& body) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < endpoints_.size(); ++rank) threads.emplace_back([&body, rank] { body(rank); });
    for (std::thread& thread : threads) thread.join();
  }
  /// As if the process of that rank had ended without a word.
  void kill(std::size_t rank) { claims_[rank].reset(); }

  std::vector<std::shared_ptr<Segment>> segments_, claims_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

at::Tensor values(std::size_t rank, std::int64_t count, at::ScalarType dtype) {
  const auto shift = static_cast<double>(rank + 1);
  return at::arange(count, at::kDouble).mul(0.37).add(shift).remainder(7.3 + shift).sub(shift).to(dtype);
}

/// What rank threads give: in order of rank.
at::Tensor expected(std::size_t ranks, std::int64_t count, at::ScalarType dtype, Reduce op) {
  std::vector<at::Tensor> parts;
  for (std::size_t rank = 0; rank < ranks; ++rank) parts.push_back(values(rank, count, dtype));
  return reduced(parts, op).to(dtype);
}

class Sizes : public Ranks, public ::testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Sizes, ::testing::Values(2, 3, 5));

TEST_P(Sizes, ReductionsHaveTheBitsOfRankThreads) {
  open(GetParam());
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kLong, at::kInt, at::kShort,
                                     at::kByte, at::kBool, at::kComplexFloat}) {
    for (const Reduce op : {Reduce::sum, Reduce::max, Reduce::min}) {
      if (dtype == at::kComplexFloat && op != Reduce::sum) continue;
      for (const std::int64_t count : {1, 1027, 200'003}) {
        each([&](std::size_t rank) {
          const at::Tensor all = values(rank, count, dtype);
          EXPECT_TRUE(ends(rank, submit(rank, [&](Seat& seat) { return all_reduce(seat, all, op); })));
          EXPECT_TRUE(at::equal(all, expected(GetParam(), count, dtype, op))) << all.dtype() << ' ' << count;
          const auto ranks = static_cast<std::int64_t>(GetParam());
          const at::Tensor whole = values(rank, ranks * count, dtype), part = at::empty({count}, dtype);
          EXPECT_TRUE(ends(rank, submit(rank, [&](Seat& seat) { return reduce_scatter(seat, part, whole, op); })));
          const at::Tensor sums = expected(GetParam(), ranks * count, dtype, op);
          EXPECT_TRUE(at::equal(part, sums.narrow(0, static_cast<std::int64_t>(rank) * count, count)));
        });
      }
    }
  }
}

TEST_P(Sizes, CallsThatNobodyWaitsForAreDone) {
  open(GetParam());
  std::vector<at::Tensor> tensors;
  std::vector<Work> works;
  for (const std::int64_t count : {3, 1'000'000, 5}) {
    for (std::size_t rank = 0; rank < GetParam(); ++rank) {
      tensors.push_back(at::full({count}, 1, at::kFloat));
      works.push_back(submit(rank, [&](Seat& seat) { return all_reduce(seat, tensors.back(), Reduce::sum); }));
    }
  }
  for (const Work& work : works) EXPECT_TRUE(work->wait_until(soon()));
  for (const at::Tensor& tensor : tensors) {
    EXPECT_EQ(tensor.min().item<float>(), static_cast<float>(GetParam()));
    EXPECT_EQ(tensor.max().item<float>(), static_cast<float>(GetParam()));
    EXPECT_EQ(tensor.use_count(), 1u);
  }
}

TEST_P(Sizes, ACallIsNotDoneBeforeAllHaveMadeIt) {
  open(GetParam());
  const Work early = submit(0, [](Seat& seat) { return barrier(seat); });
  EXPECT_FALSE(endpoints_[0]->await(*early, TimedWork::Clock::now() + std::chrono::milliseconds(60)));
  for (std::size_t rank = 1; rank < GetParam(); ++rank) submit(rank, [](Seat& seat) { return barrier(seat); });
  EXPECT_TRUE(ends(0, early));
  EXPECT_EQ(early->failure(), "");
}

using ShmFaults = Ranks;

TEST_F(ShmFaults, ADeadRankFailsTheCallsThatNeedIt) {
  open(3);
  const at::Tensor tensor = at::full({2'000'000}, 1, at::kFloat), other = at::full({1}, 1, at::kFloat);
  const Work reducing = submit(0, [&](Seat& seat) { return all_reduce(seat, tensor, Reduce::sum); });
  const auto from_dead = c10::make_intrusive<TimedWork>(), from_living = c10::make_intrusive<TimedWork>();
  endpoints_[0]->receive(2, {other, 1, from_dead});
  endpoints_[0]->receive(1, {other, 1, from_living});
  kill(2);
  EXPECT_TRUE(ends(0, reducing));
  EXPECT_THAT(reducing->failure(), HasSubstr("the process of rank 12 has ended"));
  EXPECT_TRUE(from_dead->wait_until(soon()));
  EXPECT_THAT(from_dead->failure(), HasSubstr("rank 12"));
  EXPECT_FALSE(from_living->isCompleted());
  const Work later = submit(0, [](Seat& seat) { return barrier(seat); });
  EXPECT_THAT(later->failure(), HasSubstr("rank 12"));
}

TEST_F(ShmFaults, WhatADeadRankDidBeforeCounts) {
  open(2);
  const at::Tensor sent = at::full({10}, 3, at::kFloat), received = at::full({10}, 0, at::kFloat);
  const auto receiving = c10::make_intrusive<TimedWork>(), sending = c10::make_intrusive<TimedWork>();
  endpoints_[0]->receive(1, {received, 1, receiving});
  endpoints_[1]->send(0, {sent, 1, sending});
  submit(1, [](Seat& seat) { return barrier(seat); });
  kill(1);
  const Work met = submit(0, [](Seat& seat) { return barrier(seat); });
  EXPECT_TRUE(ends(0, met));
  EXPECT_EQ(met->failure(), "");
  EXPECT_TRUE(receiving->wait_until(soon()));
  EXPECT_EQ(receiving->failure(), "");
  EXPECT_TRUE(at::equal(received, sent));
}

TEST_F(ShmFaults, AClosedRankFailsTheOthersAndItself) {
  open(2);
  const Work mine = submit(0, [](Seat& seat) { return barrier(seat); });
  const at::Tensor tensor = at::full({1}, 1, at::kFloat);
  const auto receiving = c10::make_intrusive<TimedWork>();
  endpoints_[1]->receive(0, {tensor, 1, receiving});
  endpoints_[1]->close();
  EXPECT_THAT(receiving->failure(), HasSubstr("closed"));
  EXPECT_TRUE(ends(0, mine));
  EXPECT_THAT(mine->failure(), HasSubstr("rank 11 has closed its connections"));
}

TEST_F(ShmFaults, OtherCallsAreNoticed) {
  open(2);
  const at::Tensor a = at::full({4}, 1, at::kFloat), b = at::full({9000}, 1, at::kFloat);
  const Work first = submit(0, [&](Seat& seat) { return all_reduce(seat, a, Reduce::sum); });
  const Work second = submit(1, [&](Seat& seat) { return all_reduce(seat, b, Reduce::sum); });
  EXPECT_TRUE(ends(0, first) && ends(1, second));
  EXPECT_THAT(first->failure(), HasSubstr("calls do not match"));
}

TEST_F(ShmFaults, RowsThatDoNotMatchAreNamed) {
  open(2);
  const at::Tensor in = at::full({4, 2}, 1, at::kFloat), out = at::empty({4, 2}, at::kFloat);
  const at::Tensor short_out = at::empty({3, 2}, at::kFloat);
  const Work first = submit(0, [&](Seat& seat) { return all_to_all(seat, out, in, {2, 2}, {2, 2}); });
  const Work second = submit(1, [&](Seat& seat) { return all_to_all(seat, short_out, in, {1, 2}, {2, 2}); });
  EXPECT_TRUE(ends(1, second));
  EXPECT_THAT(second->failure(), HasSubstr("position 0 sends 16 bytes to position 1, which expects 8"));
  endpoints_[1]->close();
  EXPECT_TRUE(ends(0, first));
}

TEST_F(ShmFaults, ASendOfAnotherSizeIsNamedOnBothSides) {
  open(2);
  const at::Tensor a = at::full({4}, 1, at::kFloat), b = at::full({5}, 1, at::kFloat);
  const auto sending = c10::make_intrusive<TimedWork>(), receiving = c10::make_intrusive<TimedWork>();
  endpoints_[0]->send(1, {a, 3, sending});
  endpoints_[1]->receive(0, {b, 3, receiving});
  EXPECT_TRUE(ends(0, sending) && ends(1, receiving));
  for (const auto& work : {sending, receiving}) {
    EXPECT_THAT(work->failure(), HasSubstr("16 bytes are sent, 20 are expected"));
  }
}

TEST(Segments, OfOthersAreRefused) {
  const auto segment = Segment::create(2);
  EXPECT_NO_THROW(Segment::open(segment->offer(), 2));
  EXPECT_THROW(Segment::open(segment->offer(), 3), std::runtime_error);
  EXPECT_THROW(Segment::open("1 2 3 4 another_boot/pid:[1] 7 70", 2), std::runtime_error);
  EXPECT_THROW(Segment::open("", 2), std::runtime_error);
  std::string other = segment->offer();
  other.replace(other.find(' ', other.find(' ') + 1) + 1, 1, "x");
  EXPECT_THROW(Segment::open(other, 2), std::runtime_error);
}

TEST(Segments, AreHeldByTheProcessThatClaimedThem) {
  const auto first = Segment::create(2);
  auto second = Segment::open(first->offer(), 2);
  first->claim(0);
  EXPECT_FALSE(first->is_held(1));
  second->claim(1);
  EXPECT_TRUE(first->is_held(1) && second->is_held(0));
  EXPECT_THROW(second->claim(0), std::system_error);
  second.reset();
  EXPECT_FALSE(first->is_held(1));
}

}  // namespace
}  // namespace titan::comm::shm
