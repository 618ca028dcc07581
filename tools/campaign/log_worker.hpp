// SPDX-License-Identifier: BSD-3-Clause
// log_worker.hpp: a process that overwrites objects of a
// pool, each as a whole, one transaction after the other, as far as it is let; and the model of
// what they hold then.
#pragma once

#include <scute/scute.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace scute_campaign {

// Transactions count from 1, also over sessions; version 0 of an object is what it was made with.
class log_model {
 public:
  log_model(uint64_t seed, size_t objects) : seed_(seed), writers_(objects) {}

  // One more transaction; the objects that it overwrites.
  void add(std::vector<size_t> objects);
  uint64_t transactions() const noexcept { return plan_.size(); }
  const std::vector<size_t>& plan(uint64_t number) const { return plan_[number - 1]; }
  // The transaction, up to this one, that has overwritten the object last.
  uint64_t version(size_t object, uint64_t upto) const;
  // The version that the bytes are, or UINT64_MAX.
  uint64_t version_of(size_t object, std::span<const std::byte> bytes) const;
  void fill(std::byte* to, size_t object, uint64_t version, uint64_t n) const noexcept;

 private:
  uint64_t seed_;
  std::vector<std::vector<size_t>> plan_;
  std::vector<std::vector<uint64_t>> writers_;  // of each object, ascending
};

class log_worker {
 public:
  // Works on the transactions after `done`.
  log_worker(const std::string& path, const log_model& model, std::span<const scute_oid> oids,
             uint64_t done);
  ~log_worker();  // kills it
  log_worker(const log_worker&) = delete;
  log_worker& operator=(const log_worker&) = delete;

  // Lets it come so far; waits until it has, unless it is to continue meanwhile. These throw if it
  // gives up.
  void let(uint64_t upto);
  void wait(uint64_t upto);
  // Has it check and repair the pool between two transactions.
  void repair();
  void drain();
  void close();  // properly; it ends
  // kill -9. The last transaction that it has reported as committed.
  uint64_t kill();

 private:
  struct board {
    std::atomic<uint64_t> limit{0}, done{0};
    std::atomic<uint32_t> scrubs{0}, scrubbed{0}, drains{0}, drained{0};
    std::atomic<bool> close{false}, failed{false};
    char text[240] = {};
  };
  void run(const std::string& path, const log_model& model, std::span<const scute_oid> oids);
  void turn(scute_pool* pool) const;
  template <typename Fn>
  void until(Fn&& fn);

  board* board_;
  pid_t pid_ = -1;
};

}  // namespace scute_campaign
