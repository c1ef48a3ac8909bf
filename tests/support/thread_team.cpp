#include "tests/support/thread_team.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.hpp"

namespace titan::test {

namespace {

/// Where the ranks leave their texts for each other.
class Table {
 public:
  explicit Table(std::int64_t size) : size_(static_cast<std::size_t>(size)), texts_(size_) {}

  std::vector<std::string> gather(std::int64_t rank, const std::string& text) {
    std::unique_lock lock(mutex_);
    texts_[static_cast<std::size_t>(rank)] = text;
    const std::uint64_t round = round_;
    if (++num_here_ == size_) {
      num_here_ = 0;
      ++round_;
      taken_ = texts_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round || has_failed_; });
    // Nobody begins a second round before all have left the first one, so what was taken is still there.
    if (round_ == round) throw PeerError("a rank of the team has failed");
    return taken_;
  }

  void fail(const std::exception_ptr& error) {
    const std::lock_guard lock(mutex_);
    if (!has_failed_) first_ = error;
    has_failed_ = true;
    changed_.notify_all();
  }

  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::size_t size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_, taken_;
  std::size_t num_here_ = 0;
  std::uint64_t round_ = 0;
  bool has_failed_ = false;
  std::exception_ptr first_;
};

class Member final : public checkpoint::Team {
 public:
  Member(Table& table, std::int64_t rank, std::int64_t size) : table_(table), rank_(rank), size_(size) {}
  std::int64_t rank() const override { return rank_; }
  std::int64_t size() const override { return size_; }
  std::vector<std::string> gather(const std::string& text) override { return table_.gather(rank_, text); }

 private:
  Table& table_;
  std::int64_t rank_, size_;
};

}  // namespace

void run_team(std::int64_t size, const std::function<void(checkpoint::Team&)>& body) {
  Table table(size);
  std::vector<std::thread> threads;
  for (std::int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      Member member(table, rank, size);
      try {
        body(member);
      } catch (...) {
        table.fail(std::current_exception());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  table.rethrow();
}

}  // namespace titan::test
