// SPDX-License-Identifier: BSD-3-Clause
//
// subject.hpp: what the crash explorer explores. scute::pool is one subject, which
// scute/testing.hpp brings along; a structure of your own on persistent memory, without any pool,
// is another one. Derive from subject, and describe its steps with a scenario_of
// (scute/exploration.hpp).
//
// A subject lies in a memory, which tracks for every store whether it is durable yet. The subject
// stores through a writer. The explorer turns the memory into a state that a power failure may have
// left. It then lets the subject open it, check it and continue.
//
// This header needs nothing of Scute but the library to link with: scute::testing.
#ifndef SCUTE_SUBJECT_HPP
#define SCUTE_SUBJECT_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

namespace scute::model {
class simulated_memory;
}

namespace scute::testing {

/// The memory that a subject lies in. It belongs to the explorer, outlives every opening of the
/// subject, and stays where it is between create() or open() and close() or abandon(): pointers
/// into it are good for so long. Another opening may get another memory.
class memory {
 public:
  /// Made by the explorer.
  explicit memory(model::simulated_memory& m) noexcept : memory_(&m) {}

  /// The bytes that the program sees: subject::size() of them, at a multiple of 4096. It may be
  /// read freely. Stores go through a writer, or straight to these bytes: then they are found by
  /// comparing images at the next operation of a writer, and nothing is known of their order. In
  /// open(), and in all code that runs after it on a recovered memory, such stores must be flushed
  /// before the next fence.
  std::span<std::byte> bytes() const noexcept;
  /// True if caches are durable (explore_options::eadr): store() needs no flush() then.
  bool eadr() const noexcept;

  /// For the explorer's own subjects.
  model::simulated_memory& simulated() const noexcept { return *memory_; }

 private:
  model::simulated_memory* memory_;
};

/// One thread's way to the memory. As with CPUs, a fence completes what the same thread has flushed
/// or streamed before it through the same writer, and nothing else. Threads may pass a writer on,
/// but one thread has it from the first store to the fence after the last one. It belongs to one
/// opening: close() and abandon() have to drop it, and the next open() makes a new one.
///
/// At every operation, with several threads, another one may run. Ranges must lie in the memory;
/// otherwise std::out_of_range is thrown, and nothing was done.
class writer {
 public:
  explicit writer(const memory& m) noexcept;

  /// An ordinary store: cached, durable when its line is evicted, or flushed and fenced.
  void store(void* to, const void* from, size_t n);
  /// A non-temporal store: durable at some time, 8 aligned bytes at a time, at the next fence at
  /// last.
  void stream(void* to, const void* from, size_t n);
  /// Starts the write-back of all lines that have a byte in the range.
  void flush(const void* p, size_t n);
  /// Returns when everything that this thread flushed or streamed here is durable.
  void fence();

 private:
  uint64_t offset_of(const void* p, size_t n) const;

  model::simulated_memory* memory_;
  unsigned number_;
};

/// The result of a check.
struct findings {
  std::vector<std::string> texts;  ///< one for each, with its place; for stories
  uint64_t damaged = 0;            ///< places that were wrong, repaired by now or not
  uint64_t lost = 0;               ///< of them, beyond repair

  /// One more that is wrong.
  void add(std::string text) {
    texts.push_back(std::move(text));
    ++damaged;
  }
};

/// Bytes that change without the subject's knowledge, as by a media error or a scribble.
struct injury {
  uint64_t offset = 0;
  std::vector<std::byte> bytes;  ///< the new bytes there; none: nothing happens
  std::string text;              ///< the structure that it hits, for stories
};

/// When a fault on top of a crash comes.
enum class fault_moment : uint8_t {
  before_recovery,  ///< open() finds it, and has repaired it when it returns
  after_recovery    ///< while the subject is open; check(true) is called right after it
};

/// A structure that can be explored. A subject is closed at first. create() and open() open it,
/// close() and abandon() close it again, any number of times, each time in another image. The
/// explorer makes one for an exploration (with the scenario's function) and destroys it, closed, at
/// the end.
///
/// Threads: one call at a time. Only the steps of a scenario with several threads run in threads of
/// their own. Those take turns. Turns change at operations of writers and at waits for a
/// testing::mutex. All other calls come from the thread that called explore().
///
/// Errors: what create(), open(), check(), probe() or close() throw, derived from std::exception,
/// ends the exploration as a violation, with the text in its story. (open() may refuse a memory in
/// which, as far as the scenario knows, nothing was ever created.) After a create() or open() that
/// threw the subject is closed; after a close() that threw it is open, and abandon() is called.
class subject {
 public:
  subject() = default;
  virtual ~subject() = default;
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;

  // ---- what every subject can do ----------------------------------------------------------------

  /// How many bytes of memory it needs: always the same number, a multiple of 4096. Each state that
  /// is verified costs time in proportion, so small ones are explored more deeply.
  virtual uint64_t size() const = 0;
  /// Makes it in a memory of zeros and leaves it open. When it returns, an open() after a power
  /// failure must find what was made. Everything in it that is chosen at random must follow from
  /// the seed.
  virtual void create(memory& m, uint64_t seed) = 0;
  /// Opens what lies in the memory: what close() has left, or any image that a power failure could
  /// have left; so it recovers. It may be cut short by another failure and called again. If a
  /// process died what it finds may be visible and not durable: before anything rests on it it has
  /// to be flushed.
  virtual void open(memory& m) = 0;
  /// Verifies the invariants of the open subject that do not depend on what the program has stored.
  /// With `repair` it repairs what it can. After a crash alone it must find nothing. After an
  /// injury() or basic_stage::damage() it must find nothing lost, and must not find repaired places
  /// again.
  virtual findings check(bool repair) = 0;
  /// Does some work on the open subject, to see whether it still can, and throws if it cannot.
  /// Observers must read the same after it. A scenario may have a probe of its own instead.
  virtual void probe() = 0;
  /// Closes it properly; the next open() finds what observers read before.
  virtual void close() = 0;
  /// Lets go of the memory without storing anything there, as a process that dies. Of everything in
  /// the program's memory that belongs to the opening nothing may remain. Does nothing if it is
  /// closed.
  virtual void abandon() noexcept = 0;

  // ---- what a subject may be able to do, and what happens if it is not --------------------------

  /// Its kind, in a word, for stories. Default: "structure".
  virtual std::string noun() const;
  /// A name for a place of an image, such as "slot 1 +8", for stories. Default: "offset +N".
  virtual std::string place(std::span<const std::byte> image, uint64_t offset) const;
  /// A description of what the last open() recovered, in a few words, for stories; called once
  /// after it. Default: an empty text, and stories do not mention it.
  virtual std::string recovered();
  /// The calling thread acts as the one of this number from now on: for subjects that keep
  /// something per thread, so that the same number means the same every time. Default: nothing.
  virtual void act_as(unsigned thread) noexcept;
  /// True if the error says that there was no space: which a scenario that may_run_full() is
  /// excused. Default: false.
  virtual bool ran_full(const std::exception& error) const noexcept;
  /// Makes durable whatever operations leave undone although they have returned. Called before
  /// damage that a scenario does. Default: nothing.
  virtual void drain();
  /// True if injure() has something to offer. Default: false; then crashes come without faults
  /// (explore_options::faults), and exploration::damaged stays 0.
  virtual bool takes_faults() const noexcept;
  /// A fault that the subject promises to survive on top of a crash, with all its contents.
  /// Everything in it follows from the image and the number. Default: none.
  virtual injury injure(fault_moment when, std::span<const std::byte> image, uint64_t number) const;
  /// Takes away the page at this offset while the subject is open (basic_stage::lose_page()): it
  /// becomes noise that cannot be read. Default: throws std::logic_error.
  virtual void lose_page(uint64_t offset);
};

}  // namespace scute::testing

#endif
