// SPDX-License-Identifier: BSD-3-Clause
//
// exploration.hpp: the crash explorer, for any subject (scute/subject.hpp). For structures that are
// kept in a scute::pool use scute/testing.hpp, which has the same with scute::pool in place of the
// subject.
//
//   class counter : public scute::testing::subject { ... void count(); std::string text(); };
//
//   scute::testing::scenario_of<counter> s("counter");
//   s.step("count", [](counter& c) { c.count(); })
//       .step("count", [](counter& c) { c.count(); })
//       .observe([](counter& c) { return c.text(); });
//   const auto result = scute::testing::explore(s);
//   EXPECT_TRUE(result.sound) << result.story;
//
// explore() runs the steps once and then simulates a power failure at every moment. It generates
// each image of the memory that such a failure could have left, and lets the subject open it. (Some
// of these recoveries crash as well.) The observer must read the same as before or after the step
// that was interrupted. Anything else, an error, or findings of a check are a violation, which
// comes with a story.
#ifndef SCUTE_EXPLORATION_HPP
#define SCUTE_EXPLORATION_HPP

#include <scute/subject.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace scute::testing {

namespace detail {
class stage_state;
struct scenario_state;
}  // namespace detail

/// The argument of a step that does more than change the subject: the subject, and the medium under
/// it.
class basic_stage {
 public:
  explicit basic_stage(detail::stage_state& s) noexcept : state_(&s) {}

  bool is_open() const noexcept;
  /// Closes the subject properly; opens it again; creates it (only in a scenario that starts
  /// without one). Throws std::logic_error if it is not open, or is open already.
  void close() const;
  void open() const;
  void create() const;
  /// Lets go of the subject as a dying process would, with everything it has stored on the medium.
  void abandon() const;

  /// The bytes of the medium as the program sees them. Not to be written to: see damage().
  std::span<const std::byte> bytes() const noexcept;
  /// Changes bytes without the subject's knowledge, durably, as a media error or a scribble does.
  void damage(uint64_t offset, std::span<const std::byte> bytes) const;
  /// Loses the page that holds this byte: it becomes noise, and the next access finds it rebuilt.
  /// Until then it counts as lost, after a crash as well. The subject must be open, and must be one
  /// that can lose pages, as scute::pool is.
  void lose_page(uint64_t offset) const;

 protected:
  /// The open subject. Throws std::logic_error while it is closed.
  subject& opened() const;

 private:
  detail::stage_state* state_;
};

/// The stage of a subject of type S.
template <typename S>
class stage_of : public basic_stage {
 public:
  explicit stage_of(const basic_stage& s) noexcept : basic_stage(s) {}
  /// The open subject. Throws std::logic_error while it is closed.
  S& get() const { return static_cast<S&>(opened()); }
};

/// The lock to use between the threads of a scenario. A std::mutex that is held across a
/// transaction would stop the exploration for ever: the thread that holds it may have lost its
/// turn, and the one that waits in std::mutex::lock() never gives its own away. Outside
/// explorations it is an ordinary mutex, so a structure may take its mutex type as a template
/// argument.
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

/// Called by a thread of a scenario that was refused and is about to try again: gives its turn to
/// the next one. Without it a scenario would retry for ever, since no other thread gets a turn.
/// Elsewhere it yields.
void give_way();

/// A thread of a scenario, whatever the subject: use thread_of, or thread for pools.
class basic_thread {
 protected:
  void add_step(std::string what, std::function<void(const basic_stage&)> body);
  void set_observer(std::function<std::string(subject&)> read);

 private:
  friend class basic_scenario;
  basic_thread(std::shared_ptr<detail::scenario_state> s, size_t index) noexcept
      : state_(std::move(s)), index_(index) {}
  std::shared_ptr<detail::scenario_state> state_;
  size_t index_;
};

/// A scenario, whatever the subject: use scenario_of, or scenario for pools. Copies are the same
/// scenario.
class basic_scenario {
 public:
  const std::string& name() const noexcept;

 protected:
  /// make: a closed subject, for each exploration a new one.
  basic_scenario(std::string name, std::function<std::unique_ptr<subject>()> make);

  void set_setup(std::function<void(subject&)> make);
  void set_probe(std::function<void(subject&)> body);
  void set_without_subject();
  void set_threads_in_turn();
  void set_may_run_full();
  void set_may_lose();
  basic_thread thread_at(size_t index);

 private:
  friend struct detail::scenario_state;
  std::shared_ptr<detail::scenario_state> state_;
};

namespace detail {
/// The same for any subject; none if there is none.
template <typename S, typename R>
std::function<R(subject&)> of_any(std::function<R(S&)> f) {
  if (!f) return {};
  return [f = std::move(f)](subject& s) { return f(static_cast<S&>(s)); };
}
}  // namespace detail

/// One thread's part of a scenario: steps in their order, and what it answers for. The threads of a
/// scenario must change different parts of the subject, or take turns by a testing::mutex.
template <typename S>
class thread_of : public basic_thread {
 public:
  explicit thread_of(basic_thread t) noexcept : basic_thread(std::move(t)) {}

  /// A step: its description in a few words (for stories), and its function. After a crash during
  /// the step the observer must read the state before it or after it; after its return, the state
  /// after it. An exception from a step ends the exploration as a violation.
  thread_of& step(std::string what, std::function<void(S&)> body) {
    add_step(std::move(what),
             [body = std::move(body)](const basic_stage& s) { body(stage_of<S>(s).get()); });
    return *this;
  }
  thread_of& step_on_stage(std::string what, std::function<void(const stage_of<S>&)> body) {
    add_step(std::move(what),
             [body = std::move(body)](const basic_stage& s) { body(stage_of<S>(s)); });
    return *this;
  }
  /// Reads everything that this thread answers for, as text. It is called after every recovery, so
  /// it should be quick. It must change nothing, and throw or report it if the contents are not
  /// sound. Equal states must give equal texts.
  thread_of& observe(std::function<std::string(S&)> read) {
    set_observer(detail::of_any<S, std::string>(std::move(read)));
    return *this;
  }
};

/// A scenario to explore, with a subject of type S, which is derived from subject.
template <typename S>
class scenario_of : public basic_scenario {
 public:
  /// make: returns a new, closed subject; without it S must have a default constructor. Called once
  /// for each exploration. The explorer owns what it returns.
  explicit scenario_of(
      std::string name,
      std::function<std::unique_ptr<S>()> make = [] { return std::make_unique<S>(); })
      : basic_scenario(std::move(name), std::move(make)) {}

  /// Makes what the steps start from, in a subject that was just created. Not explored; the subject
  /// is closed and opened again after it.
  scenario_of& setup(std::function<void(S&)> make) {
    set_setup(detail::of_any<S, void>(std::move(make)));
    return *this;
  }
  /// Starts with a memory of zeros: a step has to create the subject.
  scenario_of& without_subject() {
    set_without_subject();
    return *this;
  }

  /// Steps and observer of the first thread; see thread_of.
  scenario_of& step(std::string what, std::function<void(S&)> body) {
    in_thread(0).step(std::move(what), std::move(body));
    return *this;
  }
  scenario_of& step_on_stage(std::string what, std::function<void(const stage_of<S>&)> body) {
    in_thread(0).step_on_stage(std::move(what), std::move(body));
    return *this;
  }
  scenario_of& observe(std::function<std::string(S&)> read) {
    in_thread(0).observe(std::move(read));
    return *this;
  }
  /// A further thread, or the first one (index 0). With more than one, explore() tries many
  /// interleavings, switching threads at their operations on the memory.
  thread_of<S> in_thread(size_t index) { return thread_of<S>(thread_at(index)); }

  /// An operation that must work on every recovered subject, instead of subject::probe().
  scenario_of& probe(std::function<void(S&)> body) {
    set_probe(detail::of_any<S, void>(std::move(body)));
    return *this;
  }
  /// A step or probe may fail for want of space: errors of which subject::ran_full() says so are no
  /// violation.
  scenario_of& may_run_full() {
    set_may_run_full();
    return *this;
  }
  /// A crash may cost data on top of the damage that the scenario does: losses that a check finds
  /// are no violation then. The observers must still read correct contents.
  scenario_of& may_lose() {
    set_may_lose();
    return *this;
  }
};

struct progress {
  uint64_t states;  ///< recovered and verified so far
  uint64_t states_wanted;
};

struct explore_options {
  uint64_t states = 20000;  ///< crash states to recover and verify; fewer if there are no more
  uint64_t seed = 1;        ///< of everything that is chosen at random
  bool eadr = false;        ///< caches are durable
  /// Recoveries may crash too, up to three in a row. Sometimes the process dies first, and the
  /// power fails while its successor recovers. The successor saw stores that were not durable.
  bool crash_recovery = true;
  bool thorough = false;  ///< read and reopen the subject again after every probe, not some
  /// Damage some images besides, if the subject takes faults; of a pool one replica or one page.
  bool faults = true;
  uint64_t interleavings = 64;  ///< with several threads
  std::string only;  ///< the name of one state, from a story: verify that one and nothing else
  /// The command that repeats a state; in it %s stands for the name of the state. For stories.
  std::string repeat_command;
  std::function<void(const progress&)> progress;  ///< now and then
  /// When nothing was finished for so long the process says that it hangs, and where, and aborts.
  double hang_seconds = 60;
};

struct exploration {
  bool sound = true;           ///< no violation
  std::string story;           ///< of the first violation
  uint64_t states = 0;         ///< recovered and verified
  uint64_t recrashed = 0;      ///< of them, left by a crash of a recovery
  uint64_t killed = 0;         ///< of them, left by the death of a process, with the power on
  uint64_t damaged = 0;        ///< of them, with a fault on top of the crash
  uint64_t crash_points = 0;   ///< moments at which the power failed
  uint64_t interleavings = 0;  ///< runs recorded
  bool complete = false;       ///< every image that the model allows was verified
  double seconds = 0;
};

/// Explores a scenario. Ends at the first violation. One exploration at a time per process. Throws
/// std::invalid_argument if options or the subject's size are invalid.
exploration explore(const basic_scenario& s, const explore_options& how = {});

/// The same for scenarios that are made from a seed: one after the other, until there were as many
/// states as wanted, each with its share of them.
exploration explore(const std::function<basic_scenario(uint64_t seed)>& make,
                    const explore_options& how = {});

}  // namespace scute::testing

#endif
