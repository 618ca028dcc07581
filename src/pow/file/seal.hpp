// SPDX-License-Identifier: BSD-3-Clause
// Groups (protection `sealed`): up to eight full segments, and one more, their *seal*, with the XOR
// of their lines. So the contents of a page in one of them are known from the others. A segment in
// no group is not protected.
//
//      seal = table | XOR of the members' lines 0, 1, ... as far as their frames go | table
//
// The table names the members, with the contents of their heads and ends. Its second copy lies on
// another page.
//
// POW-18 Everything that a seal names is durable before the seal is: a segment is full, all batches
//    in it have ended, and what may be undurable is made durable. The XOR is durable before the
//    table.
// POW-19 A member is reused only when its seal is durably void: otherwise recovery could take new
//    writes to it for damage, and restore its old contents.
// POW-20 A member is as its table says, or damaged; unless it says itself that it is void or has
//    another use: then the seal is stale and does not count. A rebuilt member counts as far as its
//    frames' checksums are right, after the first line, which the table gives.
// POW-22 An opening for writing and a proper close compare every group with its members: the XOR,
//    both tables, and the lines that say where members end. They rewrite differences in place. The
//    XOR is written only if all members are complete: otherwise it may be all that is left of one.
// POW-24 A seal gets its segment as a lane does: the file does not grow for it while cleaning may
//    make room (POW-17). Then its members are chosen, those that have waited longest. No group is
//    postponed for ever; only a full file with nothing to clean has none.
//
// About POW-20: checksums are linear. If three members are lost, rebuilding one of them gives the
// XOR of all three. Its first line is valid, and so are its frames where the lengths agree, but
// they have another generation. If five are lost, it may be the right one. This is so if what the
// lost pages read as cancels out: zeros, the same bytes everywhere, or numbers of sectors. So
// nothing is rebuilt where the XOR of several pages of other incomplete members is zero.
//
// About POW-22: the new bytes of the XOR are those of the members, so a crash meanwhile leaves a
// group that the next opening writes again.
//
// About POW-24: members are chosen after the cleaning, since it takes segments. Cleaning for a
// group ends as it does for a lane. A thread that fills another segment while sixteen full ones are
// in no group waits for the groups. A close makes them all, also those of segments that it has
// cleaned.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/log/segment_reader.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

// From this many full segments in no group on, a thread that fills another one waits (POW-24).
inline constexpr uint32_t unsealed_max = 2 * members_max;

class seals {
 public:
  explicit seals(state& s) : s_(s) {}

  // Another segment is full. Makes a group if there are enough. w: the calling thread's, which is
  // not the cleaner. Throws failure(SCUTE_E_IO).
  void offer(medium::writer& w);
  // Makes groups of segments that are in none, as far as there is room. `rest`: the last group may
  // be smaller, and the cleaner's open segment is ended if it had to clean. The caller holds the
  // state's clean_lock. Throws failure(SCUTE_E_IO), std::bad_alloc.
  void make(medium::writer& w, bool rest);

  // Rebuilds members that have changed, as far as the other members allow it. The caller holds the
  // clean_lock. Throws failure(SCUTE_E_IO), std::bad_alloc.
  void repair(medium::writer& w, uint32_t seal);
  // POW-22, for one group. Returns false if nothing differed, or a member cannot be completed.
  // Throws failure(SCUTE_E_IO), std::bad_alloc.
  bool restore(medium::writer& w, uint32_t seal);
  // The same for all groups. A seal that has lost both its tables is given up: make() may seal its
  // members again.
  void restore_all(medium::writer& w);

  // Stores the first n bytes of a rebuilt member: durable at w's next fence.
  void store_member(medium::writer& w, uint32_t segment, const std::byte* bytes,
                    uint64_t n) noexcept;
  // Stores both copies, durable at w's next fence.
  void store_table(medium::writer& w, uint32_t seal, const seal_table& t) noexcept;
  // Ends a group: its seal is void at w's next fence, and after that its segment is free. The
  // caller holds the clean_lock.
  void store_void(medium::writer& w, uint32_t seal) noexcept;
  void end(uint32_t seal) noexcept;
  // Both at once. Throws failure(SCUTE_E_IO).
  void give_up(medium::writer& w, uint32_t seal);
  // Members of ended groups wait until the cleaner has examined them; from now on they may be
  // sealed again.
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
// Whether a line 0 was meant to be a seal's.
bool looks_like_seal(const std::byte* line, uint64_t salt) noexcept;

// Whether the tables at its two ends are the same.
bool has_both_tables(const state& s, uint32_t segment);
// The first line of a member.
format::segment_head head_of(const state& s, const seal_member& m) noexcept;
// Whether a member is as its table says.
bool is_whole(const state& s, log::segment_reader& reader, const seal_member& m);

// The XOR of the members; none: one of them cannot be read.
std::optional<std::vector<std::byte>> sum_of(const state& s, const seal_table& t);
// Whether the seal has the right XOR.
bool sums_are_right(const state& s, uint32_t seal, const seal_table& t);

}  // namespace scute::core::pow
