#include "core/app/checkpoint/verification.hpp"

#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/app/checkpoint/made_checkpoint.hpp"

namespace titan::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VerificationTest : public ::testing::Test {
 protected:
  VerificationTest() {
    made_.add("w", testing::Made<float>{checkpoint::DType::f32, {2}, {1, 2}});
    made_.save();
  }

  LocatedStep step() const { return locate(folder_.path()).steps.front(); }

  test::TemporaryFolder folder_;
  testing::MadeCheckpoint made_{folder_.path()};
};

TEST_F(VerificationTest, SaysWhatARightOneWasCheckedFor) {
  const Verification verification = verify_step(step());
  EXPECT_THAT(verification.findings, IsEmpty());
  EXPECT_EQ(verification_text("step-3", verification), "step-3: intact: 2 files, 4 KiB, every hash\n");
}

TEST_F(VerificationTest, AnErrorIsAFinding) {
  std::filesystem::remove(folder_ / "step-3/index.json");
  const Verification verification = verify_checkpoint(folder_ / "step-3");
  EXPECT_THAT(verification.findings, ElementsAre(HasSubstr("index.json")));
  EXPECT_FALSE(verification.is_unreadable);
}

TEST_F(VerificationTest, ALostManifestIsNamed) {
  std::filesystem::remove(folder_ / "step-3/MANIFEST.json");
  EXPECT_THAT(verify_step(step()).findings, ElementsAre("it has no MANIFEST.json"));
}

TEST_F(VerificationTest, ChecksumsOfADistributedCheckpointAreCompared) {
  std::filesystem::create_directory(folder_ / "dcp");
  checkpoint::export_dcp(checkpoint::system_calls(), open_checkpoint(folder_ / "step-3"), folder_ / "dcp");
  EXPECT_THAT(verification_text("dcp", verify_checkpoint(folder_ / "dcp")),
              AllOf(HasSubstr("dcp: intact: 1 file, "), HasSubstr(", the structure, and every checksum there is\n")));
  const checkpoint::Source source = open_checkpoint(folder_ / "dcp");
  std::fstream file(source.files[0].path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(source.tensors.at("w").parts[0].begin));
  file.put('x').flush();
  EXPECT_THAT(verify_checkpoint(folder_ / "dcp").findings, ElementsAre(HasSubstr("__0_0.distcp: w: damaged: ")));
}

/// Makes reads of exactly so many bytes fail from here on, as those of a bad disk do. For a process that ends soon.
void fail_reads_of(std::uint64_t size) {
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kSize = static_cast<std::uint32_t>(offsetof(seccomp_data, args[2]));
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kSize),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(size), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/// Runs `titan checkpoint verify` where a file cannot be read, and ends with its exit code; prints to standard error.
[[noreturn]] void verify_on_a_bad_disk(const std::filesystem::path& folder, const std::filesystem::path& unreadable) {
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  fail_reads_of(std::filesystem::file_size(unreadable));
  try {
    run_command_line({"checkpoint", "verify", folder});
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(static_cast<int>(error.exit()));
  }
  std::exit(0);
}

TEST_F(VerificationTest, AStepThatCannotBeReadIsNotTheEndOfTheRun) {
  made_.add("another_tensor_makes_a_longer_index", testing::Made<float>{checkpoint::DType::f32, {2}, {1, 2}});
  made_.save({}, 5);
  const std::filesystem::path unreadable = folder_ / "step-3/index.json";
  EXPECT_EXIT(
      verify_on_a_bad_disk(folder_.path(), unreadable), ::testing::ExitedWithCode(74),
      "step-3: damaged(.|\n)*Input/output error(.|\n)*step-5: intact(.|\n)*1 of 2 steps cannot be read: step-3");
  EXPECT_EXIT(verify_on_a_bad_disk(folder_ / "step-3", unreadable), ::testing::ExitedWithCode(74),
              "the checkpoint cannot be read: ");
  std::filesystem::remove(folder_ / "step-5/MANIFEST.json");
  EXPECT_EXIT(verify_on_a_bad_disk(folder_.path(), unreadable), ::testing::ExitedWithCode(65),
              "2 of 2 steps are damaged: step-3, step-5");
}

TEST_F(VerificationTest, StepsWithoutACheckpointAreNoInput) {
  std::filesystem::create_directories(folder_ / "empty/step-1");
  EXPECT_THAT(titan::testing::error_text<InputError>([&] {
                run_command_line({"checkpoint", "verify", folder_ / "empty"});
              }),
              HasSubstr("there is no checkpoint in the steps of the folder: "));
}

TEST_F(VerificationTest, TheTextEnds) {
  const Verification verification{std::vector<std::string>(103, "a\nb"), {}};
  const std::string text = verification_text("x", verification);
  EXPECT_THAT(text, HasSubstr("x: damaged\n  a\\nb\n"));
  EXPECT_THAT(text, HasSubstr("  and 3 more\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 102);
}

}  // namespace
}  // namespace titan::app
