// SPDX-License-Identifier: BSD-3-Clause
//
// testing.hpp: crash tests of your own data structures, in your ordinary test suite.
//
// You describe a scenario: how a structure is made, the steps that change it, and how its contents
// read as text. explore() runs it once on a simulated medium, which knows of every store whether it
// was durable yet, and then puts the power off at every moment: for each image of the pool that
// such a failure could have left, it lets Scute recover (and crashes some of the recoveries too),
// opens the pool, and compares what your observer reads with what it read before and after the step
// that was under way. Anything else, an error, or a pool that a check finds damaged, is a
// violation, which comes with a story: what was done, which stores were durable, what was wrong.
//
//   scute::testing::scenario s("queue");
//   s.setup([](scute::pool& p) { ... })
//       .step("push 1", [](scute::pool& p) { ... })
//       .step("pop", [](scute::pool& p) { ... })
//       .observe([](scute::pool& p) { return text_of_queue(p); });
//   const auto result = scute::testing::explore(s);
//   EXPECT_TRUE(result.sound) << result.story;
//
// Link with scute::testing (pkg-config: scute-testing), a static library that brings a copy of
// Scute along; do not link the shared library into the same program.
//
// The persistency model is that of x86 (see docs/testing.md): a crash may leave any subset of the
// stores that no fence has completed, by lines or, for non-temporal stores, by 8 bytes.
#ifndef SCUTE_TESTING_HPP
#define SCUTE_TESTING_HPP

#include <scute/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace scute::testing {

namespace detail {
class stage_state;
struct scenario_state;
}  // namespace detail

/// What a step that does more than change the pool works on: the pool, and the medium under it.
class stage {
 public:
  explicit stage(detail::stage_state& s) noexcept : state_(&s) {}

  /// The open pool. Throws std::logic_error while it is closed.
  scute::pool& pool() const;
  bool is_open() const noexcept;
  /// Closes the pool properly; opens it again; makes it anew (which is only allowed in a scenario
  /// that starts without one).
  void close() const;
  void open() const;
  void create() const;
  /// Lets go of the pool as a dying process would, with everything it has stored on the medium.
  void abandon() const;

  /// The bytes of the medium as the program sees them. Not to be written to: see damage().
  std::span<const std::byte> bytes() const noexcept;
  /// Changes bytes behind the library's back, durably, as a media error or a scribble does.
  void damage(uint64_t offset, std::span<const std::byte> bytes) const;
  /// Loses the page that holds this byte: it becomes noise, and whoever accesses it next finds it
  /// rebuilt. Until then it counts as lost, after a crash as well. The pool must be open.
  void lose_page(uint64_t offset) const;

 private:
  detail::stage_state* state_;
};

/// The lock to use between the threads of a scenario. A std::mutex that is held across a transaction
/// would stop the exploration for ever: the thread that holds it may have lost its turn, and the one
/// that waits in std::mutex::lock() never gives its own away. Outside explorations it is an ordinary
/// mutex, so a structure may take its mutex type as a template argument.
class mutex {
 public:
  mutex();
  ~mutex();
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  void lock();
  bool try_lock();
  void unlock();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Called by a thread of a scenario that was refused and is about to try again: gives its turn to the next
/// one. Without it a scenario would try for ever, since nobody else gets a turn. Elsewhere it yields.
void give_way();

/// One thread's part of a scenario: steps in their order, and what it answers for. The threads of a
/// scenario must change different objects, or take turns by a testing::mutex.
class thread {
 public:
  /// A step: what it does in a few words (for stories), and the doing. It should be one transaction,
  /// or several of which the observer sees one; what it throws ends the exploration as a violation.
  thread& step(std::string what, std::function<void(scute::pool&)> body);
  thread& step_on_stage(std::string what, std::function<void(const stage&)> body);
  /// Reads everything that this thread answers for, as text. It is called on pools after every
  /// recovery, so it should be quick, and must throw or say so when the structure is not sound.
  /// Equal states must give equal texts.
  thread& observe(std::function<std::string(scute::pool&)> read);

 private:
  friend class scenario;
  thread(std::shared_ptr<detail::scenario_state> s, size_t index) noexcept
      : state_(std::move(s)), index_(index) {}
  std::shared_ptr<detail::scenario_state> state_;
  size_t index_;
};

/// What a pool is protected by.
struct pool_kind {
  scute_protection protection;
  scute_engine engine;
  uint32_t parity;
  /// Engine AUTO and parity 0: what the library chooses.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr pool_kind(scute_protection p = SCUTE_PROTECT_MLPC, scute_engine e = SCUTE_ENGINE_AUTO,
                      uint32_t rows_of_parity = 0)
      : protection(p), engine(e), parity(rows_of_parity) {}
};
/// Options for small pools, so that many of them can be recovered per second: 320 KiB, 3 lanes, 4
/// data rows, each of 13 pages; larger by a row with each further row of parity.
scute_options small_pool(pool_kind kind = {});

/// What is to be explored.
class scenario {
 public:
  explicit scenario(std::string name, const scute_options& pool = small_pool());

  /// Makes what the steps start from. Not explored; the pool is closed and opened again after it.
  scenario& setup(std::function<void(scute::pool&)> make);
  /// Without a pool to start from: a step has to create it.
  scenario& without_pool();

  /// Steps and observer of the first thread; see thread.
  scenario& step(std::string what, std::function<void(scute::pool&)> body);
  scenario& step_on_stage(std::string what, std::function<void(const stage&)> body);
  scenario& observe(std::function<std::string(scute::pool&)> read);
  /// A further thread, or the first one (index 0). With more than one, explore() tries many
  /// interleavings, switching threads at their operations on the medium.
  thread in_thread(size_t index);

  /// Steps of one thread are taken by lanes in turn, as if by different threads one after the other.
  scenario& lanes_in_turn();
  /// All column blocks share this many locks, a power of two, as those of a large pool share what there is.
  /// Otherwise each block of a small pool has one of its own.
  scenario& share_locks(unsigned locks);
  /// What must work on every recovered pool, without changing what the observers read. Without it:
  /// allocate, write, read and free an object.
  scenario& probe(std::function<void(scute::pool&)> body);
  /// A step may fail for want of space: std::exception derived errors with errc::nospc are no
  /// violation, in steps and probes.
  scenario& may_run_full();
  /// A crash may cost data on top of the damage that the scenario does: that a check finds losses is
  /// no violation then. What the observers read still has to be right, so they must tell an error that
  /// reports a loss (errc::corrupt) from wrong contents.
  scenario& may_lose();

  const std::string& name() const noexcept;

 private:
  friend struct detail::scenario_state;
  friend const detail::scenario_state& state_of(const scenario& s) noexcept;
  std::shared_ptr<detail::scenario_state> state_;
};

struct progress {
  uint64_t states;  ///< recovered and judged so far
  uint64_t states_wanted;
};

struct explore_options {
  uint64_t states = 20000;  ///< crash states to recover and judge; fewer if there are no more
  uint64_t seed = 1;        ///< of everything that is chosen at random
  bool eadr = false;        ///< caches are durable
  /// Recoveries may crash too, up to three in a row. At times it is the process that dies first, and the power
  /// fails when its successor recovers, to whom stores were visible that were not durable.
  bool crash_recovery = true;
  bool thorough = false;        ///< read and reopen every pool again after its probe, not some
  bool faults = true;           ///< damage one replica or one page of some images
  uint64_t interleavings = 64;  ///< with several threads
  std::string only;  ///< the name of one state, from a story: judge that one and nothing else
  /// The command that repeats a state; in it %s stands for the name of the state. For stories.
  std::string repeat_command;
  std::function<void(const progress&)> progress;  ///< now and then
  /// When nothing was finished for so long the process says that it hangs, and where, and aborts.
  double hang_seconds = 60;
};

struct exploration {
  bool sound = true;           ///< no violation
  std::string story;           ///< of the first violation
  uint64_t states = 0;         ///< recovered and judged
  uint64_t recrashed = 0;      ///< of them, left by a crash of a recovery
  uint64_t killed = 0;         ///< of them, left by the death of a process, with the power on
  uint64_t damaged = 0;        ///< of them, with a fault on top of the crash
  uint64_t crash_points = 0;   ///< moments at which the power failed
  uint64_t interleavings = 0;  ///< runs recorded
  bool complete = false;       ///< every image that the model allows was judged
  double seconds = 0;
};

/// Explores a scenario. Ends at the first violation. One exploration at a time per process.
exploration explore(const scenario& s, const explore_options& how = {});

/// The same for scenarios that are made from a seed: one after the other, until there were as many
/// states as wanted, each with its share of them.
exploration explore(const std::function<scenario(uint64_t seed)>& make,
                    const explore_options& how = {});

}  // namespace scute::testing

#endif
