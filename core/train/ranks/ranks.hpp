#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "core/comm/communicator.hpp"
#include "core/config/engine.hpp"

namespace titan::train {

/// The ranks of a run as one of them sees them, and how it takes leave of them. Used on the training thread.
class Ranks {
 public:
  /// Looks through a communicator that somebody else joined and keeps.
  explicit Ranks(comm::Communicator& communicator) : communicator_(&communicator) {}
  /// Takes the run's communicator, or joins: several ranks as comm::connect(), one rank without meeting anybody. Waits
  /// take `init_timeout` at most from then on.
  Ranks(const EngineRun& run, std::chrono::milliseconds init_timeout);

  comm::Communicator& communicator() const { return *communicator_; }
  const config::Mesh& mesh() const { return communicator_->mesh(); }
  std::int64_t rank() const { return communicator_->rank(); }
  bool alone() const { return communicator_->size() == 1; }

  /// Says that all ranks have agreed to end here: nobody waits for this rank any more, whatever is thrown next.
  void part() noexcept { parted_ = true; }
  /// Whether all ranks have agreed to end, and no rejoin() came since.
  bool has_agreed_to_end() const { return parted_; }
  /// Takes that back: before they end, the ranks save together.
  void rejoin() noexcept { parted_ = false; }
  /// Whether nobody waits for this rank: it has parted, or there is no other.
  bool has_parted() const { return parted_ || alone(); }
  /// Ends together: returns when all ranks are here.
  void leave();
  /// Has it written down that this rank fails, and tells the others, so that they leave at once; those are not told
  /// after part() or leave().
  void fail(std::string_view reason) noexcept;

 private:
  std::unique_ptr<comm::ThreadWorld> world_;
  std::unique_ptr<comm::Communicator> owned_;
  comm::Communicator* communicator_;
  bool parted_ = false;
};

/// Whether there is one rank; null says so too.
inline bool is_alone(const Ranks* ranks) { return ranks == nullptr || ranks->alone(); }

/// Whether the rank stands at 0 on cp, tp and pp: of the ranks that read the same data one counts it.
bool counts_data(const config::Mesh& mesh, std::int64_t rank);
/// Whether the rank counts its part of a loss: ranks along tp have the same. (Along cp each has its own tokens, and
/// along pp only the last stage has one.)
bool counts_loss(const config::Mesh& mesh, std::int64_t rank);

/// Position among the data-parallel ranks: which part of the data this rank reads.
std::int64_t data_rank(const config::Mesh& mesh, std::int64_t rank);
/// Number of ranks that read different data.
std::int64_t data_degree(const config::Mesh& mesh);

}  // namespace titan::train
