#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/comm/peer_errors.hpp"

namespace titan::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Mismatch, NamesBothRanksAndTheirCalls) {
  const std::vector<std::string> errors = errors_of(2, [](Communicator& communicator) {
    communicator.set_module(communicator.rank() == 0 ? "layers.1" : "layers.2");
    if (communicator.rank() == 0) {
      communicator.world().all_reduce(at::ones({4}))->wait();
    } else {
      communicator.world().broadcast(at::ones({4}), 0)->wait();
    }
  });
  for (const std::string& error : errors) {
    EXPECT_THAT(error, AllOf(HasSubstr("calls do not match"),
                             HasSubstr("rank 0 calls all_reduce (sum) of float32 [4] in module layers.1"),
                             HasSubstr("rank 1 calls broadcast from position 0 of float32 [4] in module layers.2")));
  }
}

/// Two tensors that ranks 0 and 1 sum, and what the error says of them.
struct Unlike {
  at::Tensor first, second;
  Reduce second_op = Reduce::sum;
  std::string text;
};

TEST(Mismatch, OfShapesDtypesAndReductionsIsFound) {
  const std::vector<Unlike> cases = {
      {at::ones({4}), at::ones({5}), Reduce::sum, "float32 [5]"},
      {at::ones({4}), at::ones({4}, at::kDouble), Reduce::sum, "float64 [4]"},
      {at::ones({4}), at::ones({4}), Reduce::max, "all_reduce (max)"},
  };
  for (const Unlike& unlike : cases) {
    const std::vector<std::string> errors = errors_of(2, [&](Communicator& communicator) {
      const bool first = communicator.rank() == 0;
      const at::Tensor tensor = (first ? unlike.first : unlike.second).clone();
      communicator.world().all_reduce(tensor, first ? Reduce::sum : unlike.second_op)->wait();
    });
    for (const std::string& error : errors) {
      EXPECT_THAT(error, AllOf(HasSubstr("calls do not match"), HasSubstr(unlike.text)));
    }
  }
}

TEST(Mismatch, OfRowsOfAnAllToAllIsFound) {
  const std::vector<std::string> errors = errors_of(2, [](Communicator& communicator) {
    const std::vector<std::int64_t> sent{1, 1},
        expected = communicator.rank() == 0 ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1, 1};
    const at::Tensor out = at::empty({expected[0] + expected[1], 2});
    communicator.world().all_to_all(out, at::ones({2, 2}), expected, sent)->wait();
  });
  for (const std::string& error : errors) {
    EXPECT_THAT(error, HasSubstr("position 1 sends 1 to position 0, which expects 2"));
  }
}

TEST(Mismatch, OfASendAndItsReceiveIsFound) {
  const std::vector<std::string> errors = errors_of(2, [](Communicator& communicator) {
    if (communicator.rank() == 0) {
      communicator.world().send(at::ones({4}), 1, 3)->wait();
    } else {
      communicator.world().receive(at::empty({5}), 0, 3)->wait();
    }
  });
  for (const std::string& error : errors) {
    EXPECT_THAT(error, AllOf(HasSubstr("sends float32 [4] with tag 3"), HasSubstr("receives float32 [5]")));
  }
}

}  // namespace
}  // namespace titan::comm
