// SPDX-License-Identifier: BSD-3-Clause
// An open pool, put together: the state and everything that works on it. This is what the opaque
// scute_pool is.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/process.hpp"
#include "heap/heap.hpp"
#include "medium/ownership.hpp"
#include "pool/state.hpp"
#include "repair/fault_handler.hpp"
#include "repair/page_repair.hpp"
#include "scrub/enumeration.hpp"
#include "scute/scute.h"
#include "session/idle_drain.hpp"
#include "session/lane_leases.hpp"
#include "session/overwrite_check.hpp"
#include "session/resolution_service.hpp"
#include "session/scrub_service.hpp"
#include "session/thread_state.hpp"
#include "tx/replacer.hpp"
#include "tx/transaction.hpp"

namespace scute::core {

// The engine and the heap need each other: the heap makes its steps through the engine, the engine
// borrows chunks for long logs from the heap. The relay is made first and told later.
class step_relay final : public heap::step_engine {
 public:
  void step(pool::lane& l, std::span<const pool::patch> patches) override {
    target->step(l, patches);
  }
  bool takes_steps_along() const noexcept override { return target->takes_steps_along(); }
  void prewrite(pool::lane& l, std::span<const pool::patch> patches) override {
    target->prewrite(l, patches);
  }
  void write_unlogged(pool::lane& l, std::span<const pool::patch> patches) override {
    target->write_unlogged(l, patches);
  }
  void prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length) override {
    target->prepare_reuse(l, chunk, length);
  }
  std::optional<uint64_t> record_room(uint64_t chunks) override {
    return target->record_room(chunks);
  }
  heap::step_engine* target = nullptr;
};

// Of a foreign pool that is going to be made (pool/foreign.hpp).
struct foreign_request {
  std::unique_ptr<medium::user_file> file;  // becomes the pool's
  uint64_t capacity = 0;                    // that it may grow to; 0: somewhat more than it has
  unsigned guard =
      0;  // these permissions of its are taken away, and given back in the end; 0: it keeps them
  medium::ownership owner = 0;            // of the file; the pool's own files get them (FILE-5)
  medium::file_identity seen;             // by create(): what it was when its checksums were made
  std::optional<replaced_pool> replaced;  // with SCUTE_OVERWRITE; its owner has it locked
};

// The user's file of a foreign pool may not be what it was at the clean close.
struct unknown_user_file {};

class instance {
 public:
  // foreign: the pool is to protect a file; then the pool is made durable, and gets its name, when
  // that is as it was before.
  static std::unique_ptr<instance> create(const std::string& path, const scute_options& options,
                                          foreign_request* foreign = nullptr);
  static std::unique_ptr<instance> open(const std::string& path, const scute_options& options);
  // On top of a medium that somebody else made; what testing/ uses with its simulated one.
  // identity: 18 bytes, of which the pool's uuid and tag are made; null for random ones. beside:
  // where the log of the pool may lie; null: in the pool alone. A new one gets its name when the
  // pool has its own (engine/speculative/log_in_file.hpp, log_in_file::name()).
  static std::unique_ptr<instance> format(std::unique_ptr<medium::medium> m,
                                          const std::string& path, const scute_options& options,
                                          const std::byte* identity = nullptr,
                                          std::unique_ptr<medium::log_paths> paths = nullptr,
                                          foreign_request* foreign = nullptr);
  static std::unique_ptr<instance> attach(std::unique_ptr<medium::medium> m,
                                          const std::string& path, const scute_options& options,
                                          std::unique_ptr<medium::log_paths> paths = nullptr,
                                          std::unique_ptr<medium::user_file> user = nullptr,
                                          bool accepted = false);
  ~instance();

  // Marks the pool clean. Throws SCUTE_E_IO if that could not be made durable.
  void close();
  // Lets go of the pool as a crash would: nothing more is written.
  void abandon() noexcept {
    resolving.stop();
    idle.stop();
    open_ = false;
    end_life();
  }
  // The user's file of a foreign pool gets this size, which is larger.
  void grow_user_file(uint64_t size) SCUTE_REQUIRES(user_file_mutex);
  void reserve_user_file(uint64_t size) SCUTE_REQUIRES(user_file_mutex);
  // Who changes its bytes, or its length.
  waiting_mutex user_file_mutex;
  // Made when it is first needed.
  std::unique_ptr<tx::replacer> replacing SCUTE_GUARDED_BY(user_file_mutex);
  // The pool is another process's, from which this one was forked: nothing may be done with it
  // (base/process.hpp, PROC-1).
  bool inherited() const noexcept { return process_ != this_process(); }

  uint64_t root(uint64_t size, uint32_t type);
  // Nobody is in the pool, and no recovery is going on. What the file holds is objects of no engine
  // in particular. goal: the engine that the pool gets behind that (GOAL-1); null: it has come
  // there.
  void switch_engine(const pool::engine_facts& to, uint64_t log_cap,
                     const pool::engine_facts* goal = nullptr);
  // The same for a pool that was just opened, with whatever recovery there is.
  void set_engine(const pool::engine_facts& to, uint64_t log_cap);
  // A log that was made with the pool, or for another engine, gets its name.
  void name_log();
  // The same for a pool that is about to be replaced, and that nobody opens any more: until then it
  // is whole.
  static void name_log_of(const std::string& path, const format::superblock& sb);
  // Of a pool that is about to be removed: its log goes.
  static void remove_log_of(const std::string& path, const format::superblock& sb);
  // The pool is not made after all: a log that was made with it goes. errno stays.
  void forget_log() noexcept;
  // A log in chunks would be made in a file of its own here.
  bool wants_log_file() const noexcept;

  pool::state s;
  std::unique_ptr<repair::page_repairer> pages;
  step_relay relay;
  std::unique_ptr<heap::heap> heap;
  std::unique_ptr<scrub::enumeration> objects;
  std::unique_ptr<tx::engine> engine;
  std::deque<tx::transaction> transactions;  // one per lane

  // A lane's transaction for the calling thread, and its return.
  tx::transaction& acquire();
  void release(tx::transaction& t) noexcept;
  // Runs fn with the lane if no transaction uses it now; others who want it wait meanwhile.
  bool with_idle_lane(uint32_t lane, const std::function<void(pool::lane&)>& fn);
  // Makes all deferred parity durable.
  void drain();
  // What the options of this session ask for, but for recovery.
  bool verify_on_read_by_choice() const noexcept {
    return s.policy == SCUTE_POLICY_CONSERVATIVE || s.account.enabled();
  }
  // Rebuilds the pages that the kernel knows to be bad.
  void repair_bad_pages(scute_finder finder);

  const uint64_t serial;  // tells pools apart that were opened at the same address
  pool_life* const life = new_pool_life(serial);
  bool was_clean = true;
  tx::recovery_report recovery;
  uint64_t recovery_ns = 0, open_ns = 0;

 private:
  instance();
  void adopt(std::unique_ptr<medium::medium> m, const std::string& path);
  void assemble();
  void take_options(const scute_options& options);
  void tell_goal(const pool::engine_facts* goal) noexcept;
  void look_for_log(const pool::engine_facts& kind, const scute_options& o);
  void begin_session(const scute_options& options);
  void find_user_file(const scute_options& options);
  void note_user_file();
  void finish_growth();
  static void require_unchanged(const std::string& path, const scute_options& options);
  std::optional<uint64_t> first_repaired_byte() const;
  static std::unique_ptr<instance> open_accepted(const std::string& path,
                                                 const scute_options& options,
                                                 bool accepted = true);
  void watch_pages(const scute_options& options);
  void repair_known_losses();
  // Threads of the pool's own. On a simulated medium there are none: threads take turns there, and
  // are the test's to make.
  void start_threads(bool scan);

  // From here on nobody else ends its transactions.
  void end_life() noexcept {
    const locked hold(life->ending);
    life->serial.store(0, std::memory_order_release);
  }

  const uint64_t process_ = this_process();
  bool open_ = false;
  const pool::engine_facts* goal_ =
      nullptr;                          // the engine that the opening has to switch to (GOAL-3)
  std::vector<uint64_t> known_losses_;  // pages, found at opening
  std::optional<repair::fault_domain> faults_;
  bool accepted_ = false;  // the user's file is known to be what it was, whatever its times
  waiting_mutex root_mutex_;
  lane_leases leases_;

 public:
  resolution_service resolving{*this};
  idle_drain idle{*this};
  scrub_service scrubs{*this};  // the last member: its threads use the others
};

}  // namespace scute::core
