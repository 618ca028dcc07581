// SPDX-License-Identifier: BSD-3-Clause
// Groups (protection `sealed`): up to eight segments that are full, and one, their *seal*, with the
// XOR of their lines. So the contents of a page in one of them are known from the others. A segment
// that is in no group is not protected.
//
//   seal = table | XOR of the members' lines 0, 1, ... as far as their frames go | table
//
// The table names the members, with what their heads and ends say. Its second copy lies on another
// page.
//
// POW-18 What a seal names is durable before the seal is: a segment is full, all batches in it have
//    ended, and what may not be durable is made so. The XOR is durable before the table.
// POW-19 A member is used again only when its seal is durably void: otherwise recovery could take
//    what is being written to it for damage, and bring back what it was.
// POW-20 A member is what its table says, or damaged, unless it says itself that it is void, or
//    another use: then the seal is stale, and none. A rebuilt member counts as far as the frames'
//    checksums say, after the first line, which the table gives. (Checksums are linear. If three
//    members are gone, rebuilding one of them gives the XOR of all three. Its first line is valid,
//    and so are its frames where the lengths are the same. They are of another generation. If five
//    are gone, they may be of the right one. So nothing is rebuilt where two others that are not
//    whole have zeros.)
// POW-22 An opening for writing and a proper close compare every group with its members: the XOR,
//    both tables, and the lines that say where members end. They write again what differs, where it
//    lies. The XOR is written only if all members are whole: otherwise it may be all that is left
//    of one. Its new bytes are those of the members, so a crash meanwhile leaves a group that the
//    next opening writes again.
// POW-24 A seal takes its segment as a lane takes one: the file does not grow for it while cleaning
//    may give the room (POW-17). Its members are chosen after that, since cleaning takes segments:
//    those that wait longest. Nothing postpones a group for ever: cleaning for it ends as it does
//    for a lane; a thread that fills one more segment while sixteen are full and in no group waits
//    for the groups; and a close makes them all, of what it has cleaned as well. Only a file that
//    is full, and has nothing to clean, goes without.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "log/segment_reader.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

// Segments that are full and in no group, from which on a thread that fills one more waits
// (POW-24).
inline constexpr uint32_t unsealed_max = 2 * members_max;

class seals {
 public:
  explicit seals(state& s) : s_(s) {}

  // Some segment more is full. Makes a group if there are enough. w: the calling thread's, which is
  // not the cleaner. Throws failure(SCUTE_E_IO).
  void offer(medium::writer& w);
  // Makes groups of segments that are in none, as far as there is room for them; `rest`: the last
  // group may be smaller, and the cleaner's open segment is ended if it had to clean. With the
  // state's clean_lock. Throws failure(SCUTE_E_IO), std::bad_alloc.
  void make(medium::writer& w, bool rest);

  // Rebuilds members that have changed, as far as the other members allow it. With the clean_lock.
  // Throws failure(SCUTE_E_IO), std::bad_alloc.
  void mend(medium::writer& w, uint32_t seal);
  // POW-22, of one group. False if nothing differed, or a member cannot be made whole. Throws
  // failure(SCUTE_E_IO), std::bad_alloc.
  bool restore(medium::writer& w, uint32_t seal);
  // Of all of them. A seal that has lost both its tables is given up: make() may seal its members
  // again.
  void restore_all(medium::writer& w);

  // The first n bytes of a member, as they were rebuilt: durable at w's next fence.
  void store_member(medium::writer& w, uint32_t segment, const std::byte* bytes,
                    uint64_t n) noexcept;
  // Both copies, durable at w's next fence.
  void store_table(medium::writer& w, uint32_t seal, const seal_table& t) noexcept;
  // Ends a group: its seal is void at w's next fence, and after that its segment is free. With the
  // clean_lock.
  void store_void(medium::writer& w, uint32_t seal) noexcept;
  void end(uint32_t seal) noexcept;
  // All of it at once. Throws failure(SCUTE_E_IO).
  void give_up(medium::writer& w, uint32_t seal);
  // Members of groups that have ended wait until the cleaner has looked at them; from now on they
  // may be sealed again.
  void forget_loose() noexcept;

  uint64_t live_of(uint32_t seal) const noexcept;  // bytes that count, of a member on average

 private:
  bool describe(uint32_t segment, seal_member& m);
  std::vector<uint32_t> choose();
  bool find_room(medium::writer& w, uint32_t& seal);
  int clean_one();
  bool write(medium::writer& w, const std::vector<uint32_t>& from, uint32_t seal);
  void store_sum(medium::writer& w, uint32_t seal, const std::vector<std::byte>& sum);
  bool restore_end(medium::writer& w, const seal_member& m);

  state& s_;
};

// ---- what is read of them -----------------------------------------------------------------------

// The table of a segment that is a seal; none: it is not, or both copies are damaged.
std::optional<seal_table> read_table(const state& s, uint32_t segment);
uint32_t table_checksum(const seal_table& t) noexcept;
// That of a line 0 which was meant to be a seal's.
bool looks_like_seal(const std::byte* line, uint64_t salt) noexcept;

// Whether the tables at its two ends are the same.
bool has_both_tables(const state& s, uint32_t segment);
// The first line of a member.
format::segment_head head_of(const state& s, const seal_member& m) noexcept;
// Whether a member is as its table says.
bool is_whole(const state& s, log::segment_reader& reader, const seal_member& m);

// The XOR of the members; none: one of them cannot be read.
std::optional<std::vector<std::byte>> sum_of(const state& s, const seal_table& t);
// Whether the seal has it.
bool sums_are_right(const state& s, uint32_t seal, const seal_table& t);

}  // namespace scute::core::pow
