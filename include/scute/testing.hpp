// SPDX-License-Identifier: BSD-3-Clause
//
// testing.hpp: crash tests of your own data structures, in your ordinary test suite.
//
// You describe a scenario: how a structure is made, the steps that change it, and how its contents
// read as text. explore() runs it once on a simulated medium, which tracks for every store whether
// it is durable yet. Then it simulates a power failure at every moment. It generates each image of
// the pool that such a failure could have left, lets Scute recover, and opens the pool. (Some of
// the recoveries crash as well.) Your observer must read the same as before or after the step that
// was interrupted. Anything else, an error, or a pool that a check finds damaged, is a violation.
// It comes with a story: what was done, which stores were durable, what was wrong.
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
// The persistency model is that of x86 (see docs/internals/testing.md): a crash may leave any
// subset of the stores that no fence has completed, by lines or, for non-temporal stores, by 8
// bytes.
//
// A structure that lies in no pool can be explored as well: scute/exploration.hpp.
#ifndef SCUTE_TESTING_HPP
#define SCUTE_TESTING_HPP

#include <scute/exploration.hpp>
#include <scute/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace scute::testing {

namespace detail {
struct pool_recipe;
}

/// The argument of a step that does more than change the pool: the pool, and the medium under it.
class stage : public basic_stage {
 public:
  using basic_stage::basic_stage;
  explicit stage(const basic_stage& s) noexcept : basic_stage(s) {}

  /// The open pool. Throws std::logic_error while it is closed.
  scute::pool& pool() const;
};

/// One thread's part of a scenario: steps in their order, and what it answers for. The threads of a
/// scenario must change different objects, or take turns by a testing::mutex.
class thread : public basic_thread {
 public:
  /// A step: its description in a few words (for stories), and its function. It should be one
  /// transaction, or several of which the observer sees one. An exception from a step ends the
  /// exploration as a violation.
  thread& step(std::string what, std::function<void(scute::pool&)> body);
  thread& step_on_stage(std::string what, std::function<void(const stage&)> body);
  /// Reads everything that this thread answers for, as text. It is called on pools after every
  /// recovery, so it should be quick, and must throw or say so when the structure is not sound.
  /// Equal states must give equal texts.
  thread& observe(std::function<std::string(scute::pool&)> read);

 private:
  friend class scenario;
  explicit thread(basic_thread t) noexcept : basic_thread(std::move(t)) {}
};

/// The protection of a pool.
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

/// As scute::pool::set_engine(), of a pool that a stage has opened. No other thread may use it.
void set_engine(scute::pool& pool, scute_engine engine, uint64_t log_cap = 0);

/// A scenario to explore.
class scenario : public basic_scenario {
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

  /// Steps of one thread are taken by lanes in turn, as if by different threads one after the
  /// other.
  scenario& lanes_in_turn();
  /// All column blocks share this many locks, a power of two, as those of a large pool share what
  /// there is. Otherwise each block of a small pool has one of its own.
  scenario& share_locks(unsigned locks);
  /// The number of column blocks that one checkpoint of engine spec resolves after a crash. A small
  /// value simulates a large pool, where a checkpoint resolves only a part of them. Otherwise it is
  /// 64, which is all that a small pool has.
  scenario& resolve_at_once(unsigned blocks);
  /// The pool is on a disk, as far as that can be simulated: it has a folder, in which engine spec
  /// keeps its log in a file of its own. Durable bytes in one file say nothing about the other one.
  scenario& with_log_file();
  /// An operation that must work on every recovered pool, without changing what the observers read.
  /// Default: allocate, write, read and free an object.
  scenario& probe(std::function<void(scute::pool&)> body);
  /// A step may fail for want of space: std::exception derived errors with errc::nospc are no
  /// violation, in steps and probes.
  scenario& may_run_full();
  /// A crash may cost data on top of the damage that the scenario does: losses that a check finds
  /// are no violation then. The observers must still read correct contents, so they must
  /// distinguish an error that reports a loss (errc::corrupt) from wrong contents.
  scenario& may_lose();

 private:
  scenario(std::string name, std::shared_ptr<detail::pool_recipe> recipe);
  std::shared_ptr<detail::pool_recipe> recipe_;
};

}  // namespace scute::testing

#endif
