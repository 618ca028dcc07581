// SPDX-License-Identifier: BSD-3-Clause
// Parts that the scenarios of engine logfree share: objects that meet in columns, rings whose
// members must be of one version whatever happens, and deaths in the middle of a commit.
#pragma once

#include <scute/testing.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "scenarios/directory.hpp"
#include "scenarios/layout.hpp"

namespace scute::explore {

// Allocates into the slot, again and again, until the payload begins `apart` bytes of column after
// that of another object (a multiple of 32; negative: before it) in another row, or in the same
// one. Objects allocated on the way stay, without a name. For setups.
enum class row { other, same };
struct neighbour {
  unsigned thread;
  uint64_t slot;
  int64_t apart = 0;
  row where = row::other;
};
void place(scute::pool& p, unsigned thread, uint64_t slot, uint64_t size, unsigned fill,
           const neighbour& of);

// Allocates into slots [0, n), in that order, with seven unnamed objects after each, so that of
// objects of 450 bytes no two lie in one column block.
void spread(scute::pool& p, unsigned thread, uint64_t n, uint64_t size);

inline constexpr uint64_t ring_size = 450;  // slots of 512 bytes, 104 to a row
// Directory 0: a ring of objects 0, 1, 2; a ring of 3 and 4; and 5, which the first ring takes
// along at times; each in a block of its own. Directory 1: bystanders. 0 and 1 lie in the columns
// of 0 and 1 of the ring, in another row; 2 in the block of 0, in columns of its own; 3 elsewhere.
void make_scene(scute::pool& p);

// The filling of version v of the object in a slot. Versions are below 100.
constexpr unsigned fill_of(uint64_t slot, unsigned v) {
  return 100 * static_cast<unsigned>(slot + 1) + v;
}
// Overwrites these objects with version v, in one transaction; further changes may follow.
void overwrite_all(change& c, std::initializer_list<uint64_t> of, unsigned v);
void commit_ring(scute::pool& p, unsigned thread, std::initializer_list<uint64_t> of, unsigned v);

// Reads an object; throws unless it holds one of its versions, whole.
unsigned version_of(scute::pool& p, unsigned thread, uint64_t slot);
// The version of all of these objects; throws unless it is the same. For what a step both does and
// undoes, so that no text could name the versions that a crash may leave.
unsigned ring_version(scute::pool& p, unsigned thread, std::initializer_list<uint64_t> of);

// Makes what was committed since it was made a transaction that a power failure has cut short.
class death {
 public:
  explicit death(const testing::stage& at);

  enum class phase {
    data,     // ranges of the new data as wholes, no parity
    torn,     // ranges as wholes or words of them, no parity
    decided,  // all data, no parity
    parity,   // all data, words of the parity
    any       // one of these, by the dice
  };
  // Of the parity, that of these bytes of the data rows is durable in any case.
  struct column {
    uint64_t offset, length;
  };
  // Lets the process die, the pool being as if the power had failed in that phase, and opens it
  // again. Throws if not all of the commit can be cut short: if it went through a log, made steps
  // of the allocator, or resolved something before. (So where columns are unresolved, the ring is
  // committed once as a whole before.)
  void die(phase in, uint64_t dice, column durable = {0, 0}) const;
  // The same for a process that is killed: what it has stored since its last fence is there for the
  // next one, and none of that is durable.
  void kill(phase in, uint64_t dice) const;

 private:
  struct range {
    uint64_t begin, end;
  };
  static std::vector<range> differences(std::span<const std::byte> a, std::span<const std::byte> b,
                                        uint64_t from, uint64_t to, uint64_t join);
  std::vector<range> end(phase in, uint64_t dice, column durable) const;
  void undo(const range& r) const;

  const testing::stage& at_;
  std::vector<std::byte> before_;
  uint64_t logged_, unresolved_;
};

// Adds a step: a ring is committed and cut short, the next process does something and leaves it at
// that. `ring` is called with the version before, if its columns are not resolved, and with the one
// to cut short.
void cut_short(testing::scenario& s, const std::string& then, uint64_t dice, death::phase in,
               unsigned version, std::function<void(change&, unsigned)> ring,
               std::function<void(scute::pool&)> next);
// Waits for the end of recovery.
void resolve(scute::pool& p);

// A number that follows from two, for dice.
uint64_t dice_of(uint64_t seed, uint64_t k);

}  // namespace scute::explore
