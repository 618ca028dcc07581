// SPDX-License-Identifier: BSD-3-Clause
// An open pool: its state and all components that use it. The opaque scute_pool is an instance.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/process/process.hpp"
#include "core/file/ownership.hpp"
#include "core/heap/heap.hpp"
#include "core/repair/fault_handler.hpp"
#include "core/repair/page_repair.hpp"
#include "core/scrub/enumeration.hpp"
#include "core/session/idle_drain.hpp"
#include "core/session/lane_leases.hpp"
#include "core/session/overwrite_check.hpp"
#include "core/session/resolution_service.hpp"
#include "core/session/scrub_service.hpp"
#include "core/session/thread_state.hpp"
#include "core/shared/state.hpp"
#include "core/tx/replacer.hpp"
#include "core/tx/transaction.hpp"
#include "scute/scute.h"

namespace scute::core {

// The engine and the heap need each other: the heap makes its steps through the engine, and the
// engine borrows chunks for long logs from the heap. So the relay is made first, and gets its
// target later.
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

// How to make a foreign pool (core/layout/foreign.hpp).
struct foreign_request {
  std::unique_ptr<medium::user_file> file;  // becomes the pool's
  // the size that it may grow to; 0: somewhat more than now
  uint64_t capacity = 0;
  unsigned guard =
      0;  // permissions of the file to take away, and to restore in the end; 0: it keeps all
  medium::ownership owner = 0;  // of the file; the pool's own files get the same (FILE-5)
  // set by create(): the file's identity when its checksums were made
  medium::file_identity seen;
  std::optional<replaced_pool> replaced;  // with SCUTE_OVERWRITE; the caller has it locked
};

// Thrown if the user's file of a foreign pool may have changed since the clean close.
struct unknown_user_file {};

class instance {
 public:
  // foreign: the pool is to protect a file. Then the pool is made durable, and gets its name, only
  // if the file has not changed meanwhile.
  static std::unique_ptr<instance> create(const std::string& path, const scute_options& options,
                                          foreign_request* foreign = nullptr);
  static std::unique_ptr<instance> open(const std::string& path, const scute_options& options);
  // On a medium that the caller has made, such as the simulated one of testing/. identity: 18
  // bytes, of which the pool's uuid and tag are made; null for random ones. paths: where the log of
  // the pool may lie; null: only in the pool. A new log gets its name when the pool has its own
  // (core/engine/speculative/log_file/log_in_file.hpp, log_in_file::name()).
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
  // Drops the pool as a crash would: nothing more is written.
  void abandon() noexcept {
    resolving.stop();
    idle.stop();
    open_ = false;
    end_life();
  }
  // Makes the user's file of a foreign pool longer.
  void grow_user_file(uint64_t size) SCUTE_REQUIRES(user_file_mutex);
  void reserve_user_file(uint64_t size) SCUTE_REQUIRES(user_file_mutex);
  // Held by a thread that changes its bytes or its length.
  waiting_mutex user_file_mutex;
  // Made when it is first needed.
  std::unique_ptr<tx::replacer> replacing SCUTE_GUARDED_BY(user_file_mutex);
  // The pool belongs to another process, from which this one was forked: it must not be used here
  // (base/process/process.hpp, PROC-1).
  bool inherited() const noexcept { return process_ != this_process(); }

  uint64_t root(uint64_t size, uint32_t type);
  // The caller makes sure that no thread is in the pool and no recovery is running, and that the
  // objects in the file depend on no particular engine. goal: the engine that the pool gets after
  // this switch (GOAL-1); null: this is the last switch.
  void switch_engine(const pool::engine_facts& to, uint64_t log_cap,
                     const pool::engine_facts* goal = nullptr);
  // The same for a pool that was just opened; finishes its recovery first.
  void set_engine(const pool::engine_facts& to, uint64_t log_cap);
  // Names a log that was made with the pool, or for another engine.
  void name_log();
  // The same for a pool that is about to be replaced and that no process opens any more: until then
  // it stays complete.
  static void name_log_of(const std::string& path, const format::superblock& sb);
  // Removes the log of a pool that is about to be removed.
  static void remove_log_of(const std::string& path, const format::superblock& sb);
  // The pool is not made after all: removes a log that was made with it. Keeps errno.
  void forget_log() noexcept;
  // Whether a log in chunks would get a file of its own here.
  bool wants_log_file() const noexcept;
  // Whether the log of the engine that the pool is to get back does, whatever the medium.
  bool goal_goes_to_file() const noexcept;

  pool::state s;
  std::unique_ptr<repair::page_repairer> pages;
  step_relay relay;
  std::unique_ptr<heap::heap> heap;
  std::unique_ptr<scrub::enumeration> objects;
  std::unique_ptr<tx::engine> engine;
  std::deque<tx::transaction> transactions;  // one per lane

  // Gets a lane's transaction for the calling thread, and returns it.
  tx::transaction& acquire();
  void release(tx::transaction& t) noexcept;
  // Runs fn with the lane if no transaction uses it now; other threads that want the lane wait
  // meanwhile.
  bool with_idle_lane(uint32_t lane, const std::function<void(pool::lane&)>& fn);
  // Makes all deferred parity durable.
  void drain();
  // Whether the options of this session, apart from recovery, ask for verified reads.
  bool verify_on_read_by_choice() const noexcept {
    return s.policy == SCUTE_POLICY_CONSERVATIVE || s.account.enabled();
  }
  // Rebuilds the pages that the kernel knows to be bad.
  void repair_bad_pages(scute_finder finder);

  const uint64_t serial;  // distinguishes pools that were opened at the same address
  pool_life* const life = new_pool_life(serial);
  bool was_clean = true;
  tx::recovery_report recovery;
  uint64_t recovery_ns = 0, open_ns = 0;

 private:
  instance();
  void adopt(std::unique_ptr<medium::medium> m, const std::string& path);
  void assemble();
  void take_options(const scute_options& options);
  // The engine to which an opening switches the pool before its caller has it; null: none.
  static const pool::engine_facts* goal_of(const pool::state& s) noexcept;
  void switch_to_goal();
  void report_goal(const pool::engine_facts* goal) noexcept;
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
  // Starts the pool's own threads. On a simulated medium there are none: the test makes the threads
  // there, and they take turns.
  void start_threads(bool scan);

  // From here on no other thread ends its transactions.
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
  bool accepted_ = false;  // the user's file counts as unchanged, whatever its times
  waiting_mutex root_mutex_;
  lane_leases leases_;

 public:
  resolution_service resolving{*this};
  idle_drain idle{*this};
  scrub_service scrubs{*this};  // the last member, since its threads use the others
};

}  // namespace scute::core
