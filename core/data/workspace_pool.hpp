#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/data/bpe.hpp"
#include "core/data/regex.hpp"

namespace titan::data {

/// What encoding needs beside the text: one thread has it at a time.
struct Workspace {
  explicit Workspace(const BpeTables& tables) : bpe(tables) {}
  RegexScratch regex;
  BpeEncoder bpe;
};

/// Lends workspaces, so that their caches outlive a call and no two threads share one. Thread-safe. Holds as many as
/// were ever lent at the same time.
class WorkspacePool {
 public:
  /// `tables` outlives the pool.
  explicit WorkspacePool(const BpeTables& tables) : tables_(tables) {}

  /// A workspace, given back at the end of the scope.
  class Lease {
   public:
    explicit Lease(WorkspacePool& pool);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Workspace& operator*() const { return *workspace_; }

   private:
    WorkspacePool& pool_;
    std::unique_ptr<Workspace> workspace_;
  };

 private:
  std::unique_ptr<Workspace> take();
  void put_back(std::unique_ptr<Workspace> workspace);

  const BpeTables& tables_;
  std::mutex mutex_;
  std::size_t num_made_ = 0;
  std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace titan::data
